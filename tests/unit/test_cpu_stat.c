// SPDX-License-Identifier: BSD-2-Clause
/* cpu_stat__parse() on the texts of cgroup v1 and v2 that Documentation/admin-guide/cgroup-v2.rst and
 * scheduler/sched-bwc.rst describe. */
#include "unit.h"

#include "host/cpu_stat.h"

static struct cpu_stat parsed(const char *text)
{
	struct cpu_stat s = { .id = 7, .quota_us = 8 };

	cpu_stat__parse(&s, text);
	assert_int_equal(s.id, 7);
	assert_int_equal(s.quota_us, 8);
	return s;
}

static void version_2(void **state)
{
	struct cpu_stat s =
		parsed("usage_usec 91\nuser_usec 50\nsystem_usec 41\nnice_usec 0\ncore_sched.force_idle_usec 0\n"
		       "nr_periods 300\nnr_throttled 12\nthrottled_usec 123456\nnr_bursts 4\nburst_usec 5\n");

	(void)state;
	assert_int_equal(s.periods, 300);
	assert_int_equal(s.throttled, 12);
	assert_int_equal(s.throttled_ns, 123456000);
}

/* cgroup v1 has the time in nanoseconds. */
static void version_1(void **state)
{
	struct cpu_stat s = parsed("nr_periods 300\nnr_throttled 12\nthrottled_time 123456789012345\nwait_sum 6\n");

	(void)state;
	assert_int_equal(s.periods, 300);
	assert_int_equal(s.throttled, 12);
	assert_int_equal(s.throttled_ns, 123456789012345);
}

static void what_is_missing_stays(void **state)
{
	static const char *const texts[] = {
		"", "\n", "usage_usec 5", "nr_periods", "nr_periodsx 5\n", "xnr_periods 5\n"
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		struct cpu_stat s = parsed(texts[i]);

		assert_int_equal(s.periods | s.throttled | s.throttled_ns, 0);
	}
}

/* The last line may lack its newline, and the largest number is read correctly. */
static void ends(void **state)
{
	(void)state;
	assert_int_equal(parsed("nr_throttled 1\nnr_periods 18446744073709551615").periods, UINT64_MAX);
	assert_int_equal(parsed("nr_periods 2\n").periods, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_2),
		cmocka_unit_test(version_1),
		cmocka_unit_test(what_is_missing_stays),
		cmocka_unit_test(ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
