// SPDX-License-Identifier: BSD-2-Clause
/* Samples that did not come, because they were missed, or only by idleness or chance. Also tables of indexes. */
#include "unit.h"

#include "stack/names.h"
#include "stack/sampler.h"
#include "base/table.h"

static u64 missed(u64 due, u64 taken, u64 idle_taken, double idle_share)
{
	struct sampler_seen seen = { taken, idle_taken };
	u64 elapsed = due * NSEC_PER_SEC / 100;

	return samples_missed(100, due, &seen, elapsed, (u64)(elapsed * idle_share));
}

static void a_busy_cpu_misses_what_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(missed(1000, 1000, 0, 0), 0);
	assert_int_equal(missed(1000, 1003, 0, 0), 0);
	assert_int_equal(missed(1000, 999, 0, 0), 1);
	assert_int_equal(missed(1000, 0, 0, 0), 1000);
	assert_int_equal(missed(0, 0, 0, 0), 0);
}

static void an_idle_cpu_misses_nothing(void **state)
{
	(void)state;
	assert_int_equal(missed(1000, 0, 0, 1), 0);
	assert_int_equal(missed(1000, 10, 10, 1), 0);
	assert_int_equal(missed(1000, 10, 10, 1.5), 0);
	/* The CPU is busy for a tenth of the time, and sampled as often, or by chance a little less. */
	assert_int_equal(missed(1000, 100, 0, 0.9), 0);
	assert_int_equal(missed(1000, 90, 5, 0.9), 0);
}

static void no_more_than_the_busy_time_accounts_for(void **state)
{
	u64 n;

	(void)state;
	n = missed(1000, 100, 0, 0.5);
	assert_in_range(n, 399, 401);
	/* All samples but ten have come, so no more than ten are missing. */
	assert_int_equal(missed(1000, 990, 700, 0.5), 10);
}

static void what_was_missed_stays_idle_or_busy(void **state)
{
	struct sampler_cpu c = {};

	(void)state;
	sampler_cpu__divide(&c, 10, 3);
	assert_int_equal(c.missed, 10);
	assert_int_equal(c.missed_idle, 7);
	assert_int_equal(c.gained_idle, 7);
	/* A later estimate says that two of the three were idle, but they have been reported already. */
	sampler_cpu__divide(&c, 10, 1);
	assert_int_equal(c.missed_idle, 7);
	assert_int_equal(c.gained_idle, 0);
	/* Or it says that seven more were busy, although only four more are missing. */
	sampler_cpu__divide(&c, 14, 10);
	assert_int_equal(c.missed, 14);
	assert_int_equal(c.missed_idle, 7);
	assert_int_equal(c.gained_idle, 0);
	/* A sample that was taken for missing has come. */
	sampler_cpu__divide(&c, 13, 7);
	assert_int_equal(c.missed, 14);
	assert_int_equal(c.missed_idle, 7);
	sampler_cpu__divide(&c, 20, 9);
	assert_int_equal(c.missed_idle, 11);
	assert_int_equal(c.gained_idle, 4);
}

static bool same_number(const void *array, u32 index, const void *key)
{
	return ((const u64 *)array)[index] == *(const u64 *)key;
}

static void tables_find_what_was_added(void **state)
{
	static u64 number[5000];
	struct table t = {};
	u64 other = 1;
	size_t i;

	(void)state;
	assert_int_equal(table__find(&t, 5, same_number, number, &other), -1);
	for (i = 0; i < ARRAY_SIZE(number); i++) {
		number[i] = i * i * 2;
		/* Bad hashes: many are equal. */
		assert_int_equal(table__add(&t, number[i] % 512, i), 0);
	}
	for (i = 0; i < ARRAY_SIZE(number); i++)
		assert_int_equal(table__find(&t, number[i] % 512, same_number, number, &number[i]), i);
	assert_int_equal(table__find(&t, 1, same_number, number, &other), -1);
	assert_true(table_hash(0, "abc", 3) != table_hash(0, "abc", 4));
	assert_true(table_hash(0, "ab", 2) == table_hash(0, "ab", 2));
	table__free(&t);
}

static bool first(const char *name, const char *module, u32 n)
{
	struct symbol s = { .name = name, .module = module };

	return is_first_function(&s, n);
}

static void where_threads_begin(void **state)
{
	(void)state;
	assert_true(first("_start", "prog", 5));
	assert_true(first("__libc_start_main@@GLIBC_2.34", "libc.so.6", 1));
	assert_true(first("clone3", "libc.so.6", 4));
	assert_true(first(NULL, "libc.so.6", 4));
	assert_true(first(NULL, "libc-2.31.so", 4));
	assert_false(first(NULL, "libc.so.6", 1));
	assert_false(first("memcpy", "libc.so.6", 4));
	assert_false(first("_starting", "prog", 4));
	assert_false(first(NULL, "prog", 4));
	assert_false(first(NULL, NULL, 4));
}

static bool other(const char *frame, const char *inner)
{
	struct symbol s = { .name = frame, .module = "prog" }, i = { .name = inner, .module = "prog" };

	return is_other_thread(&s, &i);
}

static void where_threads_of_go_begin(void **state)
{
	(void)state;
	assert_true(first("runtime.mstart", "prog", 4));
	assert_true(first("runtime.mstart.abi0", "prog", 4));
	assert_false(first("runtime.mstart0", "prog", 4));
	assert_false(first("main.start.abi0", "prog", 4));
	assert_true(other("runtime.newm1", "runtime.mstart"));
	assert_true(other("runtime.newm1", "runtime.mstart.abi0"));
	assert_true(other(NULL, "runtime.mstart.abi0"));
	assert_false(other("runtime.rt0_go", "runtime.mstart"));
	assert_false(other("runtime.rt0_go.abi0", "runtime.mstart.abi0"));
	assert_false(other("crosscall_amd64", "runtime.mstart.abi0"));
	assert_false(other("runtime.mstart.abi0", "runtime.mstart0"));
	assert_false(other("main.main", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_cpu_misses_what_is_not_there),
		cmocka_unit_test(an_idle_cpu_misses_nothing),
		cmocka_unit_test(no_more_than_the_busy_time_accounts_for),
		cmocka_unit_test(what_was_missed_stays_idle_or_busy),
		cmocka_unit_test(tables_find_what_was_added),
		cmocka_unit_test(where_threads_begin),
		cmocka_unit_test(where_threads_of_go_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
