// SPDX-License-Identifier: BSD-2-Clause
/* Names of errors, signals and flags (user/host), and words of shells (report/shell.h). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "host/errno_name.h"
#include "host/open_flags.h"
#include "host/signal_name.h"
#include "report/escape.h"
#include "report/shell.h"

#include "unit.h"

static void test_errors(void **state)
{
	int error = 0, i;

	(void)state;
	assert_string_equal(errno_name(ENOENT), "ENOENT");
	assert_string_equal(errno_name(512), "ERESTARTSYS");
	assert_null(errno_name(0));
	assert_null(errno_name(4000));
	for (i = 1; i < 134; i++) {
		if (!errno_name(i))
			continue;
		assert_int_equal(errno_number(errno_name(i), &error), 0);
		assert_int_equal(error, i);
	}
	assert_int_equal(errno_number("13", &error), 0);
	assert_int_equal(error, EACCES);
	assert_int_equal(errno_number("EWHAT", &error), -EINVAL);
	assert_int_equal(errno_number("", &error), -EINVAL);
	assert_int_equal(errno_number("0", &error), -EINVAL);
	assert_int_equal(error, EACCES);
}

static void test_signals(void **state)
{
	char text[SIGNAL_NAME_SPACE];
	int number = 0, i;

	(void)state;
	assert_string_equal(signal_name(text, SIGKILL), "SIGKILL");
	assert_string_equal(signal_name(text, 32), "32");
	assert_string_equal(signal_name(text, 34), "SIGRTMIN");
	assert_string_equal(signal_name(text, 38), "SIGRTMIN+4");
	assert_string_equal(signal_name(text, 64), "SIGRTMIN+30");
	assert_string_equal(signal_name(text, 200), "200");
	for (i = 1; i <= SIGNALS; i++) {
		assert_int_equal(signal_number(signal_name(text, i), &number), 0);
		assert_int_equal(number, i);
	}
	assert_int_equal(signal_number("TERM", &number), 0);
	assert_int_equal(number, SIGTERM);
	assert_int_equal(signal_number("SIGRTMAX-1", &number), 0);
	assert_int_equal(number, 63);
	assert_int_equal(signal_number("RTMAX", &number), 0);
	assert_int_equal(number, 64);
	assert_int_equal(signal_number("RTMAX-31", &number), -EINVAL);
	assert_int_equal(signal_number("65", &number), -EINVAL);
	assert_int_equal(signal_number("SIGWHAT", &number), -EINVAL);
	assert_string_equal(signal_code_name(text, SIGTERM, SI_USER), "SI_USER");
	assert_string_equal(signal_code_name(text, SIGCHLD, CLD_KILLED), "CLD_KILLED");
	assert_string_equal(signal_code_name(text, SIGSEGV, SEGV_MAPERR), "SEGV_MAPERR");
	assert_string_equal(signal_code_name(text, SIGTERM, 2), "2");
}

static void test_flags(void **state)
{
	char text[OPEN_FLAGS_SPACE];

	(void)state;
	assert_string_equal(open_flags(text, 0), "O_RDONLY");
	assert_string_equal(open_flags(text, O_RDWR | O_CREAT | O_EXCL), "O_RDWR|O_CREAT|O_EXCL");
	assert_string_equal(open_flags(text, O_WRONLY | O_SYNC), "O_WRONLY|O_SYNC");
	assert_string_equal(open_flags(text, O_DSYNC), "O_RDONLY|O_DSYNC");
	assert_string_equal(open_flags(text, O_TMPFILE | O_RDWR), "O_RDWR|O_TMPFILE");
	assert_string_equal(open_flags(text, O_DIRECTORY), "O_RDONLY|O_DIRECTORY");
	assert_string_equal(open_flags(text, 3), "O_ACCMODE");
	assert_string_equal(open_flags(text, 1ULL << 40), "O_RDONLY|0x10000000000");
	assert_true(strlen(open_flags(text, ~0ULL)) < OPEN_FLAGS_SPACE);
	assert_true(open_flags_create(O_CREAT));
	assert_true(open_flags_create(O_TMPFILE));
	assert_false(open_flags_create(O_DIRECTORY));
}

static void test_words(void **state)
{
	static const char words[] = "a\0b c\0\0it's\0\x1b\\'\0x=1";
	char line[SHELL_SPACE(sizeof(words), 8)], shown[ESCAPE_SPACE(sizeof(line))];
	size_t n = shell_words(line, words, sizeof(words));

	(void)state;
	assert_int_equal(n, strlen(line));
	escape(shown, line, n);
	assert_string_equal(shown, "a 'b c' '' 'it'\"'\"'s' $'\\x1b\\x5c'\"'\"$'' x=1");
	assert_int_equal(shell_words(line, "", 0), 0);
	assert_string_equal(line, "");
	shell_words(line, "cut off", 3);        /* without its NUL */
	assert_string_equal(line, "cut");
}

/* The worst cases fit: nothing but quotes, and nothing but empty words. */
static void test_space(void **state)
{
	char words[64], line[SHELL_SPACE(sizeof(words), sizeof(words))];

	(void)state;
	memset(words, '\'', sizeof(words));
	assert_true(shell_words(line, words, sizeof(words)) < SHELL_SPACE(sizeof(words), 1));
	memset(words, 0, sizeof(words));
	assert_true(shell_words(line, words, sizeof(words)) < sizeof(line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors), cmocka_unit_test(test_signals),
		cmocka_unit_test(test_flags), cmocka_unit_test(test_words),
		cmocka_unit_test(test_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
