// SPDX-License-Identifier: BSD-2-Clause
/*
 * migrate N ROUNDS: N threads that compute all the time, more than there are CPUs. Meanwhile the main thread moves each
 * of them from one CPU to the other and back, ROUNDS times, whether it runs or waits. Two CPUs are used.
 */
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "trigger.h"

static atomic_bool stop;
static _Atomic pid_t *tids;

static void spin(long i)
{
	tids[i] = syscall(SYS_gettid);
	while (!atomic_load(&stop))
		;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), rounds = trigger__number(argc, argv, 2), r, i;
	struct timespec pause = { 0, 100000 };
	struct crew crew;
	cpu_set_t set;
	int cpu[2] = { -1, -1 };

	if (sched_getaffinity(0, sizeof(set), &set))
		error(1, errno, "sched_getaffinity");
	for (i = 0, r = 0; i < CPU_SETSIZE && r < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[r++] = i;
	if (r < 2)
		error(77, 0, "one CPU is not enough");
	tids = calloc(n, sizeof(*tids));
	trigger__name();
	crew__hire(&crew, n, spin);
	setpriority(PRIO_PROCESS, 0, -20); /* for this thread, which must not wait for a CPU like the others */
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	/* Wait until each thread has begun; else all ROUNDS may have passed before a thread exists. */
	for (i = 0; i < n; i++)
		while (!tids[i])
			nanosleep(&pause, NULL);
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < n; i++)
			trigger__pin(tids[i], cpu[(r + i) % 2]);
		nanosleep(&pause, NULL);
	}
	atomic_store(&stop, true);
	crew__finish(&crew);
	trigger__say("done");
	trigger__end();
}
