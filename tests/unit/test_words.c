// SPDX-License-Identifier: BSD-2-Clause
/* Words are those that a POSIX shell makes of the same text. */
#include "unit.h"

#include "base/words.h"

static void splits(const char *text, const char *const *expected)
{
	char **words;
	int i, n = words__split(text, &words);

	assert_true(n >= 0);
	for (i = 0; expected[i]; i++) {
		assert_true(i < n);
		assert_string_equal(words[i], expected[i]);
	}
	assert_int_equal(n, i);
	assert_null(words[n]);
	free(words);
}

#define SPLITS(text, ...) splits(text, (const char *const[]){ __VA_ARGS__ })

static void good(void **state)
{
	(void)state;
	SPLITS("", NULL);
	SPLITS(" \t\n", NULL);
	SPLITS("a", "a", NULL);
	SPLITS(" a  bc\td ", "a", "bc", "d", NULL);
	SPLITS("a b c d e", "a", "b", "c", "d", "e", NULL);
	SPLITS("'a b' \"c d\"", "a b", "c d", NULL);
	SPLITS("a'b 'c\" d\"", "ab c d", NULL);
	SPLITS("'' \"\" x", "", "", "x", NULL);
	SPLITS("''''''", "", NULL);
	SPLITS("a\\ b \\' \"\\\"\" '\\'", "a b", "'", "\"", "\\", NULL);
	SPLITS("'a\"b' \"a'b\"", "a\"b", "a'b", NULL);
	SPLITS("--filter '$retval < 0' *", "--filter", "$retval < 0", "*", NULL);
}

static void bad(void **state)
{
	char **words;

	(void)state;
	assert_int_equal(words__split("'a", &words), -EINVAL);
	assert_int_equal(words__split("a\"", &words), -EINVAL);
	assert_int_equal(words__split("a \\", &words), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(good), cmocka_unit_test(bad) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
