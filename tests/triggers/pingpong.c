// SPDX-License-Identifier: BSD-2-Clause
/*
 * pingpong ROUNDS CPU: two processes on CPU (-1: anywhere) that wake each other through pipes,
 * ROUNDS times each way. ready PARENT CHILD. The child's name is "pong" if the parent's is not set.
 */
#include <sys/wait.h>

#include "trigger.h"

static void answer(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1)
		if (write(out, &c, 1) != 1)
			break;
	_exit(0);
}

int main(int argc, char **argv)
{
	long rounds = trigger__number(argc, argv, 1), k;
	int ping[2], pong[2];
	char c = 0;
	pid_t pid;

	trigger__name();
	trigger__pin(0, trigger__number(argc, argv, 2));
	if (pipe(ping) || pipe(pong))
		error(1, errno, "pipe");
	pid = fork();
	if (pid < 0)
		error(1, errno, "fork");
	if (!pid) {
		close(ping[1]);
		close(pong[0]);
		if (!getenv("TRIGGER_COMM"))
			prctl(PR_SET_NAME, "pong");
		answer(ping[0], pong[1]);
	}
	close(ping[0]);
	close(pong[1]);
	trigger__say("ready %d %d", getpid(), pid);
	trigger__wait();
	for (k = 0; k < rounds; k++)
		if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
			error(1, errno, "pipe");
	trigger__say("done");
	trigger__wait();
	close(ping[1]);
	waitpid(pid, NULL, 0);
	return 0;
}
