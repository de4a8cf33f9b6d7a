// SPDX-License-Identifier: BSD-2-Clause
/* Mean and standard error of repeated runs, against values worked out by hand and in two passes. */
#include "unit.h"

#include <math.h>

#include "events/stat/series.h"

static void assert_near(double found, double expected)
{
	if (fabs(found - expected) > 1e-9 * fmax(1, fabs(expected)))
		fail_msg("%.17g is not %.17g", found, expected);
}

static struct series of(const double *value, size_t n)
{
	struct series s = {};

	while (n--)
		series__add(&s, *value++);
	return s;
}

#define OF(...) of((const double[]){ __VA_ARGS__ }, ARRAY_SIZE(((const double[]){ __VA_ARGS__ })))

static void known_values(void **state)
{
	struct series s = OF(10, 20, 30);

	(void)state;
	assert_int_equal(s.n, 3);
	assert_near(s.mean, 20);
	assert_near(series__relative_error(&s), 100 * 10 / sqrt(3) / 20);
	s = OF(2, 4, 4, 4, 5, 5, 7, 9);                 /* squares around the mean: 32 */
	assert_near(s.mean, 5);
	assert_near(series__relative_error(&s), 100 * sqrt(32.0 / 7 / 8) / 5);
	s = OF(-10, -30);
	assert_near(s.mean, -20);
	assert_near(series__relative_error(&s), 50);
}

static void too_few_to_tell(void **state)
{
	struct series s = {};

	(void)state;
	assert_near(series__relative_error(&s), 0);
	s = OF(42);
	assert_near(s.mean, 42);
	assert_near(series__relative_error(&s), 0);
	s = OF(-5, 5);
	assert_near(series__relative_error(&s), 0);
}

static void equal_values_have_no_error(void **state)
{
	struct random r = { 34 };
	u32 n, k;

	(void)state;
	for (n = 0; n < 1000; n++) {
		double value = random__any_size(&r) >> 11;      /* exact in a double */
		struct series s = {};

		for (k = 0; k < 50; k++)
			series__add(&s, value);
		assert_true(s.mean == value);
		assert_true(series__relative_error(&s) == 0);
	}
}

/* Large values that differ little: a plain sum of squares would lose the difference. */
static void as_in_two_passes(void **state)
{
	struct random r = { 35 };
	u32 n, k, count;

	(void)state;
	for (n = 0; n < 500; n++) {
		double value[100], base = 1 + random__below(&r, 1ULL << 40), sum = 0, squares = 0, mean;
		struct series s;

		count = 2 + random__below(&r, 99);
		for (k = 0; k < count; k++) {
			value[k] = base + random__below(&r, 1000);
			sum += value[k] - base;
		}
		mean = sum / count;
		for (k = 0; k < count; k++)
			squares += (value[k] - base - mean) * (value[k] - base - mean);
		s = of(value, count);
		assert_true(fabs(s.mean - base - mean) <= 1e-12 * fmax(base, 1000));
		mean += base;
		assert_true(fabs(series__relative_error(&s) -
				 100 * sqrt(squares / (count - 1) / count) / mean) <= 1 / mean);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(too_few_to_tell),
		cmocka_unit_test(equal_values_have_no_error),
		cmocka_unit_test(as_in_two_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
