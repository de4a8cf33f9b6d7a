// SPDX-License-Identifier: BSD-2-Clause
/*
 * mayflies N CALLS PAUSE: N processes, one after the other, each of which calls getppid(2) CALLS times and exits, with
 * PAUSE microseconds between them.
 * done FIRST LAST: the first and last pid
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

static pid_t live(long calls)
{
	pid_t pid = fork();

	if (pid < 0)
		error(1, errno, "fork");
	if (!pid) {
		while (calls--)
			syscall(SYS_getppid);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		error(1, errno, "waitpid");
	return pid;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), calls = trigger__number(argc, argv, 2);
	long pause = trigger__number(argc, argv, 3), i;
	pid_t first = 0, last = 0;

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++) {
		last = live(calls);
		first = first ?: last;
		usleep(pause);
	}
	trigger__say("done %d %d", first, last);
	trigger__end();
}
