// SPDX-License-Identifier: BSD-2-Clause
/*
 * drowsy N ROUNDS: N threads on two CPUs that compute for 1 ms and sleep for 5 ms, ROUNDS times. Meanwhile the main
 * thread moves each of them from one CPU to the other and back, whether it runs, waits, or has just gone to sleep.
 * Reports a lower bound for the ns that each thread has slept: done NS
 */
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "trigger.h"

#define RUN_NS 1000000
#define SLEEP_NS 5000000

static atomic_int working;
static long rounds;
static pid_t *tids;

static void doze(long i)
{
	struct timespec ts = { 0, SLEEP_NS };
	long k;

	tids[i] = syscall(SYS_gettid);
	for (k = 0; k < rounds; k++) {
		trigger__spin(RUN_NS);
		nanosleep(&ts, NULL);
	}
	atomic_fetch_sub(&working, 1);
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), r, i;
	struct timespec pause = { 0, 100000 };
	struct crew crew;

	rounds = trigger__number(argc, argv, 2);
	tids = calloc(n, sizeof(*tids));
	working = n;
	trigger__name();
	crew__hire(&crew, n, doze);
	setpriority(PRIO_PROCESS, 0, -20); /* for this thread, which must not wait for a CPU like the others */
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	for (r = 0; atomic_load(&working); r++) {
		for (i = 0; i < n; i++)
			if (tids[i])
				trigger__pin(tids[i], (r + i) % 2);
		nanosleep(&pause, NULL);
	}
	crew__finish(&crew);
	trigger__say("done %ld", rounds * SLEEP_NS);
	trigger__end();
}
