// SPDX-License-Identifier: BSD-2-Clause
/*
 * pipes N M [move]: creates N pipes and closes M of them; with "move" on a different CPU than it created them on. The
 * kernel allocates two objects for each in alloc_pipe_info(). ready, done
 */
#include "trigger.h"

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		error(1, errno, "sched_setaffinity");
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), m = trigger__number(argc, argv, 2), i;
	int (*fd)[2] = calloc(n, sizeof(*fd));

	if (!fd)
		error(1, errno, "no memory");
	if (argc > 3)
		stay_on(0);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++)
		if (pipe(fd[i]))
			error(1, errno, "pipe");
	if (argc > 3)
		stay_on(1);
	for (i = 0; i < m; i++) {
		close(fd[i][0]);
		close(fd[i][1]);
	}
	trigger__say("done");
	trigger__end();
}
