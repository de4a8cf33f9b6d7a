// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares agg/bootstrap.h with known distributions: two series of the same distribution differ no more often than the
 * level says, a change of known size is found, and its interval contains the truth as often as it claims. Compares
 * Student's t and Holm's procedure with printed tables.
 */
#include "unit.h"

#include <math.h>

#include "agg/bootstrap.h"

#define TRIALS 400
#define MOST 120

static double uniform(struct random *r)
{
	return ((random__next(r) >> 11) + 0.5) / 0x1p53;
}

static double normal(struct random *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

static void steady(struct random *r, double *x, size_t n, double mean)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = mean * (1 + 0.1 * normal(r));
}

/* Log-normal: the mean of exp(0.5 z) is exp(0.125). */
static void skewed(struct random *r, double *x, size_t n, double mean)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = mean * exp(0.5 * normal(r) - 0.125);
}

/* Each value keeps half of the deviation of the one before: a load that comes and goes. */
static void slow(struct random *r, double *x, size_t n, double mean)
{
	double state = normal(r) * sqrt(4.0 / 3);
	size_t i;

	for (i = 0; i < n; i++) {
		state = 0.5 * state + normal(r);
		x[i] = mean * (1 + 0.1 * state);
	}
}

/* Few events, and none in most intervals. */
static void rare(struct random *r, double *x, size_t n, double mean)
{
	size_t i;

	(void)mean;
	for (i = 0; i < n; i++)
		x[i] = uniform(r) < 0.2 ? 1 + random__below(r, 3) : 0;
}

static void (*const shapes[])(struct random *, double *, size_t, double) = { steady, skewed, slow, rare };

/* Makes the seconds of each interval, which vary. */
static void lengths(struct random *r, double *per, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		per[i] = 1 + 0.01 * uniform(r);
}

struct outcome {
	int different, covered;
};

static struct outcome try(u32 shape, size_t n, double factor)
{
	double of[2][MOST], per[2][MOST];
	struct random r = { 1000 * shape + n };
	struct bootstrap_figure figure[2];
	struct bootstrap_change change;
	struct outcome out = {};
	int i, side;
	size_t k;

	for (i = 0; i < TRIALS; i++) {
		for (side = 0; side < 2; side++) {
			lengths(&r, per[side], n);
			shapes[shape](&r, of[side], n, side ? factor : 1);
			for (k = 0; k < n; k++)
				of[side][k] *= per[side][k];
			if (bootstrap__quotient(&figure[side], of[side], per[side], n))
				break;
		}
		if (side < 2)
			continue;
		bootstrap__compare(&change, &figure[0], &figure[1], 0);
		out.different += change.p < BOOTSTRAP_LEVEL;
		out.covered += change.low <= factor - 1 && factor - 1 <= change.high;
	}
	return out;
}

static const size_t sizes[] = { BOOTSTRAP_LEAST, 20, 60, MOST };

/*
 * At 5 %, 20 of 400 trials are expected to differ, and more than 32 in 3 of 1000 tests. If neighbouring intervals are
 * correlated, blocks of a few intervals account for only a part of that.
 */
static void test_false_alarms(void **state)
{
	u32 shape, i;

	(void)state;
	for (shape = 0; shape < ARRAY_SIZE(shapes); shape++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			assert_in_range(try(shape, sizes[i], 1).different, 0, shapes[shape] == slow ? 44 : 32);
}

static void test_a_known_change(void **state)
{
	struct outcome o;
	u32 shape, i;

	(void)state;
	for (shape = 0; shapes[shape] != rare; shape++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			o = try(shape, sizes[i], 1.3);
			assert_in_range(o.covered, shapes[shape] == slow ? 352 : 368, TRIALS);
			if (sizes[i] == MOST)
				assert_in_range(o.different, 360, TRIALS);
		}
}

/* --- percentiles --- */

static void add_value(struct histogram *h, u64 value)
{
	u64 one = 1;
	struct histogram other = {};
	struct histogram_totals totals = { .sum = value, .max = value, .min_inv = ~value };

	assert_int_equal(histogram__init(&other, &one, hist_index(value), 1, &totals), 0);
	assert_int_equal(histogram__add(h, &other), 0);
	histogram__free(&other);
}

/* Exponential: the median is log(2) times the mean. */
static void latencies(struct random *r, struct histogram *h, size_t n, double mean)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < 50; k++)
			add_value(&h[i], -mean * log(uniform(r)));
}

static void free_all(struct histogram *h, size_t n)
{
	while (n--)
		histogram__free(&h[n]);
}

static struct outcome try_percentiles(double factor)
{
	static const u32 per_10k[] = { 5000, 9000 };
	struct bootstrap_figure figure[2][2];
	struct random r = { 5 };
	struct bootstrap_change change;
	struct outcome out = {};
	int i, side;

	for (i = 0; i < 100; i++) {
		for (side = 0; side < 2; side++) {
			struct histogram h[20] = {}, all = {};
			size_t k;

			latencies(&r, h, 20, side ? 1e6 * factor : 1e6);
			assert_int_equal(bootstrap__percentiles(figure[side], per_10k, 2, h, 20), 0);
			for (k = 0; k < 20; k++)
				assert_int_equal(histogram__add(&all, &h[k]), 0);
			for (k = 0; k < 2; k++)
				assert_int_equal(figure[side][k].value, histogram__percentile(&all, per_10k[k]));
			histogram__free(&all);
			free_all(h, 20);
		}
		bootstrap__compare(&change, &figure[0][0], &figure[1][0], BOOTSTRAP_BUCKET);
		out.different += change.p < BOOTSTRAP_LEVEL;
		out.covered += change.low <= factor - 1 && factor - 1 <= change.high;
	}
	return out;
}

static void test_percentiles(void **state)
{
	struct outcome o = try_percentiles(1);

	(void)state;
	assert_in_range(o.different, 0, 5);
	o = try_percentiles(1.5);
	assert_in_range(o.different, 95, 100);
	assert_in_range(o.covered, 92, 100);
}

/* --- series without noise, or without a value --- */

static void constant(double *x, size_t n, double value)
{
	while (n--)
		x[n] = value;
}

static struct bootstrap_change compared(const double *before, const double *after)
{
	struct bootstrap_figure figure[2];
	struct bootstrap_change change;
	double per[20];

	constant(per, 20, 1);
	assert_int_equal(bootstrap__quotient(&figure[0], before, per, 20), 0);
	assert_int_equal(bootstrap__quotient(&figure[1], after, per, 20), 0);
	bootstrap__compare(&change, &figure[0], &figure[1], 0);
	return change;
}

static void test_without_noise(void **state)
{
	double zero[20] = {}, one[20] = { 1 }, some[20], more[20];
	struct bootstrap_change c;

	(void)state;
	constant(some, 20, 4);
	constant(more, 20, 5);
	c = compared(some, more);
	assert_true(c.p == 0 && fabs(c.change - 0.25) < 1e-12 && fabs(c.low - c.high) < 1e-12);
	c = compared(some, some);
	assert_true(c.p == 1 && c.change == 0 && c.low == 0 && c.high == 0);
	c = compared(zero, zero);
	assert_true(c.p == 1 && c.change == 0);
	c = compared(some, zero);
	assert_true(c.p == 0 && c.change == -1 && isnan(c.low));
	c = compared(zero, some);
	assert_true(c.p == 0 && isinf(c.change) && isnan(bootstrap__reach(&c, 0.05)));
	/* A single event is not a significant change. */
	c = compared(zero, one);
	assert_true(c.p > 0.2 && isinf(c.change));
}

static void test_without_value(void **state)
{
	static const u32 median = 5000;
	const struct histogram none[20] = {};
	struct bootstrap_figure figure;
	double x[20] = {};

	(void)state;
	assert_int_equal(bootstrap__quotient(&figure, x, x, 20), -ENODATA);
	assert_int_equal(bootstrap__percentiles(&figure, &median, 1, none, 20), -ENODATA);
	constant(x, 20, 1);
	assert_int_equal(bootstrap__quotient(&figure, x, x, 1), -ENODATA);
	assert_int_equal(bootstrap__quotient(&figure, x, x, BOOTSTRAP_LEAST), 0);
}

/* Files may contain any numbers: either there is no result, or it is a number. */
static void test_extremes(void **state)
{
	static const double scales[] = { 1e-320, 1e-200, 1e-5, 1, 1e200, 1e306, -1, -1e306 };
	struct bootstrap_figure figure[ARRAY_SIZE(scales)];
	double x[20], per[20];
	struct bootstrap_change c;
	bool known[ARRAY_SIZE(scales)];
	struct random r = { 9 };
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(scales); i++) {
		constant(per, 20, 1);
		for (k = 0; k < 20; k++)
			x[k] = scales[i] * uniform(&r);
		known[i] = !bootstrap__quotient(&figure[i], x, per, 20);
	}
	assert_true(known[3] && known[6]);
	for (i = 0; i < ARRAY_SIZE(scales); i++)
		for (k = 0; k < ARRAY_SIZE(scales); k++) {
			if (!known[i] || !known[k])
				continue;
			bootstrap__compare(&c, &figure[i], &figure[k], 0);
			assert_true(c.p >= 0 && c.p <= 1 && !isnan(c.change));
		}
}

static void test_is_repeatable(void **state)
{
	struct bootstrap_figure first, again;
	double x[MOST], per[MOST];
	struct random r = { 7 };

	(void)state;
	lengths(&r, per, MOST);
	skewed(&r, x, MOST, 3);
	assert_int_equal(bootstrap__quotient(&first, x, per, MOST), 0);
	assert_int_equal(bootstrap__quotient(&again, x, per, MOST), 0);
	assert_memory_equal(&first, &again, sizeof(first));
}

/* --- tables --- */

static void test_student(void **state)
{
	/* Two-sided critical values as printed in any textbook. */
	static const struct {
		double freedom, tails, t;
	} table[] = {
		{ 1, 0.05, 12.706 }, { 2, 0.05, 4.303 },   { 4, 0.05, 2.776 },	{ 10, 0.05, 2.228 },
		{ 30, 0.05, 2.042 }, { 120, 0.05, 1.980 }, { 5, 0.001, 6.869 }, { 10, 0.001, 4.587 },
		{ 60, 0.001, 3.460 }, { 10, 0.5, 0.700 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		double t = student_bound(table[i].tails, table[i].freedom);

		assert_true(fabs(t - table[i].t) < 0.0006);
		assert_true(fabs(student_tails(t, table[i].freedom) - table[i].tails) < 1e-9);
	}
	assert_true(student_tails(0, 3) == 1 && student_tails(INFINITY, 3) == 0);
}

static void test_holm(void **state)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005, 0.9 };
	static const double wanted[] = { 0.04, 0.09, 0.09, 0.025, 0.9 };
	size_t i;

	(void)state;
	assert_int_equal(bootstrap__holm(p, ARRAY_SIZE(p)), 0);
	for (i = 0; i < ARRAY_SIZE(p); i++)
		assert_true(fabs(p[i] - wanted[i]) < 1e-12);
	assert_int_equal(bootstrap__holm(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_a_known_change),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_without_noise),
		cmocka_unit_test(test_without_value),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_is_repeatable),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_holm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
