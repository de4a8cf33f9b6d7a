// SPDX-License-Identifier: BSD-2-Clause
/* The layout of bpf/lib/hist.h and the sums of agg/histogram.h. */
#include "unit.h"

#define TOP (1ULL << 63)

static void every_bucket_has_its_bounds(void **state)
{
	u64 first = 0, width;
	u32 i;

	(void)state;
	for (i = 0; i < HIST_BUCKETS; i++) {
		width = i < 32 ? 1 : (1ULL << (i / 16 + 3)) / 16;
		assert_int_equal(histogram_bucket_first(i), first);
		assert_int_equal(histogram_bucket_last(i), first + (width - 1));
		assert_int_equal(hist_index(first), i);
		assert_int_equal(hist_index(first + (width - 1)), i);
		assert_int_equal(hist_index(first + width / 2), i);
		if (i)
			assert_int_equal(hist_index(first - 1), i - 1);
		if (i + 1 < HIST_BUCKETS)
			assert_int_equal(hist_index(first + width), i + 1);
		first += width;
	}
	assert_int_equal(first, 0);     /* 2^64: nothing is left over */
}

static void the_ends_of_the_range(void **state)
{
	(void)state;
	assert_int_equal(hist_index(0), 0);
	assert_int_equal(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
	assert_int_equal(histogram_bucket_first(0), 0);
	assert_int_equal(histogram_bucket_last(HIST_BUCKETS - 1), UINT64_MAX);
	assert_int_equal(histogram_bucket_first(HIST_BUCKETS - 1), 31ULL << 59);
	assert_int_equal(hist_index(TOP - 1), HIST_BUCKETS - 17);
	assert_int_equal(hist_index(TOP), HIST_BUCKETS - 16);
}

static void small_values_have_buckets_of_their_own(void **state)
{
	u64 v;

	(void)state;
	for (v = 0; v < 32; v++) {
		assert_int_equal(hist_index(v), v);
		assert_int_equal(histogram_bucket_first(v), v);
		assert_int_equal(histogram_bucket_last(v), v);
	}
}

static void buckets_are_at_most_a_sixteenth_wide(void **state)
{
	u64 first, width;
	u32 i;

	(void)state;
	for (i = 32; i < HIST_BUCKETS; i++) {
		first = histogram_bucket_first(i);
		width = histogram_bucket_last(i) - first + 1;
		assert_true(width <= first / 16);
	}
}

static void index_is_monotone(void **state)
{
	struct random r = { 1 };
	u64 a, b, n;
	u32 bit;
	s64 d;

	(void)state;
	for (bit = 0; bit < 64; bit++)
		for (d = -40; d < 40; d++) {
			a = (1ULL << bit) + d;
			if (a + 1)
				assert_true(hist_index(a) <= hist_index(a + 1));
			assert_int_equal(hist_index(a), model_index(a));
		}
	for (n = 0; n < 1000000; n++) {
		a = random__any_size(&r);
		b = random__any_size(&r);
		assert_int_equal(hist_index(a), model_index(a));
		assert_true(a <= b ? hist_index(a) <= hist_index(b) :
				     hist_index(a) >= hist_index(b));
	}
}

static void rows_and_segments(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(HIST_BUCKETS, 976);
	assert_int_equal(HIST_SEGMENTS, 16);
	assert_true((HIST_BUCKETS - 1) >> HIST_SEGMENT_BITS < HIST_SEGMENTS);
	assert_int_equal(hist_index(UINT64_MAX) >> HIST_SEGMENT_BITS, 15);
	for (i = 0; i < HIST_BUCKETS; i += HIST_SEGMENT_BUCKETS)  /* four powers of two each */
		if (i)
			assert_int_equal(histogram_bucket_first(i), 1ULL << (3 + i / 16));
}

static void a_histogram_of_nothing(void **state)
{
	const struct histogram_totals totals = { 5, 6, 7 };  /* belong to no value: ignored */
	u64 rows[HISTOGRAM_POWER_ROWS], counts[4] = {};
	struct histogram h;
	u32 i;

	(void)state;
	assert_int_equal(histogram__init(&h, counts, 10, 4, &totals), 0);
	assert_int_equal(h.count | h.sum | h.min | h.max | h.nbuckets, 0);
	assert_int_equal(histogram__average(&h), 0);
	histogram__by_power(&h, rows);
	for (i = 0; i < HISTOGRAM_POWER_ROWS; i++)
		assert_int_equal(rows[i], 0);
	histogram__free(&h);
}

static void counts_begin_at_any_bucket(void **state)
{
	const struct histogram_totals totals = { 100 + 104 + 107 + 115, 115, ~100ULL };
	const u64 counts[] = { 1, 2, 0, 1, 0 };
	struct histogram h;

	(void)state;
	assert_int_equal(histogram__init(&h, counts, hist_index(100), 5, &totals), 0);
	assert_int_equal(h.nbuckets, 3);
	assert_int_equal(h.bucket[0].index, hist_index(100));
	assert_int_equal(h.bucket[1].index, hist_index(104));
	assert_int_equal(h.bucket[2].index, hist_index(115));
	assert_int_equal(h.bucket[1].count, 2);
	assert_int_equal(h.count, 4);
	assert_int_equal(h.sum, 426);
	assert_int_equal(h.min, 100);
	assert_int_equal(h.max, 115);
	assert_true(h.min_exact && h.max_exact);
	assert_int_equal(histogram__average(&h), 106);
	histogram__free(&h);
	assert_null(h.bucket);
	assert_int_equal(h.count, 0);
}

static void huge_counts(void **state)
{
	u64 rows[HISTOGRAM_POWER_ROWS];
	struct dense d = {};
	struct histogram h;

	(void)state;
	dense__add_many(&d, 0, 1ULL << 62);
	dense__add_many(&d, 1000, 1ULL << 62);
	h = dense__histogram(&d);
	assert_histogram(&h, &d);
	assert_int_equal(h.count, TOP);
	histogram__by_power(&h, rows);
	assert_int_equal(rows[0], 1ULL << 62);
	assert_int_equal(rows[10], 1ULL << 62);
	assert_int_equal(histogram__percentile(&h, 5000), 0);   /* rank 2^62 is the last zero */
	assert_int_equal(histogram__percentile(&h, 5001), 1000);
	assert_int_equal(histogram__percentile(&h, 9990), 1000);
	assert_int_equal(histogram__percentile(&h, 10000), 1000);
	histogram__free(&h);

	/* 2^64 - 1 values: count * 10000 needs 128 bits. */
	memset(&d, 0, sizeof(d));
	dense__add_many(&d, 3, TOP);
	dense__add_many(&d, UINT64_MAX, TOP - 1);
	h = dense__histogram(&d);
	assert_int_equal(h.count, UINT64_MAX);
	assert_int_equal(histogram__percentile(&h, 5000), 3);
	assert_int_equal(histogram__percentile(&h, 5001), UINT64_MAX);
	histogram__by_power(&h, rows);
	assert_int_equal(rows[2], TOP);
	assert_int_equal(rows[64], TOP - 1);
	histogram__free(&h);
}

static void one_bucket_of_2_to_the_63(void **state)
{
	struct dense d = {};
	struct histogram h;
	u32 p;

	(void)state;
	dense__add_many(&d, 12345, TOP);
	h = dense__histogram(&d);
	assert_int_equal(h.count, TOP);
	for (p = 0; p <= 10000; p += 50)
		assert_int_equal(histogram__percentile(&h, p), 12345);
	histogram__free(&h);
}

static void powers_of_two(void **state)
{
	u64 rows[HISTOGRAM_POWER_ROWS], want[HISTOGRAM_POWER_ROWS];
	struct random r = { 2 };
	struct histogram h;
	u64 v, n;
	u32 e, k;

	(void)state;
	for (n = 0; n < 200; n++) {
		struct dense d = {};

		memset(want, 0, sizeof(want));
		for (k = 0; k < 300; k++) {
			v = random__any_size(&r);
			dense__add(&d, v);
			if (v) {
				for (e = 0; v >>= 1; e++)
					;
				want[e + 1]++;
			} else {
				want[0]++;
			}
		}
		h = dense__histogram(&d);
		histogram__by_power(&h, rows);
		assert_memory_equal(rows, want, sizeof(rows));
		histogram__free(&h);
	}
}

/* Lists that share few, some or all buckets, and empty ones. */
static void add_equals_one_list(void **state)
{
	struct random r = { 3 };
	u32 n, k;

	(void)state;
	for (n = 0; n < 2000; n++) {
		struct dense a = {}, b = {}, both = {};
		u32 na = random__below(&r, 60), nb = random__below(&r, 60);
		u64 mask = random__any_size(&r), v;
		struct histogram x, y;

		for (k = 0; k < na + nb; k++) {
			v = random__any_size(&r) & mask;
			dense__add(k < na ? &a : &b, v);
			dense__add(&both, v);
		}
		x = dense__histogram(&a);
		y = dense__histogram(&b);
		assert_int_equal(histogram__add(&x, &y), 0);
		assert_histogram(&x, &both);
		assert_histogram(&y, &b);       /* left as it was */
		histogram__free(&x);
		histogram__free(&y);
	}
}

/* An integer factor equals that many additions; other factors round each bucket. */
static void scale_rounds_buckets(void **state)
{
	struct dense d = {}, thrice = {};
	struct histogram h;

	(void)state;
	dense__add_many(&d, 77, 3);
	dense__add_many(&d, 1000, 1);
	dense__add_many(&thrice, 77, 9);
	dense__add_many(&thrice, 1000, 3);
	h = dense__histogram(&d);
	histogram__scale(&h, 3);
	assert_histogram(&h, &thrice);
	histogram__scale(&h, 1.4);
	assert_int_equal(h.count, 13 + 4);
	assert_int_equal(h.bucket[0].count, 13);
	assert_int_equal((u64)h.sum, (u64)((9 * 77 + 3 * 1000) * 1.4));
	histogram__free(&h);
}

static void add_to_itself_doubles(void **state)
{
	struct dense d = {}, twice = {};
	struct histogram h;

	(void)state;
	dense__add_many(&d, 77, 3);
	dense__add_many(&d, UINT64_MAX, 2);
	dense__add_many(&twice, 77, 6);
	dense__add_many(&twice, UINT64_MAX, 4);
	h = dense__histogram(&d);
	assert_int_equal(histogram__add(&h, &h), 0);
	assert_histogram(&h, &twice);
	histogram__free(&h);
}

static void add_keeps_what_is_only_a_bound(void **state)
{
	struct dense low = {}, high = {};
	struct histogram a, b;

	(void)state;
	dense__add(&low, 100);
	dense__add(&high, 5000);
	a = dense__histogram(&low);
	b = dense__histogram(&high);
	b.min_exact = b.max_exact = false;
	assert_int_equal(histogram__add(&a, &b), 0);
	assert_true(a.min_exact);       /* 100 is below anything b may hold */
	assert_int_equal(a.min, 100);
	assert_false(a.max_exact);
	assert_int_equal(a.max, 5000);
	histogram__free(&a);

	a = dense__histogram(&low);
	a.min_exact = a.max_exact = false;
	b.min_exact = b.max_exact = true;
	assert_int_equal(histogram__add(&a, &b), 0);
	assert_false(a.min_exact);
	assert_true(a.max_exact);
	histogram__free(&a);

	/* A value that was seen stays exact beside an equal bound. */
	a = dense__histogram(&high);
	b.min_exact = b.max_exact = false;
	assert_int_equal(histogram__add(&a, &b), 0);
	assert_true(a.min_exact && a.max_exact);
	histogram__free(&a);
	histogram__free(&b);
}

static void the_sum_wraps(void **state)
{
	struct dense d = {}, e = {};
	struct histogram h, other;

	(void)state;
	dense__add_many(&d, UINT64_MAX, 3);
	assert_int_equal(d.sum, UINT64_MAX - 2);
	h = dense__histogram(&d);
	assert_histogram(&h, &d);
	dense__add(&e, 5);
	other = dense__histogram(&e);
	assert_int_equal(histogram__add(&h, &other), 0);
	assert_int_equal(h.sum, 2);
	assert_int_equal(h.count, 4);
	assert_int_equal(h.max, UINT64_MAX);
	histogram__free(&h);
	histogram__free(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bucket_has_its_bounds),
		cmocka_unit_test(the_ends_of_the_range),
		cmocka_unit_test(small_values_have_buckets_of_their_own),
		cmocka_unit_test(buckets_are_at_most_a_sixteenth_wide),
		cmocka_unit_test(index_is_monotone),
		cmocka_unit_test(rows_and_segments),
		cmocka_unit_test(a_histogram_of_nothing),
		cmocka_unit_test(counts_begin_at_any_bucket),
		cmocka_unit_test(huge_counts),
		cmocka_unit_test(one_bucket_of_2_to_the_63),
		cmocka_unit_test(powers_of_two),
		cmocka_unit_test(add_equals_one_list),
		cmocka_unit_test(scale_rounds_buckets),
		cmocka_unit_test(add_to_itself_doubles),
		cmocka_unit_test(add_keeps_what_is_only_a_bound),
		cmocka_unit_test(the_sum_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
