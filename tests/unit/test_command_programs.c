// SPDX-License-Identifier: BSD-2-Clause
/* Programs that are named by the words of a command. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types/command_programs.h"

static char top[] = "/tmp/tally-unit-XXXXXX";

static int note(void *arg, const char *path)
{
	char *text = arg;

	strcat(text, strrchr(path, '/') + 1);
	strcat(text, " ");
	return 0;
}

static void assert_found(const char *wanted, char *const *command)
{
	char text[4096] = "";

	assert_int_equal(command_programs__each(command, note, text), 0);
	assert_string_equal(text, wanted);
}

#define FOUND(wanted, ...) assert_found(wanted, (char *const[]){ __VA_ARGS__, NULL })

static void words_of_a_command(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/two", top);
	FOUND("one ", "one");
	FOUND("", "none", "nor this");
	FOUND("one two ", "one", "-x", "two", "one");
	FOUND("one two ", "one", path);
	FOUND("one ", "one", "two three");
	FOUND("one two three ", "one", "-c", "two | three; none >plain");
	FOUND("one two three ", "one", "-ec", "X=$(two 'one') `\"three\"`", "none");
	FOUND("one ", "one", "-c");
	FOUND("one ", "one", "--exec", "two three");
}

static int stop(void *arg, const char *path)
{
	(void)path;
	return --*(int *)arg ? 0 : -EIO;
}

static void there_are_bounds(void **state)
{
	char *const command[] = { "one", "two", "three", NULL };
	char text[64 * 8] = "", *many[] = { "one", "-c", text, NULL }, found[64] = "";
	int n = 2, i;

	(void)state;
	assert_int_equal(command_programs__each(command, stop, &n), -EIO);
	assert_int_equal(n, 0);
	for (i = 0; i < 64; i++)
		memcpy(text + 8 * i, i == 63 ? "two" : "nothing ", i == 63 ? 4 : 8);
	assert_int_equal(command_programs__each(many, note, found), 0);
	assert_string_equal(found, "one two ");
}

static int make_programs(void **state)
{
	static const char *const names[] = { "one", "two", "three", "plain" };
	size_t i;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fd = open(names[i], O_CREAT | O_WRONLY, i < 3 ? 0755 : 0644);
		assert_true(fd >= 0);
		close(fd);
	}
	return setenv("PATH", top, 1);
}

static int remove_programs(void **state)
{
	static const char *const names[] = { "one", "two", "three", "plain" };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_a_command),
		cmocka_unit_test(there_are_bounds),
	};

	return cmocka_run_group_tests(tests, make_programs, remove_programs);
}
