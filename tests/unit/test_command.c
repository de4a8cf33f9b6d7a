// SPDX-License-Identifier: BSD-2-Clause
/* Commands: their resource usage from exec on, and commands that die before exec. */
#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "run/command.h"
#include "unit.h"

static char *true_argv[] = { "true", NULL };

static void start(struct command *c, char **argv)
{
	struct command_setting setting = {};

	sigemptyset(&setting.signals);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &setting.files), 0);
	assert_int_equal(command__start(c, argv, &setting), 0);
}

static u64 micro(const struct timeval *tv)
{
	return tv->tv_sec * 1000000ULL + tv->tv_usec;
}

/* The parent's getrusage(2) grows by the usage of the whole process; the usage before exec does not count. */
static void usage_is_from_the_exec_on(void **state)
{
	struct rusage children, ended, usage;
	struct command c = {};
	int status;

	(void)state;
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &children), 0);
	start(&c, true_argv);
	assert_int_equal(command__go(&c), 0);
	assert_true(micro(&c.before.ru_utime) + micro(&c.before.ru_stime) > 0);
	assert_int_equal(command__wait(&c, &usage, &status), 0);
	assert_int_equal(status, 0);
	while (!command__has_ended(&c))
		;
	command__release(&c);
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &ended), 0);
	assert_int_equal(micro(&usage.ru_utime) + micro(&usage.ru_stime),
			 micro(&ended.ru_utime) + micro(&ended.ru_stime) -
			 micro(&children.ru_utime) - micro(&children.ru_stime) -
			 micro(&c.before.ru_utime) - micro(&c.before.ru_stime));
}

static void what_cannot_be_executed_is_said(void **state)
{
	char *argv[] = { "/no/such/command", NULL };
	struct command c = {};

	(void)state;
	start(&c, argv);
	assert_int_equal(command__go(&c), -ENOENT);
	command__release(&c);
}

static void a_killed_one_is_no_success(void **state)
{
	struct command c = {};
	siginfo_t info;

	(void)state;
	start(&c, true_argv);
	assert_int_equal(kill(c.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, c.pid, &info, WEXITED | WNOWAIT), 0);
	/* Tools ignore it, too, so that it does not kill them. */
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(command__go(&c), -ECHILD);
	command__release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_is_from_the_exec_on),
		cmocka_unit_test(what_cannot_be_executed_is_said),
		cmocka_unit_test(a_killed_one_is_no_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
