// SPDX-License-Identifier: BSD-2-Clause
/* "Did you mean": distances and choices. */
#include "unit.h"

#include "base/nearest.h"

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		u32 distance;
	} cases[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "a", "a", 0 },
		{ "a", "b", 1 },
		{ "abc", "abc", 0 },
		{ "abc", "ab", 1 },             /* delete */
		{ "abc", "xabc", 1 },           /* insert */
		{ "abc", "axc", 1 },            /* replace */
		{ "abc", "acb", 1 },            /* swap */
		{ "ab", "ba", 1 },
		{ "abcd", "badc", 2 },          /* two swaps */
		{ "ca", "abc", 3 },             /* a swapped pair is not edited again */
		{ "abcdef", "fedcba", 5 },
		{ "kitten", "sitting", 3 },
		{ "saturday", "sunday", 3 },
		{ "flaw", "lawn", 2 },
		{ "runqlat", "runqslower", 5 },
		{ "runqalt", "runqlat", 1 },
		{ "Pid", "pid", 1 },            /* case-sensitive */
		{ "aaaa", "aaa", 1 },
		{ "\xc3\xa9", "e", 2 },         /* bytes, not letters */
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(edit_distance(cases[i].a, cases[i].b), cases[i].distance);
		assert_int_equal(edit_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
}

static void letters_beyond_the_63rd_do_not_count(void **state)
{
	char a[101], b[101];

	(void)state;
	memset(a, 'a', 100);
	memset(b, 'a', 100);
	a[100] = b[100] = 0;
	memset(b + 63, 'b', 37);
	assert_int_equal(edit_distance(a, b), 0);
	b[62] = 'b';
	assert_int_equal(edit_distance(a, b), 1);
	assert_int_equal(edit_distance(a, ""), 63);
}

/* Optimal string alignment by its definition: slow, but obviously right. */
static u32 model_distance(const char *a, size_t n, const char *b, size_t m)
{
	u32 best, d;

	if (!n || !m)
		return n + m;
	best = model_distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
	d = model_distance(a, n - 1, b, m) + 1;
	best = d < best ? d : best;
	d = model_distance(a, n, b, m - 1) + 1;
	best = d < best ? d : best;
	if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
		d = model_distance(a, n - 2, b, m - 2) + 1;
		best = d < best ? d : best;
	}
	return best;
}

static void random_distances(void **state)
{
	struct random r = { 14 };
	char a[8], b[8];
	size_t n, m, i;
	u32 k;

	(void)state;
	for (k = 0; k < 5000; k++) {
		n = random__below(&r, 7);
		m = random__below(&r, 7);
		for (i = 0; i < n; i++)
			a[i] = 'a' + random__below(&r, 3);
		for (i = 0; i < m; i++)
			b[i] = 'a' + random__below(&r, 3);
		a[n] = b[m] = 0;
		assert_int_equal(edit_distance(a, b), model_distance(a, n, b, m));
	}
}

static const char *const options[] = {
	"pid", "tid", "uid", "cgroup", "cpu", "comm", "pidns", "all", "duration", "interval", "by",
	"max-keys", "top", "sort", "json", "csv", "format", "output", "timestamps", "verbose",
	"milliseconds", "explain", "strict", "ready-fd", "help", "usage", "version",
};

static void meant_options(void **state)
{
	static const struct {
		const char *typed, *meant;
	} cases[] = {
		{ "pdi", "pid" },       { "jsn", "json" },
		{ "jsom", "json" },     { "cgruop", "cgroup" },
		{ "cgropu", "cgroup" }, { "durration", "duration" },
		{ "intervall", "interval" }, { "timestamp", "timestamps" },
		{ "timstamp", "timestamps" }, { "maxkeys", "max-keys" },
		{ "max_keys", "max-keys" }, { "outptu", "output" },
		{ "verbos", "verbose" }, { "miliseconds", "milliseconds" },
		{ "millisecond", "milliseconds" }, { "strct", "strict" },
		{ "readyfd", "ready-fd" }, { "explian", "explain" },
		{ "hlep", "help" },     { "cup", "cpu" },
		{ "pid", "pid" },       { "max", "max-keys" },
		{ "time", "timestamps" }, { "o", "output" },
	};
	const char *near;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		near = nearest(cases[i].typed, options, ARRAY_SIZE(options));
		if (!near || strcmp(near, cases[i].meant))
			fail_msg("'%s': '%s' instead of '%s'", cases[i].typed, near ?: "nothing",
				 cases[i].meant);
	}
}

static void nothing_near(void **state)
{
	static const char *const far[] = {
		"zzz", "frobnicate", "qq", "", "stack-storage-size", "pppppp", "--", "strangest",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(far); i++)
		if (nearest(far[i], options, ARRAY_SIZE(options)))
			fail_msg("'%s' is near '%s'", far[i],
				 nearest(far[i], options, ARRAY_SIZE(options)));
	assert_null(nearest("pid", options, 0));
}

static void the_nearest_of_several(void **state)
{
	static const char *const names[] = { "statistics", "stats", "stat", "state" };
	static const char *const equal[] = { "cat", "bat", "rat" };

	(void)state;
	assert_string_equal(nearest("stat", names, 4), "stat");
	assert_string_equal(nearest("state", names, 4), "state");
	assert_string_equal(nearest("sta", names, 4), "stat");
	assert_string_equal(nearest("stati", names, 4), "stats");
	assert_string_equal(nearest("statis", names, 4), "stats");      /* preferred to a longer rest */
	assert_string_equal(nearest("statist", names, 4), "statistics");
	assert_string_equal(nearest("sat", equal, 3), "cat");   /* the first of equals */
}

static void a_beginning_is_always_near(void **state)
{
	static const char *const names[] = { "offcputime", "runqlat" };

	(void)state;
	assert_string_equal(nearest("o", names, 2), "offcputime");
	assert_string_equal(nearest("off", names, 2), "offcputime");
	assert_string_equal(nearest("r", names, 2), "runqlat");
	assert_null(nearest("", names, 2));     /* the empty text begins every name, so it suggests none */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(letters_beyond_the_63rd_do_not_count),
		cmocka_unit_test(random_distances),
		cmocka_unit_test(meant_options),
		cmocka_unit_test(nothing_near),
		cmocka_unit_test(the_nearest_of_several),
		cmocka_unit_test(a_beginning_is_always_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
