// SPDX-License-Identifier: BSD-2-Clause
/* cli/numbers.h: which texts are numbers, which are not, and which are too large. */
#include "unit.h"

#include "base/numbers.h"

#define UNTOUCHED 0x5a5a5a5a5a5a5a5aULL
#define MAX UINT64_MAX

struct text_case {
	const char *text;
	int err;
	u64 value;
};

static void check(const char *function, const struct text_case *c, int err, u64 value)
{
	u64 want = c->err ? UNTOUCHED : c->value;

	if (err != c->err || value != want)
		fail_msg("%s(\"%s\"): %d, %llu instead of %d, %llu", function, c->text, err, value,
			 c->err, want);
}

/* Texts that no parser takes for a number. */
static const char *const never[] = {
	"", " ", "-", "+", "-1", "+1", "--1", " 1", "1 ", "\t1", "1\n", "1 2", "a", "abc", "x1",
	",", ".", "1x", "1-", "1_000", "1'000", "1e3", "1E3", "nan", "inf", "NULL",
	"\xc2\xa0\x31", "\xef\xbc\x91", "1\xc2\xb5s", "0x", "0X", "0xg", "0x-1", "0x 1", "0x+1",
	"0x0x1", "-0x1", "0b1", "1..2", "5.", "1.-5", "1.5.5", "%d",
	"99999999999999999999999999x", "18446744073709551616 ", "-18446744073709551616",
};

static void texts_that_are_no_number(void **state)
{
	u64 value = UNTOUCHED, cpus[2] = { UNTOUCHED, UNTOUCHED };
	size_t i, n = UNTOUCHED;
	u32 *list = (u32 *)&n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(never); i++) {
		struct text_case c = { never[i], -EINVAL, 0 };

		check("parse_u64", &c, parse_u64(never[i], &value), value);
		check("parse_u64_between", &c, parse_u64_between(never[i], 0, MAX, &value), value);
		check("parse_duration", &c, parse_duration(never[i], 1, &value), value);
		check("parse_id_list", &c, parse_id_list(never[i], 0, UINT32_MAX, &list, &n), n);
		assert_ptr_equal(list, &n);
		check("parse_cpu_list", &c, parse_cpu_list(never[i], cpus, 2), cpus[0]);
		assert_int_equal(cpus[1], UNTOUCHED);
	}
}

static void whole_numbers(void **state)
{
	static const struct text_case cases[] = {
		{ "0", 0, 0 },
		{ "00", 0, 0 },
		{ "1", 0, 1 },
		{ "007", 0, 7 },                /* not octal */
		{ "010", 0, 10 },
		{ "089", 0, 89 },
		{ "4294967296", 0, 1ULL << 32 },
		{ "18446744073709551614", 0, MAX - 1 },
		{ "18446744073709551615", 0, MAX },
		{ "00000000000000000000018446744073709551615", 0, MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "18446744073709551625", -ERANGE, 0 },
		{ "18446744073709551620", -ERANGE, 0 },
		{ "184467440737095516150", -ERANGE, 0 },
		{ "99999999999999999999999999999999999999999999999", -ERANGE, 0 },
		{ "0x0", 0, 0 },
		{ "0x1f", 0, 31 },
		{ "0X1F", 0, 31 },
		{ "0xDeadBeef", 0, 0xdeadbeef },
		{ "0xffffffffffffffff", 0, MAX },
		{ "0x0000ffffffffffffffff", 0, MAX },
		{ "0x10000000000000000", -ERANGE, 0 },
		{ "0xfffffffffffffffff", -ERANGE, 0 },
		{ "0o0", 0, 0 },
		{ "0o17", 0, 15 },
		{ "0o1777777777777777777777", 0, MAX },
		{ "0o2000000000000000000000", -ERANGE, 0 },
		{ "0o8", -EINVAL, 0 },
		{ "0o18", -EINVAL, 0 },
		{ "0o", -EINVAL, 0 },
		{ "0xfh", -EINVAL, 0 },
		{ "12a", -EINVAL, 0 },
		{ "1K", 0, 1024 },
		{ "0K", 0, 0 },
		{ "1M", 0, 1 << 20 },
		{ "3G", 0, 3ULL << 30 },
		{ "0x10K", 0, 16384 },
		{ "0o10M", 0, 8 << 20 },
		{ "18014398509481983K", 0, MAX - 1023 },
		{ "18014398509481984K", -ERANGE, 0 },
		{ "17592186044415M", 0, MAX - ((1 << 20) - 1) },
		{ "17592186044416M", -ERANGE, 0 },
		{ "17179869183G", 0, MAX - ((1 << 30) - 1) },
		{ "17179869184G", -ERANGE, 0 },
		{ "18446744073709551616K", -ERANGE, 0 },
		{ "1KK", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 },
		{ "1KiB", -EINVAL, 0 },
		{ "1T", -EINVAL, 0 },
		{ "1 K", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "1.5K", -EINVAL, 0 },
		{ "1,2", -EINVAL, 0 },
		{ "18446744073709551616T", -EINVAL, 0 },        /* not a number, however large */
		{ "18446744073709551616KK", -EINVAL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 value = UNTOUCHED;
		int err = parse_u64(cases[i].text, &value);

		check("parse_u64", &cases[i], err, value);
	}
}

static void between_bounds(void **state)
{
	static const struct {
		struct text_case c;
		u64 min, max;
	} cases[] = {
		{ { "5", 0, 5 }, 5, 5 },
		{ { "4", -ERANGE, 0 }, 5, 5 },
		{ { "6", -ERANGE, 0 }, 5, 5 },
		{ { "0", 0, 0 }, 0, MAX },
		{ { "0", -ERANGE, 0 }, 1, MAX },
		{ { "18446744073709551615", 0, MAX }, 0, MAX },
		{ { "18446744073709551615", -ERANGE, 0 }, 0, MAX - 1 },
		{ { "18446744073709551616", -ERANGE, 0 }, 0, MAX },
		{ { "1K", 0, 1024 }, 1024, 1024 },
		{ { "1K", -ERANGE, 0 }, 0, 1023 },
		{ { "-1", -EINVAL, 0 }, 0, MAX },
		{ { "6x", -EINVAL, 0 }, 5, 5 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 value = UNTOUCHED;
		int err = parse_u64_between(cases[i].c.text, cases[i].min, cases[i].max, &value);

		check("parse_u64_between", &cases[i].c, err, value);
	}
}

static void durations(void **state)
{
	const u64 ms = NSEC_PER_MSEC, s = NSEC_PER_SEC;
	const struct {
		struct text_case c;
		u64 unit_ns;
	} cases[] = {
		{ { "0", 0, 0 }, s },
		{ { "1", 0, s }, s },
		{ { "1", 0, ms }, ms },
		{ { "1", 0, 1 }, 1 },
		{ { "10ns", 0, 10 }, s },
		{ { "10us", 0, 10000 }, s },
		{ { "10ms", 0, 10 * ms }, s },
		{ { "10s", 0, 10 * s }, ms },
		{ { "10m", 0, 600 * s }, ms },
		{ { "10h", 0, 36000 * s }, ms },
		{ { "007s", 0, 7 * s }, ms },
		{ { "2.5", 0, 2500 * ms }, s },
		{ { "2.5", 0, 2500000 }, ms },
		{ { "0.1", 0, 100 * ms }, s },
		{ { "0.001s", 0, ms }, s },
		{ { "1.5us", 0, 1500 }, s },
		{ { "1.000000001s", 0, s + 1 }, s },
		{ { "0.000000001", 0, 1 }, s },
		{ { "1.050", 0, 1050 * ms }, s },
		{ { "1.5m", 0, 90 * s }, s },
		{ { "0.5h", 0, 1800 * s }, s },
		{ { "0.999999999h", 0, 3599999996400ULL }, s },
		{ { "1.0000000001", -ERANGE, 0 }, s },          /* finer than a nanosecond */
		{ { "1.99999999999999999999999", -ERANGE, 0 }, s },
		{ { "18446744073709551615ns", 0, MAX }, s },
		{ { "18446744073709551615", 0, MAX }, 1 },
		{ { "18446744073709551616ns", -ERANGE, 0 }, s },
		{ { "18446744073.709551615s", 0, MAX }, s },
		{ { "18446744073.709551616s", -ERANGE, 0 }, s },
		{ { "18446744073", 0, 18446744073 * s }, s },
		{ { "18446744074", -ERANGE, 0 }, s },
		{ { "307445734m", 0, 60 * s * 307445734 }, s },
		{ { "307445735m", -ERANGE, 0 }, s },
		{ { "5124095h", 0, 3600 * s * 5124095 }, s },
		{ { "5124096h", -ERANGE, 0 }, s },
		{ { "1 s", -EINVAL, 0 }, s },
		{ { "1S", -EINVAL, 0 }, s },
		{ { "1ms ", -EINVAL, 0 }, s },
		{ { "1sec", -EINVAL, 0 }, s },
		{ { "1min", -EINVAL, 0 }, s },
		{ { "1d", -EINVAL, 0 }, s },
		{ { "1m30s", -EINVAL, 0 }, s },
		{ { "1,5s", -EINVAL, 0 }, s },
		{ { "s", -EINVAL, 0 }, s },
		{ { "1.s", -EINVAL, 0 }, s },
		{ { ".5s", 0, s / 2 }, s },
		{ { ".5", 0, s / 2 }, s },
		{ { ".s", -EINVAL, 0 }, s },
		{ { "..5", -EINVAL, 0 }, s },
		{ { "0x10", -EINVAL, 0 }, s },
		{ { "1K", -EINVAL, 0 }, s },
		{ { "99999999999999999999d", -EINVAL, 0 }, s },
		{ { "1.00000000000000000000000000d", -EINVAL, 0 }, s },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 value = UNTOUCHED;
		int err = parse_duration(cases[i].c.text, cases[i].unit_ns, &value);

		check("parse_duration", &cases[i].c, err, value);
	}
}

#define MOST_IDS 4

static void id_lists(void **state)
{
	static const struct {
		const char *text;
		int err;
		u32 min, max;
		size_t n;
		u32 ids[MOST_IDS];
	} cases[] = {
		{ "1", 0, 1, 100, 1, { 1 } },
		{ "1,22,100", 0, 1, 100, 3, { 1, 22, 100 } },
		{ "5,5,4,05", 0, 1, 100, 4, { 5, 5, 4, 5 } },   /* in the order given */
		{ "0", 0, 0, UINT32_MAX, 1, { 0 } },
		{ "4294967295", 0, 0, UINT32_MAX, 1, { UINT32_MAX } },
		{ "4294967296", -ERANGE, 0, UINT32_MAX, 0, {} },
		{ "4294967297", -ERANGE, 0, UINT32_MAX, 0, {} },        /* not 1 */
		{ "18446744073709551617", -ERANGE, 0, UINT32_MAX, 0, {} },
		{ "0", -ERANGE, 1, 100, 0, {} },
		{ "101", -ERANGE, 1, 100, 0, {} },
		{ "1,101,2", -ERANGE, 1, 100, 0, {} },
		{ "1,,2", -EINVAL, 1, 100, 0, {} },
		{ "1,", -EINVAL, 1, 100, 0, {} },
		{ ",1", -EINVAL, 1, 100, 0, {} },
		{ "1, 2", -EINVAL, 1, 100, 0, {} },
		{ "1;2", -EINVAL, 1, 100, 0, {} },
		{ "1-2", -EINVAL, 1, 100, 0, {} },
		{ "1,-2", -EINVAL, 1, 100, 0, {} },
		{ "1,2x", -EINVAL, 1, 100, 0, {} },
		{ "0x1", -EINVAL, 0, 100, 0, {} },
		{ "1K", -EINVAL, 1, 100, 0, {} },
		{ "101,x", -EINVAL, 1, 100, 0, {} },
	};
	size_t i, n;
	u32 *ids;
	int err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		n = UNTOUCHED;
		ids = (u32 *)&n;
		err = parse_id_list(cases[i].text, cases[i].min, cases[i].max, &ids, &n);
		if (err != cases[i].err)
			fail_msg("parse_id_list(\"%s\"): %d", cases[i].text, err);
		if (err) {
			assert_int_equal(n, UNTOUCHED);
			assert_ptr_equal(ids, &n);
			continue;
		}
		assert_int_equal(n, cases[i].n);
		assert_memory_equal(ids, cases[i].ids, n * sizeof(*ids));
		free(ids);
	}
}

static void a_long_id_list(void **state)
{
	char text[8 * 5000], *p = text;
	u32 *ids, i;
	size_t n;

	(void)state;
	for (i = 1; i <= 5000; i++)
		p += sprintf(p, "%s%u", i > 1 ? "," : "", i * 3);
	assert_int_equal(parse_id_list(text, 1, 15000, &ids, &n), 0);
	assert_int_equal(n, 5000);
	for (i = 0; i < n; i++)
		assert_int_equal(ids[i], 3 * (i + 1));
	free(ids);
}

static void cpu_lists(void **state)
{
	static const struct {
		const char *text;
		int err;
		u64 words[2];
	} cases[] = {
		{ "0", 0, { 1, 0 } },
		{ "63", 0, { 1ULL << 63, 0 } },
		{ "64", 0, { 0, 1 } },
		{ "127", 0, { 0, 1ULL << 63 } },
		{ "0-3,8", 0, { 0x10f, 0 } },
		{ "8,0-3", 0, { 0x10f, 0 } },
		{ "2-2", 0, { 4, 0 } },
		{ "1,1,0-1", 0, { 3, 0 } },
		{ "62-65", 0, { 3ULL << 62, 3 } },
		{ "0-127", 0, { MAX, MAX } },
		{ "007", 0, { 0x80, 0 } },
		{ "128", -ERANGE, {} },
		{ "0-128", -ERANGE, {} },
		{ "0-18446744073709551615", -ERANGE, {} },
		{ "18446744073709551615", -ERANGE, {} },
		{ "18446744073709551616", -ERANGE, {} },
		{ "18446744073709551616-18446744073709551617", -ERANGE, {} },
		{ "1,128,2", -ERANGE, {} },
		{ "3-1", -EINVAL, {} },
		{ "200-199", -EINVAL, {} },
		{ "1,,2", -EINVAL, {} },
		{ "1,", -EINVAL, {} },
		{ ",1", -EINVAL, {} },
		{ "1-", -EINVAL, {} },
		{ "-1", -EINVAL, {} },
		{ "1--2", -EINVAL, {} },
		{ "1-2-3", -EINVAL, {} },
		{ "1 -2", -EINVAL, {} },
		{ "1, 2", -EINVAL, {} },
		{ "0x1", -EINVAL, {} },
		{ "all", -EINVAL, {} },
		{ "0-3:2", -EINVAL, {} },
		{ "128,x", -EINVAL, {} },
		{ "0-999,3-1", -EINVAL, {} },
	};
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 words[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };

		err = parse_cpu_list(cases[i].text, words, 2);
		if (err != cases[i].err)
			fail_msg("parse_cpu_list(\"%s\"): %d", cases[i].text, err);
		assert_int_equal(words[0], err ? UNTOUCHED : cases[i].words[0]);
		assert_int_equal(words[1], err ? UNTOUCHED : cases[i].words[1]);
		assert_int_equal(words[2], UNTOUCHED);
	}
}

/* Every printed number is read back unchanged. */
static void numbers_come_back(void **state)
{
	struct random r = { 13 };
	char text[40];
	u32 n;

	(void)state;
	for (n = 0; n < 100000; n++) {
		u64 value = random__any_size(&r), back = ~value;

		switch (n % 4) {
		case 0:
			snprintf(text, sizeof(text), "%llu", value);
			break;
		case 1:
			snprintf(text, sizeof(text), "0x%llx", value);
			break;
		case 2:
			snprintf(text, sizeof(text), "0X%llX", value);
			break;
		default:
			snprintf(text, sizeof(text), "0o%llo", value);
		}
		assert_int_equal(parse_u64(text, &back), 0);
		assert_int_equal(back, value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_that_are_no_number),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(between_bounds),
		cmocka_unit_test(durations),
		cmocka_unit_test(id_lists),
		cmocka_unit_test(a_long_id_list),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(numbers_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
