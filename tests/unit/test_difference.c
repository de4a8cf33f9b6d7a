// SPDX-License-Identifier: BSD-2-Clause
/* histogram__difference() on cumulative snapshots. */
#include "unit.h"

/* The minimum and maximum of an interval are exact, or bounds in the same bucket. */
static void assert_bounds(const struct histogram *h, const struct dense *truth)
{
	if (!truth->count) {
		assert_int_equal(h->min | h->max, 0);
		return;
	}
	if (h->min_exact)
		assert_int_equal(h->min, truth->min);
	assert_true(h->min <= truth->min);
	assert_int_equal(hist_index(h->min), hist_index(truth->min));
	if (h->max_exact)
		assert_int_equal(h->max, truth->max);
	assert_true(h->max >= truth->max);
	assert_int_equal(hist_index(h->max), hist_index(truth->max));
}

static u64 value_of(struct random *r, u32 sequence)
{
	switch (sequence % 4) {
	case 0:
		return random__below(r, 40);
	case 1:
		return 1000 + random__below(r, 300);
	case 2:
		return UINT64_MAX - random__any_size(r) / 2;
	default:
		return random__any_size(r);
	}
}

static void difference_is_what_came_between(void **state)
{
	struct random r = { 6 };
	struct histogram before, now, d;
	u32 n, step, k;

	(void)state;
	for (n = 0; n < 1000; n++) {
		struct dense all = {};

		before = dense__histogram(&all);
		for (step = 0; step < 8; step++) {
			struct dense interval = {};
			u64 v;

			for (k = random__below(&r, 12); k; k--) {
				v = value_of(&r, n);
				dense__add(&all, v);
				dense__add(&interval, v);
			}
			now = dense__histogram(&all);
			assert_int_equal(histogram__difference(&d, &now, &before), 0);
			assert_buckets(&d, &interval);
			assert_bounds(&d, &interval);
			histogram__free(&d);
			histogram__free(&before);
			before = now;
		}
		histogram__free(&before);
	}
}

static void intervals_add_up_to_the_whole(void **state)
{
	struct random r = { 7 };
	struct histogram before, now, d, sum = {};
	struct dense all = {};
	u32 step, k;

	(void)state;
	before = dense__histogram(&all);
	for (step = 0; step < 300; step++) {
		for (k = random__below(&r, 30); k; k--)
			dense__add(&all, random__any_size(&r));
		now = dense__histogram(&all);
		assert_int_equal(histogram__difference(&d, &now, &before), 0);
		assert_int_equal(histogram__add(&sum, &d), 0);
		histogram__free(&d);
		histogram__free(&before);
		before = now;
	}
	assert_buckets(&sum, &all);
	assert_bounds(&sum, &all);
	histogram__free(&before);
	histogram__free(&sum);
}

static struct histogram of(const u64 *v, size_t n)
{
	struct dense d = {};

	while (n--)
		dense__add(&d, *v++);
	return dense__histogram(&d);
}

#define OF(...) of((const u64[]){ __VA_ARGS__ }, ARRAY_SIZE(((const u64[]){ __VA_ARGS__ })))

static void a_new_record_is_exact(void **state)
{
	struct histogram before = OF(1000, 2000), now = OF(1000, 2000, 900, 3000), d;

	(void)state;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_true(d.min_exact && d.max_exact);
	assert_int_equal(d.min, 900);
	assert_int_equal(d.max, 3000);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&d);
}

static void without_a_record_there_is_a_bound(void **state)
{
	struct histogram before = OF(100, 9000), now = OF(100, 9000, 1030, 4100), d;

	(void)state;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_false(d.min_exact || d.max_exact);
	assert_int_equal(d.min, 1024);
	assert_int_equal(d.max, 4351);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&d);
}

/* The outermost buckets grew, and the old extremes still bound them. */
static void old_records_bound_their_buckets(void **state)
{
	struct histogram before = OF(1040, 4200), now = OF(1040, 4200, 1050, 4100), d;

	(void)state;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_int_equal(d.min, 1040);
	assert_int_equal(d.max, 4200);
	assert_false(d.min_exact || d.max_exact);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&d);
}

static void below_32_every_bound_is_exact(void **state)
{
	struct histogram before = OF(0, 31), now = OF(0, 31, 7, 12), d;

	(void)state;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_true(d.min_exact && d.max_exact);
	assert_int_equal(d.min, 7);
	assert_int_equal(d.max, 12);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&d);
}

static void from_the_beginning_everything_is_exact(void **state)
{
	struct histogram before = {}, now = OF(1030, 4100), d;

	(void)state;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_true(d.min_exact && d.max_exact);
	assert_int_equal(d.min, 1030);
	assert_int_equal(d.max, 4100);
	histogram__free(&now);
	histogram__free(&d);
}

/*
 * A snapshot may fall between the kernel's writes of the totals and of the bucket of a value, so
 * extremes outside the buckets that grew are not believed.
 */
static void a_record_before_its_bucket_is_not_believed(void **state)
{
	struct histogram before = OF(1000), now = OF(1000, 1000), d;

	(void)state;
	now.max = 5000;
	now.min = 10;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.min, histogram_bucket_first(hist_index(1000)));
	assert_int_equal(d.max, histogram_bucket_last(hist_index(1000)));
	assert_false(d.min_exact || d.max_exact);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&d);
}

/* The same holds for the sum: an excess or a deficit goes into the next difference. */
static void the_sum_waits_for_its_buckets(void **state)
{
	struct histogram before = OF(1000), now = OF(1000, 20, 30), more = OF(1000, 20, 30, 500), d;

	(void)state;
	now.sum += 500;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_int_equal(d.sum, 20 + 30);
	histogram__free(&d);
	assert_int_equal(histogram__difference(&d, &more, &now), 0);
	assert_int_equal(d.count, 1);
	/* 500 is not a new extreme, so only its bucket and its sum are known. */
	assert_int_equal(d.sum, 500);
	histogram__free(&d);
	histogram__free(&now);
	histogram__free(&more);

	/* A sum without its bucket is not counted yet; a bucket without its sum counts with its minimum. */
	now = OF(1000);
	now.sum += 500;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_int_equal(d.count | d.sum, 0);
	assert_int_equal(now.sum, 1000);
	histogram__free(&d);
	histogram__free(&now);
	now = OF(1000, 500);
	now.sum -= 500;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_int_equal(d.sum, d.min);
	histogram__free(&d);
	more = OF(1000, 500);
	assert_int_equal(histogram__difference(&d, &more, &now), 0);
	assert_int_equal(d.count | d.sum, 0);
	assert_int_equal(more.sum, now.sum);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&more);
	histogram__free(&d);
}

/* With random readings, each difference is within its bounds, and all of them add up to the whole. */
static void sums_that_are_ahead_add_up(void **state)
{
	struct random r = { 9 };
	struct histogram before, now, d;
	struct dense all = {};
	u64 sum = 0, low, high, v;
	size_t i;
	u32 step;

	(void)state;
	before = dense__histogram(&all);
	for (step = 0; step < 1000; step++) {
		v = random__below(&r, 1000000);
		/* The last reading is consistent. */
		if (step < 999 && random__below(&r, 2)) {
			now = dense__histogram(&all);
			now.sum += all.count ? v : 0;
			dense__add(&all, v);
		} else {
			dense__add(&all, v);
			now = dense__histogram(&all);
		}
		assert_int_equal(histogram__difference(&d, &now, &before), 0);
		for (low = high = i = 0; i < d.nbuckets; i++) {
			low += d.bucket[i].count * histogram_bucket_first(d.bucket[i].index);
			high += d.bucket[i].count * histogram_bucket_last(d.bucket[i].index);
		}
		assert_in_range(d.sum, low, high);
		assert_true(!d.count || (d.min <= d.sum / d.count && d.sum / d.count <= d.max));
		sum += d.sum;
		assert_int_equal(sum, now.sum);
		histogram__free(&d);
		histogram__free(&before);
		before = now;
	}
	histogram__free(&before);
	/* The error is at most the uncertainty of the buckets in the last two readings. */
	assert_in_range(sum, all.sum - 1000000 / 16, all.sum + 1000000 / 16);
}

static void nothing_new_is_an_empty_histogram(void **state)
{
	struct histogram before = OF(5, 500), now = OF(5, 500), d;

	(void)state;
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_int_equal(d.count | d.sum | d.min | d.max | d.nbuckets, 0);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&d);
}

static void the_sum_may_wrap_between(void **state)
{
	struct histogram before = OF(UINT64_MAX), now = OF(UINT64_MAX, 10), d;

	(void)state;
	assert_int_equal(now.sum, 9);
	assert_int_equal(histogram__difference(&d, &now, &before), 0);
	assert_int_equal(d.sum, 10);
	histogram__free(&before);
	histogram__free(&now);
	histogram__free(&d);
}

static void assert_refused(struct histogram before, struct histogram now)
{
	struct histogram out, untouched;

	memset(&out, 0x5a, sizeof(out));
	memset(&untouched, 0x5a, sizeof(untouched));
	assert_int_equal(histogram__difference(&out, &now, &before), -EINVAL);
	assert_memory_equal(&out, &untouched, sizeof(out));
	histogram__free(&before);
	histogram__free(&now);
}

static void a_bucket_that_vanished_or_shrank_is_refused(void **state)
{
	(void)state;
	assert_refused(OF(5, 70, 500), OF(70, 500));            /* the first vanished */
	assert_refused(OF(5, 70, 500), OF(5, 500, 500));        /* one between */
	assert_refused(OF(5, 70, 500), OF(5, 70, 70));          /* the last */
	assert_refused(OF(5, 70, 500), (struct histogram){});   /* all */
	assert_refused(OF(5, 5, 70), OF(5, 70, 70));            /* the first shrank */
	assert_refused(OF(5, 70, 70), OF(5, 70));
	assert_refused(OF(5, 70, 70), OF(5, 70, 500));
}

static void random_theft_is_refused(void **state)
{
	struct random r = { 8 };
	u32 n, k, stolen;

	(void)state;
	for (n = 0; n < 1000; n++) {
		struct dense before = {}, now;
		u64 v = 0;

		for (k = 0; k < 20; k++) {
			v = random__any_size(&r);
			dense__add(&before, v);
		}
		now = before;
		for (k = 0; k < 20; k++)
			dense__add(&now, random__any_size(&r));
		stolen = model_index(v);
		now.count -= now.bucket[stolen] - (before.bucket[stolen] - 1);
		now.bucket[stolen] = before.bucket[stolen] - 1;
		assert_refused(dense__histogram(&before), dense__histogram(&now));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference_is_what_came_between),
		cmocka_unit_test(intervals_add_up_to_the_whole),
		cmocka_unit_test(a_new_record_is_exact),
		cmocka_unit_test(without_a_record_there_is_a_bound),
		cmocka_unit_test(old_records_bound_their_buckets),
		cmocka_unit_test(below_32_every_bound_is_exact),
		cmocka_unit_test(from_the_beginning_everything_is_exact),
		cmocka_unit_test(a_record_before_its_bucket_is_not_believed),
		cmocka_unit_test(the_sum_waits_for_its_buckets),
		cmocka_unit_test(sums_that_are_ahead_add_up),
		cmocka_unit_test(nothing_new_is_an_empty_histogram),
		cmocka_unit_test(the_sum_may_wrap_between),
		cmocka_unit_test(a_bucket_that_vanished_or_shrank_is_refused),
		cmocka_unit_test(random_theft_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
