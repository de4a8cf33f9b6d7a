// SPDX-License-Identifier: BSD-2-Clause
/* Bounds of buckets, as the user types them. */
#include "unit.h"

#include "events/probe/bounds.h"

#define MOST 12

typedef int (*parser)(struct bounds *b, const char *text, struct complaint *c);

static void good(void **state)
{
	static const struct {
		parser parse;
		const char *text;
		size_t n;
		s64 bound[MOST];        /* the first of the n bounds */
	} cases[] = {
		{ bounds__linear, "0:10:5", 3, { 0, 5, 10 } },
		{ bounds__linear, "0:11:5", 4, { 0, 5, 10, 11 } },
		{ bounds__linear, "-10:10:10", 3, { -10, 0, 10 } },
		{ bounds__linear, "0:1:1", 2, { 0, 1 } },
		{ bounds__linear, "0:1:100", 2, { 0, 1 } },
		{ bounds__linear, "1K:3K:1K", 3, { 1024, 2048, 3072 } },
		{ bounds__linear, "0:2ms:1ms", 3, { 0, 1000000, 2000000 } },
		{ bounds__linear, "-9223372036854775807:9223372036854775807:9223372036854775807", 3,
		  { -INT64_MAX, 0, INT64_MAX } },
		{ bounds__powers, "2", 64, { 0, 1, 2, 4, 8, 16 } },
		{ bounds__powers, "10", 20, { 0, 1, 10, 100, 1000 } },
		{ bounds__powers, "9223372036854775807", 3, { 0, 1, INT64_MAX } },
		{ bounds__list, "100", 1, { 100 } },
		{ bounds__list, " 100 1000,10000\t", 3, { 100, 1000, 10000 } },
		{ bounds__list, "-5 0 0x10", 3, { -5, 0, 16 } },
		{ bounds__list, "10us 1ms 1s", 3, { 10000, 1000000, 1000000000 } },
		{ bounds__list, "4K,1M", 2, { 4096, 1 << 20 } },
	};
	struct bounds b;
	struct complaint c;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(cases[i].parse(&b, cases[i].text, &c), 0);
		assert_int_equal(b.n, cases[i].n);
		for (k = 0; k < b.n && k < MOST && (k < 2 || cases[i].bound[k]); k++)
			assert_int_equal(b.bound[k], cases[i].bound[k]);
		for (k = 1; k < b.n; k++)
			assert_true(b.bound[k - 1] < b.bound[k]);
		bounds__free(&b);
	}
}

static void wrong(void **state)
{
	static const char number[] = "expected a number", shape[] = "expected FROM:TO:STEP, as in 0:100:10",
			  nowhere[] = "FROM must be below TO, and STEP above 0",
			  above[] = "each bound must be above the previous bound";
	static const struct {
		parser parse;
		const char *text, *said;
		size_t at, len;
	} cases[] = {
		{ bounds__linear, "", shape, 0, 0 },
		{ bounds__linear, "1", shape, 0, 1 },
		{ bounds__linear, "1:2", shape, 0, 3 },
		{ bounds__linear, "::", number, 0, 1 },
		{ bounds__linear, "1::1", number, 2, 1 },
		{ bounds__linear, "1:2:", number, 4, 1 },
		{ bounds__linear, "1:2:3:4", number, 4, 3 },
		{ bounds__linear, "1:2:0", nowhere, 0, 5 },
		{ bounds__linear, "2:1:1", nowhere, 0, 5 },
		{ bounds__linear, "1:1:1", nowhere, 0, 5 },
		{ bounds__linear, "1:2:-1", nowhere, 0, 6 },
		{ bounds__linear, "0:1000000:1", "more than 900 buckets", 0, 11 },
		{ bounds__linear, "0:900:1", "more than 900 buckets", 0, 7 },
		{ bounds__linear, "-9223372036854775807:9223372036854775807:1",
		  "more than 900 buckets", 0, 42 },
		{ bounds__linear, "0:9223372036854775808:1", number, 2, 19 },
		{ bounds__powers, "", number, 0, 1 },
		{ bounds__powers, "x", number, 0, 1 },
		{ bounds__powers, "1", "expected a base of 2 or more", 0, 1 },
		{ bounds__powers, "-2", "expected a base of 2 or more", 0, 2 },
		{ bounds__list, "", "expected bounds, as in \"100 1000 10000\"", 0, 1 },
		{ bounds__list, " ,", "expected bounds, as in \"100 1000 10000\"", 0, 1 },
		{ bounds__list, "1 1", above, 2, 1 },
		{ bounds__list, "1 2 2", above, 4, 1 },
		{ bounds__list, "5 -5", above, 2, 2 },
		{ bounds__list, "1 x 2", number, 2, 1 },
		{ bounds__list, "1+1", number, 0, 3 },
		{ bounds__list, "--1", number, 0, 3 },
		{ bounds__list, "99999999999999999999", number, 0, 20 },
	};
	struct bounds b;
	struct complaint c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(cases[i].parse(&b, cases[i].text, &c), -EINVAL);
		assert_string_equal(c.what, cases[i].said);
		assert_int_equal(c.at, cases[i].at);
		assert_int_equal(c.len, cases[i].len);
		assert_null(b.bound);
	}
}

static void as_many_as_there_may_be(void **state)
{
	char text[16 * (BOUNDS_MOST + 1)];
	struct complaint c;
	struct bounds b;
	size_t i, n = 0;

	(void)state;
	for (i = 0; i < BOUNDS_MOST; i++)
		n += snprintf(text + n, sizeof(text) - n, "%zu ", i);
	assert_int_equal(bounds__list(&b, text, &c), 0);
	assert_int_equal(b.n, BOUNDS_MOST);
	bounds__free(&b);
	snprintf(text + n, sizeof(text) - n, "%zu", i);
	assert_int_equal(bounds__list(&b, text, &c), -EINVAL);
	assert_int_equal(c.at, n);
	assert_int_equal(bounds__linear(&b, "0:899:1", &c), 0);
	assert_int_equal(b.n, BOUNDS_MOST);
	bounds__free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(wrong),
		cmocka_unit_test(as_many_as_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
