// SPDX-License-Identifier: BSD-2-Clause
/* Numbers for people: three significant digits, and never 1000 of a unit that has a larger one. */
#include "unit.h"

#include "report/units.h"

#define US 1000ULL
#define MS 1000000ULL
#define S 1000000000ULL
#define MIN (60 * S)
#define H (60 * MIN)
#define D (24 * H)
#define KI (1ULL << 10)
#define MI (1ULL << 20)
#define GI (1ULL << 30)
#define TI (1ULL << 40)
#define PI (1ULL << 50)
#define EI (1ULL << 60)

struct text_case {
	u64 value;
	const char *text;
};

static void check(u64 value, enum unit unit, bool milliseconds, const char *want)
{
	char text[UNITS_SPACE];

	assert_ptr_equal(format_value(text, value, unit, milliseconds), text);
	if (strcmp(text, want))
		fail_msg("%llu %s: '%s' instead of '%s'", value, unit_name(unit), text, want);
}

static void times(void **state)
{
	static const struct text_case cases[] = {
		{ 0, "0 ns" },
		{ 1, "1 ns" },
		{ 870, "870 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 1004, "1.00 us" },
		{ 1006, "1.01 us" },
		{ 1023, "1.02 us" },
		{ 1024, "1.02 us" },
		{ 9994, "9.99 us" },
		{ 9995, "10.0 us" },
		{ 9996, "10.0 us" },
		{ 10 * US, "10.0 us" },
		{ 99949, "99.9 us" },
		{ 99950, "100 us" },
		{ 100 * US, "100 us" },
		{ 999 * US, "999 us" },
		{ 999499, "999 us" },
		{ 999501, "1.00 ms" },
		{ 999999, "1.00 ms" },
		{ MS, "1.00 ms" },
		{ 4190 * US, "4.19 ms" },
		{ 9994999, "9.99 ms" },
		{ 9995000, "10.0 ms" },
		{ 99949999, "99.9 ms" },
		{ 99950000, "100 ms" },
		{ 999499999, "999 ms" },
		{ 999500001, "1.00 s" },
		{ 999999999, "1.00 s" },
		{ S, "1.00 s" },
		{ 9995 * MS, "10.0 s" },
		{ 59 * S, "59.0 s" },
		{ 59949 * MS, "59.9 s" },
		{ 59951 * MS, "1.00 min" },
		{ 59999999999, "1.00 min" },
		{ MIN, "1.00 min" },
		{ 90 * S, "1.50 min" },
		{ 59 * MIN + 54 * S, "59.9 min" },
		{ 59 * MIN + 58 * S, "1.00 h" },
		{ H, "1.00 h" },
		{ 23 * H + 30 * MIN, "23.5 h" },
		{ 23 * H + 59 * MIN, "1.00 d" },
		{ D, "1.00 d" },
		{ 10 * D, "10.0 d" },
		{ 999 * D, "999 d" },
		{ 1000 * D, "1000 d" },         /* there is no larger unit */
		{ 1ULL << 63, "106752 d" },
		{ UINT64_MAX, "213504 d" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].value, UNIT_NS, false, cases[i].text);
}

static void milliseconds(void **state)
{
	static const struct text_case cases[] = {
		{ 0, "0.000 ms" },
		{ 499, "0.000 ms" },
		{ 501, "0.001 ms" },
		{ 999, "0.001 ms" },
		{ 4190, "0.004 ms" },
		{ 999499, "0.999 ms" },
		{ 999501, "1.000 ms" },
		{ MS, "1.000 ms" },
		{ 1234567890, "1234.568 ms" },
		{ D, "86400000.000 ms" },
		/* These values have more digits than a double. */
		{ 9007199254740993499, "9007199254740.993 ms" },
		{ 9007199254740993501, "9007199254740.994 ms" },
		{ 1ULL << 63, "9223372036854.776 ms" },
		{ UINT64_MAX, "18446744073709.552 ms" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].value, UNIT_NS, true, cases[i].text);
}

static void sizes(void **state)
{
	static const struct text_case cases[] = {
		{ 0, "0 B" },
		{ 1, "1 B" },
		{ 999, "999 B" },
		{ 1000, "1000 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.00 KiB" },
		{ 1536, "1.50 KiB" },
		{ 12 * KI, "12.0 KiB" },
		{ 10235, "10.0 KiB" },
		{ 99 * KI, "99.0 KiB" },
		{ 1000 * KI, "1000 KiB" },
		{ 1023 * KI, "1023 KiB" },
		{ 1023 * KI + 511, "1023 KiB" },
		{ 1023 * KI + 513, "1.00 MiB" },
		{ MI - 1, "1.00 MiB" },
		{ MI, "1.00 MiB" },
		{ GI - 1, "1.00 GiB" },
		{ GI, "1.00 GiB" },
		{ TI, "1.00 TiB" },
		{ PI, "1.00 PiB" },
		{ EI - 1, "1.00 EiB" },
		{ EI, "1.00 EiB" },
		{ 1ULL << 63, "8.00 EiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		check(cases[i].value, UNIT_BYTES, false, cases[i].text);
		check(cases[i].value, UNIT_BYTES, true, cases[i].text); /* not a time */
	}
}

static void counts(void **state)
{
	static const struct text_case cases[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1023, "1,023" },
		{ 1024, "1,024" },
		{ 99999, "99,999" },
		{ 100000, "100,000" },
		{ 1234567, "1,234,567" },
		{ 1ULL << 63, "9,223,372,036,854,775,808" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	char text[UNITS_SPACE];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		check(cases[i].value, UNIT_COUNT, false, cases[i].text);
		check(cases[i].value, UNIT_COUNT, true, cases[i].text);
		assert_ptr_equal(format_count(text, cases[i].value), text);
		assert_string_equal(text, cases[i].text);
	}
}

static void unit_names(void **state)
{
	(void)state;
	assert_string_equal(unit_name(UNIT_NS), "ns");
	assert_string_equal(unit_name(UNIT_BYTES), "bytes");
	assert_string_equal(unit_name(UNIT_COUNT), "count");
}

/*
 * The text has the value to half of the last digit, in the unit that fits: below the next unit,
 * and at least one of its own.
 */
static void random_values_read_back(void **state)
{
	static const struct {
		const char *name;
		u64 size;
	} units[] = {
		{ "ns", 1 }, { "us", US }, { "ms", MS }, { "s", S }, { "min", MIN }, { "h", H },
		{ "d", D }, { "B", 1 }, { "KiB", KI }, { "MiB", MI }, { "GiB", GI },
		{ "TiB", TI }, { "PiB", PI }, { "EiB", EI },
	};
	struct random r = { 15 };
	char text[UNITS_SPACE], name[8];
	double shown;
	u32 n, i;

	(void)state;
	for (n = 0; n < 300000; n++) {
		bool time = n % 2;
		u64 v = random__any_size(&r);

		format_value(text, v, time ? UNIT_NS : UNIT_BYTES, false);
		assert_true(strlen(text) < UNITS_SPACE);
		assert_int_equal(sscanf(text, "%lf %7s", &shown, name), 2);
		for (i = 0; strcmp(units[i].name, name); i++)
			assert_true(i + 1 < ARRAY_SIZE(units));
		/* The error is at most 0.5 in the third digit: half a percent of the number shown. */
		assert_true(shown * units[i].size <= v * 1.005001);
		assert_true(shown * units[i].size >= v * 0.994999);
		if (units[i].size > 1)
			assert_true(shown >= 1);
		if (strcmp(name, "d") && strcmp(name, "EiB"))
			assert_true(shown * units[i].size < units[i + 1].size);
	}
}

static void means(void **state)
{
	static const struct {
		__int128 sum;
		u64 count;
		const char *text;
	} mean[] = {
		{ 0, 3, "0.00" }, { 1, 3, "0.33" }, { -2, 3, "-0.67" }, { 5, 2, "2.50" },
		{ (__int128)INT64_MAX, 1, "9223372036854775807.00" },
		{ (__int128)INT64_MIN, 1, "-9223372036854775808.00" },
		{ (__int128)UINT64_MAX * 3 + 2, 3, "18446744073709551615.67" },
		{ ((__int128)1 << 50) * 3 + 1, 3, "1125899906842624.33" },
		{ ((__int128)UINT64_MAX << 32) + 0xffffffff, 1ULL << 32, "18446744073709551616.00" },
	};
	char text[UNITS_SPACE];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(mean); i++)
		assert_string_equal(format_mean(text, mean[i].sum, mean[i].count), mean[i].text);
	assert_string_equal(format_real(text, 12.345, 1), "12.3");
	assert_string_equal(format_real(text, 0x1p53 - 1, 0), "9007199254740991");
	assert_string_equal(format_real(text, 0x1p64, 2), "1.84467440737096e+19");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(milliseconds),
		cmocka_unit_test(sizes),
		cmocka_unit_test(counts),
		cmocka_unit_test(unit_names),
		cmocka_unit_test(means),
		cmocka_unit_test(random_values_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
