// SPDX-License-Identifier: BSD-2-Clause
/* The figures that are nearest to a limit. */
#include "triage/nearest.h"
#include "unit.h"

static const struct triage_rule plain = { .name = "plain", .by = "pid", .notice = 10, .next = "profile" };
static const struct triage_rule problem_alone = { .name = "problem", .by = "pid", .problem = 5, .next = "profile" };
static const struct triage_rule level = {
	.name = "level", .by = "pid", .per = TRIAGE_LEVEL, .notice = 10, .next = "profile"
};
static const struct triage_rule rising_level = {
	.name = "rising", .by = "pid", .per = TRIAGE_LEVEL, .rises = true, .notice = 10, .next = "profile"
};
static const struct triage_rule without_next = { .name = "without", .by = "pid", .notice = 10 };
static const struct triage_rule nobody = { .name = "nobody", .notice = 10, .next = "profile" };
static const struct triage_rule sum = { .name = "sum", .by = "pid", .whole = true, .notice = 10, .next = "profile" };

static struct triage_key key;

static struct triage_finding figure(const struct triage_rule *rule, double value)
{
	return (struct triage_finding){ .rule = rule,
					.looked = true,
					.value = value,
					.all = 2 * value,
					.problem = rule->problem,
					.key = { &key },
					.key_value = { value },
					.nkeys = 1 };
}

static bool is_of(const struct triage_near *near, const struct triage_finding *f)
{
	return near->finding.rule == f->rule && near->finding.value == f->value && near->finding.key[0] == f->key[0];
}

static void largest_shares_come_first(void **state)
{
	const struct triage_finding f[] = {
		figure(&plain, 1), figure(&problem_alone, 4), figure(&plain, 3), figure(&sum, 2.5), figure(&plain, 2),
	};
	struct triage_near near[TRIAGE_NEAREST];

	(void)state;
	assert_int_equal(triage_nearest(f, ARRAY_SIZE(f), near), 3);
	assert_true(is_of(&near[0], &f[1]));
	assert_float_equal(near[0].share, 0.8, 1e-9);
	assert_float_equal(near[0].limit, 5, 1e-9);
	assert_true(is_of(&near[1], &f[3]));
	assert_float_equal(near[1].share, 0.5, 1e-9);
	assert_true(is_of(&near[2], &f[2]));
	assert_int_equal(triage_nearest(f, 1, near), 1);
	assert_true(is_of(&near[0], &f[0]));
}

static void what_is_left_out(void **state)
{
	struct triage_finding f[] = {
		figure(&level, 9), figure(&without_next, 9), figure(&nobody, 9),	figure(&plain, 0.4),
		figure(&plain, 0), figure(&plain, 10),	     figure(&problem_alone, 6), figure(&plain, 9),
	};
	struct triage_near near[TRIAGE_NEAREST];

	(void)state;
	f[7].level = TRIAGE_NOTICE;
	assert_int_equal(triage_nearest(f, ARRAY_SIZE(f), near), 0);
	f[7].level = TRIAGE_FINE;
	assert_int_equal(triage_nearest(f, ARRAY_SIZE(f), near), 1);
	assert_true(is_of(&near[0], &f[7]));
}

static void a_level_that_a_fault_raises(void **state)
{
	const struct triage_finding f[] = { figure(&level, 9), figure(&rising_level, 4) };
	struct triage_near near[TRIAGE_NEAREST];

	(void)state;
	assert_int_equal(triage_nearest(f, ARRAY_SIZE(f), near), 1);
	assert_true(is_of(&near[0], &f[1]));
	assert_float_equal(near[0].share, 0.4, 1e-9);
}

static void behind_one_that_is_above_the_limit(void **state)
{
	static struct triage_key second;
	struct triage_finding f[] = { figure(&plain, 12), figure(&plain, 3), figure(&sum, 6) };
	struct triage_near near[TRIAGE_NEAREST];

	(void)state;
	f[0].level = f[2].level = TRIAGE_NOTICE;
	f[0].below = &second;
	f[0].below_value = 4;
	assert_int_equal(triage_nearest(f, ARRAY_SIZE(f), near), 2);
	assert_ptr_equal(near[0].finding.key[0], &second);
	assert_int_equal(near[0].finding.nkeys, 1);
	assert_float_equal(near[0].finding.value, 4, 1e-9);
	assert_float_equal(near[0].finding.key_value[0], 4, 1e-9);
	assert_float_equal(near[0].share, 0.4, 1e-9);
	assert_true(is_of(&near[1], &f[1]));
	/* A rule that has a reason to say nothing has it for all. */
	f[0].level = TRIAGE_FINE;
	assert_int_equal(triage_nearest(f, ARRAY_SIZE(f), near), 1);
	assert_true(is_of(&near[0], &f[1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_shares_come_first),
		cmocka_unit_test(what_is_left_out),
		cmocka_unit_test(a_level_that_a_fault_raises),
		cmocka_unit_test(behind_one_that_is_above_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
