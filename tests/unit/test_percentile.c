// SPDX-License-Identifier: BSD-2-Clause
/* Compares histogram__percentile() with sorted lists. */
#include "unit.h"

#define MOST 1000

static u64 uniform(struct random *r, u64 scale)
{
	return random__below(r, scale);
}

/* Without floating point: a geometric number of halvings, then uniform within. */
static u64 exponential(struct random *r, u64 scale)
{
	u64 v = scale;

	while (v > 1 && random__below(r, 2))
		v /= 2;
	return v / 2 + random__below(r, v / 2 + 1);
}

static u64 constant(struct random *r, u64 scale)
{
	(void)r;
	return scale;
}

static u64 two_modes(struct random *r, u64 scale)
{
	return random__below(r, 10) ? scale / 1000 + random__below(r, 10) :
				      scale + random__below(r, scale / 8);
}

static u64 tiny(struct random *r, u64 scale)
{
	(void)scale;
	return random__below(r, 32);
}

static u64 huge(struct random *r, u64 scale)
{
	(void)scale;
	return UINT64_MAX - (random__below(r, 4) ? random__next(r) >> 2 : 0);
}

static u64 any_size(struct random *r, u64 scale)
{
	(void)scale;
	return random__any_size(r);
}

static u64 (*const shapes[])(struct random *, u64) = {
	uniform, exponential, constant, two_modes, tiny, huge, any_size,
};

static int rising(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns the value of rank ceil(n * per_10k / 10000), or the first one if that is 0. */
static u64 nearest_rank(const u64 *sorted, u32 n, u32 per_10k)
{
	u32 rank = (n * per_10k + 9999) / 10000;

	return sorted[rank ? rank - 1 : 0];
}

static void check_one(const struct histogram *h, const u64 *sorted, u32 n, u32 per_10k)
{
	u64 truth = nearest_rank(sorted, n, per_10k), got = histogram__percentile(h, per_10k);

	if (got < truth || got - truth > truth / 16 || got > h->max || (truth < 32 && got != truth))
		fail_msg("p%u of %u: %llu, should be %llu", per_10k, n, got, truth);
}

static void check_list(u64 *list, u32 n, struct random *r)
{
	static const u32 fixed[] = { 0, 1, 100, 5000, 9000, 9900, 9990, 9999, 10000 };
	struct dense d = {};
	struct histogram h;
	u32 i;

	for (i = 0; i < n; i++)
		dense__add(&d, list[i]);
	qsort(list, n, sizeof(*list), rising);
	h = dense__histogram(&d);
	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		check_one(&h, list, n, fixed[i]);
	for (i = 0; i < 20; i++)
		check_one(&h, list, n, random__below(r, 10001));
	assert_int_equal(histogram__percentile(&h, 0), list[0]);
	assert_int_equal(histogram__percentile(&h, 10000), list[n - 1]);
	histogram__free(&h);
}

static void percentiles_of_random_lists(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 10, 100, MOST };
	struct random r = { 4 };
	u64 list[MOST], scale;
	u32 s, k, i, n;

	(void)state;
	for (s = 0; s < ARRAY_SIZE(shapes); s++)
		for (k = 0; k < ARRAY_SIZE(sizes); k++)
			for (n = 0; n < 200; n++) {
				scale = 10000 + (random__any_size(&r) >> 2);
				for (i = 0; i < sizes[k]; i++)
					list[i] = shapes[s](&r, scale);
				check_list(list, sizes[k], &r);
			}
}

static void percentiles_are_monotone(void **state)
{
	struct random r = { 5 };
	struct dense d = {};
	struct histogram h;
	u64 last = 0, now;
	u32 p;

	(void)state;
	for (p = 0; p < 777; p++)
		dense__add(&d, random__any_size(&r));
	h = dense__histogram(&d);
	for (p = 0; p <= 10000; p++) {
		now = histogram__percentile(&h, p);
		assert_true(now >= last);
		last = now;
	}
	histogram__free(&h);
}

static void ranks_are_nearest_ranks(void **state)
{
	struct dense d = {};
	struct histogram h;
	u32 v;

	(void)state;
	for (v = 1; v <= 20; v++)
		dense__add(&d, v);
	h = dense__histogram(&d);
	assert_int_equal(histogram__percentile(&h, 0), 1);
	assert_int_equal(histogram__percentile(&h, 500), 1);    /* rank 1 exactly */
	assert_int_equal(histogram__percentile(&h, 501), 2);    /* rank 1.002: the second */
	assert_int_equal(histogram__percentile(&h, 5000), 10);
	assert_int_equal(histogram__percentile(&h, 9000), 18);
	assert_int_equal(histogram__percentile(&h, 9900), 20);
	histogram__free(&h);
}

static void never_above_the_maximum(void **state)
{
	struct dense d = {};
	struct histogram h;

	(void)state;
	dense__add(&d, 1024);           /* the bucket ends at 1087 */
	dense__add(&d, 1025);
	h = dense__histogram(&d);
	assert_int_equal(histogram__percentile(&h, 5000), 1025);
	assert_int_equal(histogram__percentile(&h, 10000), 1025);
	histogram__free(&h);
}

static void percentiles_of_nothing_are_0(void **state)
{
	const struct histogram h = {};
	u32 p;

	(void)state;
	for (p = 0; p <= 10000; p += 100)
		assert_int_equal(histogram__percentile(&h, p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_of_random_lists),
		cmocka_unit_test(percentiles_are_monotone),
		cmocka_unit_test(ranks_are_nearest_ranks),
		cmocka_unit_test(never_above_the_maximum),
		cmocka_unit_test(percentiles_of_nothing_are_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
