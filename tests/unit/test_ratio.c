// SPDX-License-Identifier: BSD-2-Clause
/* The figure beside a count: its ratio to another count, or its rate. */
#include "unit.h"

#include <math.h>

#include "events/stat/ratio.h"

#define SECOND 1000000000ULL

static struct ratio_count counted(const char *name, double value)
{
	return (struct ratio_count){ name, value, true, !strncmp(name, "task-clock", 10) ||
						       !strncmp(name, "cpu-clock", 9) };
}

static void assert_ratio(const struct ratio_count *counts, size_t n, size_t i, u64 elapsed,
			 double value, const char *of)
{
	struct ratio ratio;

	assert_true(ratio__derive(&ratio, counts, n, i, elapsed));
	assert_string_equal(ratio.of, of);
	if (fabs(ratio.value - value) > 1e-9 * fmax(1, fabs(value)))
		fail_msg("%s: %.17g is not %.17g", of, ratio.value, value);
}

static void of_each_other(void **state)
{
	static const struct { const char *part, *whole, *of; double value; } pairs[] = {
		{ "instructions", "cycles", "insn per cycle", 0.25 },
		{ "instructions", "cpu-cycles", "insn per cycle", 0.25 },
		{ "stalled-cycles-frontend", "cycles", "% of cycles", 25 },
		{ "branch-misses", "branches", "% of branches", 25 },
		{ "branch-misses", "branch-instructions", "% of branches", 25 },
		{ "cache-misses", "cache-references", "% of cache-references", 25 },
		{ "L1-dcache-load-misses", "L1-dcache-loads", "% of L1-dcache-loads", 25 },
		{ "LLC-load-misses", "LLC-loads", "% of LLC-loads", 25 },
		{ "dTLB-load-misses", "dTLB-loads", "% of dTLB-loads", 25 },
		{ "instructions:u", "cycles:u", "insn per cycle", 0.25 },
		{ "cycles", "task-clock", "GHz", 0.25 },
		{ "cycles:u", "task-clock", "GHz", 0.25 },
		{ "cycles", "task-clock:u", "GHz", 0.25 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct ratio_count counts[] = {
			counted("cs", 7), counted(pairs[i].part, 100), counted(pairs[i].whole, 400),
		};

		assert_ratio(counts, ARRAY_SIZE(counts), 1, SECOND, pairs[i].value, pairs[i].of);
	}
}

/* Names that share only a prefix or a suffix do not match, nor do names with different modifiers. */
static void of_nobody_else(void **state)
{
	static const struct { const char *part, *whole; } pairs[] = {
		{ "instructions", "cycles:u" }, { "instructions:u", "cycles" },
		{ "instructions:u", "cycles:k" }, { "instructions", "cycles2" },
		{ "instructions", "my-cycles" }, { "instructionsx", "cycles" },
		{ "branches", "branch-misses" }, { "cache-misses", "branches" },
		{ "sched:instructions", "cycles" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct ratio_count counts[] = {
			counted(pairs[i].part, 100), counted(pairs[i].whole, 400),
		};

		assert_ratio(counts, ARRAY_SIZE(counts), 0, 2 * SECOND, 50, "/s");
	}
}

static void by_time(void **state)
{
	const struct ratio_count counts[] = {
		counted("cs", 30), counted("task-clock", 3.0 * SECOND / 2), counted("page-faults", 60),
	};

	(void)state;
	assert_ratio(counts, 1, 0, SECOND / 2, 60, "/s");
	assert_ratio(counts, 3, 0, SECOND / 2, 20, "/s of task-clock");
	assert_ratio(counts, 3, 2, SECOND / 2, 40, "/s of task-clock");
	assert_ratio(counts, 3, 1, SECOND / 2, 3, "CPUs utilised");
}

static void nothing_to_compare_with(void **state)
{
	struct ratio_count counts[] = {
		counted("instructions", 100), counted("cycles", 0), counted("task-clock", 0),
	};
	struct ratio ratio = { 1, "as it was" };

	(void)state;
	/* A divisor of 0 is skipped, and the next best one is taken. */
	assert_ratio(counts, 3, 0, SECOND, 100, "/s");
	assert_ratio(counts, 3, 1, SECOND, 0, "/s");
	assert_ratio(counts, 3, 2, SECOND, 0, "CPUs utilised");
	counts[1].value = 400;
	counts[1].counted = false;
	assert_ratio(counts, 3, 0, SECOND, 100, "/s");
	assert_false(ratio__derive(&ratio, counts, 3, 1, SECOND));
	assert_false(ratio__derive(&ratio, counts, 3, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_other),
		cmocka_unit_test(of_nobody_else),
		cmocka_unit_test(by_time),
		cmocka_unit_test(nothing_to_compare_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
