// SPDX-License-Identifier: BSD-2-Clause
/* Patterns that the C library's regcomp(3) would not survive are refused; all others work as usual. */
#include "unit.h"

#include "base/pattern.h"

static void good(void **state)
{
	static const char *const patterns[] = {
		"read", "^(sys|do)_[a-z]+$", "a{2,3}", "((((((((x))))))))", "\\(\\(\\(", "[({]", "a|b|",
	};
	char why[128];
	regex_t regex;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		assert_int_equal(pattern__compile(&regex, patterns[i], why, sizeof(why)), 0);
		regfree(&regex);
	}
	assert_int_equal(pattern__compile(&regex, "a{2,3}b", why, sizeof(why)), 0);
	assert_int_equal(regexec(&regex, "xaaab", 0, NULL, 0), 0);
	assert_int_equal(regexec(&regex, "xab", 0, NULL, 0), REG_NOMATCH);
	regfree(&regex);
	assert_int_equal(pattern__compile(&regex, "(", why, sizeof(why)), -EINVAL);
}

static void too_much(void **state)
{
	static char open[50001], deep[2 * PATTERN_DEPTH + 4], long_one[PATTERN_MAX + 2];
	const char *const patterns[] = {
		open, deep, long_one, "a{20000}", "((a{100}){100}){100}", "(a{1,}){5,2000}",
	};
	char why[128];
	regex_t regex;
	size_t i;

	(void)state;
	memset(open, '(', sizeof(open) - 1);
	memset(deep, '(', PATTERN_DEPTH + 1);
	memset(deep + PATTERN_DEPTH + 1, ')', PATTERN_DEPTH + 1);
	memset(long_one, 'x', sizeof(long_one) - 1);
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		*why = 0;
		assert_int_equal(pattern__compile(&regex, patterns[i], why, sizeof(why)), -EINVAL);
		assert_true(*why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(too_much),
	};

	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
