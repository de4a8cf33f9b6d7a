// SPDX-License-Identifier: BSD-2-Clause
/*
 * family ROUNDS: a process, its child, its grandchild and an orphan (a daemon, whose parent has exited) with two
 * threads each, which sleep 100 us, ROUNDS times. For use with "-- family": it waits for no input. Reports the pids of
 * the four: done SELF CHILD GRANDCHILD ORPHAN
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "trigger.h"

static long rounds;
static pid_t *pids;

static void *nap(void *arg)
{
	struct timespec ts = { 0, 100000 };
	long k;

	(void)arg;
	for (k = 0; k < rounds; k++)
		nanosleep(&ts, NULL);
	return NULL;
}

static void live(int who)
{
	pthread_t thread;

	pids[who] = getpid();
	if (pthread_create(&thread, NULL, nap, NULL))
		error(1, errno, "pthread_create");
	nap(NULL);
	pthread_join(thread, NULL);
}

static pid_t must_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		error(1, errno, "fork");
	return pid;
}

int main(int argc, char **argv)
{
	int end[2];
	pid_t pid;
	char c;

	rounds = trigger__number(argc, argv, 1);
	pids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pids == MAP_FAILED || pipe(end))
		error(1, errno, "memory");
	pid = must_fork();
	if (!pid) {
		if (!must_fork()) {
			live(2);
			_exit(0);
		}
		if (!must_fork()) {
			setsid();
			if (!must_fork())
				live(3); /* the pipe closes when it exits */
			_exit(0);
		}
		live(1);
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	close(end[1]);
	live(0);
	waitpid(pid, NULL, 0);
	while (read(end[0], &c, 1) > 0)
		;
	trigger__say("done %d %d %d %d", pids[0], pids[1], pids[2], pids[3]);
	_exit(0); /* a sanitizer's exit handler would fork again */
}
