// SPDX-License-Identifier: BSD-2-Clause
/* Evaluation of the rounds of a benchmark: order statistics, and whether two states differ. */
#include "unit.h"

#include <math.h>

#include "machine/bench/figures.h"

#define MOST 1000

/* 1, 2, ... n in some order. */
static void shuffled(double *values, size_t n)
{
	struct random r = { n };
	size_t i, k;

	for (i = 0; i < n; i++) {
		k = random__below(&r, i + 1);
		values[i] = values[k];
		values[k] = i + 1;
	}
}

static struct figures of_first(size_t n)
{
	double values[MOST];
	struct figures f;

	shuffled(values, n);
	figures__make(&f, values, n);
	return f;
}

static void assert_near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9)
		fail_msg("%.12g is not %.12g", value, wanted);
}

static void median_and_range(void **state)
{
	size_t n;

	(void)state;
	for (n = 1; n <= MOST; n++) {
		struct figures f = of_first(n);

		assert_int_equal(f.n, n);
		assert_near(f.median, (n + 1) / 2.0);
		assert_near(f.min, 1);
		assert_near(f.max, n);
		assert_near(figures__spread_percent(&f), 100 * (n - 1.0) / ((n + 1) / 2.0));
		assert_near(f.low + f.high, n + 1);
	}
}

/* Values from tables of the sign test. */
static void interval(void **state)
{
	static const struct { size_t n; double low, high, confidence; } known[] = {
		{ 1, 1, 1, 0 },         { 2, 1, 2, 0.5 },        { 3, 1, 3, 0.75 },
		{ 4, 1, 4, 0.875 },     { 5, 1, 5, 0.9375 },     { 6, 1, 6, 0.96875 },
		{ 8, 1, 8, 0.9921875 }, { 9, 2, 8, 0.9609375 },  { 11, 2, 10, 0.98828125 },
		{ 12, 3, 10, 0.96142578125 },
	};
	struct figures f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		f = of_first(known[i].n);
		assert_near(f.low, known[i].low);
		assert_near(f.high, known[i].high);
		assert_near(f.confidence, known[i].confidence);
	}
	f = of_first(100);
	assert_near(f.low, 40);
	assert_near(f.high, 61);
	assert_true(f.confidence > 0.9647 && f.confidence < 0.9649);
}

/* The confidence is at least the promised one, and that of the next narrower interval would not be. */
static void interval_is_narrow(void **state)
{
	size_t n, k, i;

	(void)state;
	for (n = 6; n <= MOST; n++) {
		struct figures f = of_first(n);
		double tail = 0, narrower;

		k = f.low;
		/* Probability of fewer than k heads in n tosses, by logarithms. */
		for (i = 0; i < k; i++)
			tail += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) -
				    n * log(2));
		narrower = tail + exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) -
				      n * log(2));
		assert_true(fabs(f.confidence - (1 - 2 * tail)) < 1e-6);
		assert_true(f.confidence >= 0.95 && 1 - 2 * narrower < 0.95 + 1e-6);
	}
}

static enum verdict compared(double *a, double *b, size_t n)
{
	struct figures before, after;

	figures__make(&before, a, n);
	figures__make(&after, b, n);
	return figures__compare(&before, &after);
}

static void verdicts(void **state)
{
	double low[] = { 5, 4, 3, 2, 1 }, same[] = { 1, 2, 3, 4, 5 };
	double high[] = { 6, 7, 8, 9, 10 }, touching[] = { 5, 7, 8, 9, 10 };

	(void)state;
	assert_int_equal(compared(low, high, 5), VERDICT_MORE);
	assert_int_equal(compared(high, low, 5), VERDICT_LESS);
	assert_int_equal(compared(low, same, 5), VERDICT_SAME);
	assert_int_equal(compared(low, touching, 5), VERDICT_SAME);
	assert_int_equal(compared(low, high, 4), VERDICT_TOO_FEW);
}

/* With nine rounds, one disturbed round does not hide a difference. */
static void outlier(void **state)
{
	double low[] = { 1, 2, 3, 4, 5, 6, 7, 8, 1000 };
	double high[] = { 11, 12, 13, 14, 15, 16, 17, 18, 0 };

	(void)state;
	assert_int_equal(compared(low, high, 8), VERDICT_MORE);
	assert_int_equal(compared(low, high, 9), VERDICT_MORE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_and_range), cmocka_unit_test(interval),
		cmocka_unit_test(interval_is_narrow), cmocka_unit_test(verdicts),
		cmocka_unit_test(outlier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
