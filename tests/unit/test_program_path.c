// SPDX-License-Identifier: BSD-2-Clause
/* The search along PATH. execvp(3) is the oracle: the search must find the file that it executes. */
#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program_path.h"

static char top[] = "/tmp/tally-unit-XXXXXX";

/* Makes a script that prints its own path; mode says whether it is executable. */
static void make(const char *name, mode_t mode)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs("#!/bin/sh\nprintf %s \"$0\"\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(name, mode), 0);
}

/* The file that execvp(3) executes, or "". */
static void executed(char text[PATH_MAX], const char *name)
{
	char *argv[] = { (char *)name, NULL };
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		execvp(name, argv);
		_exit(127);
	}
	close(ends[1]);
	n = read(ends[0], text, PATH_MAX - 1);
	text[n > 0 ? n : 0] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void as_execvp(void **state)
{
	static const char *const paths[] = {
		"a:b:c", "c:b:a", "nosuch:b", "b:nosuch", ":a", "a:", "a::b", "", ":", "nosuch",
	};
	static const char *const names[] = {
		"tool",	  "only-c", "plain",   "folder",   "here",     "nosuch",
		"a/tool", "./here", "./plain", "./folder", "a/nosuch",
	};
	char text[PATH_MAX], *found;
	size_t i, k, some = 0;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(setenv("PATH", paths[i], 1), 0);
		for (k = 0; k < ARRAY_SIZE(names); k++) {
			executed(text, names[k]);
			found = program_path(names[k]);
			if (strcmp(found ?: "", text))
				fail_msg("PATH='%s' %s: '%s', and execvp executes '%s'", paths[i], names[k],
					 found ?: "", text);
			some += found != NULL;
			free(found);
		}
	}
	assert_true(some > 30);
}

static void without_path(void **state)
{
	char *found;

	(void)state;
	assert_int_equal(unsetenv("PATH"), 0);
	found = program_path("sh");
	assert_non_null(found);
	assert_true(!strcmp(found, "/bin/sh") || !strcmp(found, "/usr/bin/sh"));
	free(found);
	assert_null(program_path("here"));
	assert_null(program_path(""));
}

/* Makes directories a to c, with files of equal and different names; some are not executable. */
static int set_up(void **state)
{
	static const char *const directories[] = { "a", "b", "c", "folder", "a/folder", "a/plain" };
	size_t i;

	(void)state;
	if (!mkdtemp(top) || chdir(top))
		return -1;
	for (i = 0; i < ARRAY_SIZE(directories); i++)
		if (mkdir(directories[i], 0755))
			return -1;
	make("a/tool", 0755);
	make("b/tool", 0644);
	make("c/tool", 0755);
	make("b/plain", 0755);
	make("c/only-c", 0755);
	make("here", 0755);
	make("plain", 0644);
	return 0;
}

static int tear_down(void **state)
{
	char command[sizeof(top) + 8];

	(void)state;
	setenv("PATH", "/bin:/usr/bin", 1);
	snprintf(command, sizeof(command), "rm -r %s", top);
	return chdir("/") || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_execvp),
		cmocka_unit_test(without_path),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
