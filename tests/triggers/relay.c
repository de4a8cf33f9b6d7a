// SPDX-License-Identifier: BSD-2-Clause
/*
 * relay N MS: main calls handle(i) N times, which computes for a millisecond and waits for "worker". This thread
 * computes for a millisecond, too, and if i % 5 is 4 it then waits for "helper", which naps for MS and computes for
 * 2 ms. A call is slow if it takes half of MS.
 *
 *   ready
 *   done SLOW INNER OUTER OWN WORKER HELPER NAPS OTHERS INNER OUTER OWN WORKER HELPER NAPS UNCLEAR
 *
 * For slow calls and for the others: their number; how long they took by clocks that were read inside the function and
 * around it; the CPU time of each thread for them, and how long the naps took; ns. UNCLEAR calls are slow by one clock
 * and not by the other.
 */
#include <semaphore.h>

#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

struct figures {
	uint64_t calls, inner, outer, own, worker, helper, naps;
};

static long n, ms;
static sem_t request, reply;
static int question[2], answer[2];
static bool asks;
static struct figures of_call, all[2]; /* all[1]: of slow ones */
static uint64_t unclear;

void handle(long i);

static uint64_t now(void)
{
	return trigger__now(CLOCK_MONOTONIC);
}

static uint64_t cpu(void)
{
	return trigger__now(CLOCK_THREAD_CPUTIME_ID);
}

static void must(bool ok, const char *what)
{
	if (!ok)
		error(1, errno, "%s", what);
}

static void *help(void *unused)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	uint64_t begin, used;
	char c;

	prctl(PR_SET_NAME, "helper");
	while (read(question[0], &c, 1) == 1) {
		used = cpu();
		begin = now();
		nanosleep(&time, NULL);
		of_call.naps = now() - begin;
		trigger__spin(2000000);
		of_call.helper = cpu() - used;
		must(write(answer[1], &c, 1) == 1, "write");
	}
	return unused;
}

static void *work(void *unused)
{
	uint64_t used;
	char c = 0;

	prctl(PR_SET_NAME, "worker");
	for (;;) {
		must(!sem_wait(&request), "sem_wait");
		used = cpu();
		trigger__spin(1000000);
		if (asks)
			must(write(question[1], &c, 1) == 1 && read(answer[0], &c, 1) == 1, "the helper");
		of_call.worker = cpu() - used;
		sem_post(&reply);
	}
	return unused;
}

NOINLINE void handle(long i)
{
	uint64_t begin = now(), used = cpu();

	trigger__spin(1000000);
	asks = i % 5 == 4;
	sem_post(&request);
	must(!sem_wait(&reply), "sem_wait");
	of_call.own = cpu() - used;
	of_call.inner = now() - begin;
}

static void count(uint64_t around)
{
	uint64_t limit = ms * 1000000ULL / 2;
	struct figures *f = &all[of_call.inner >= limit];

	unclear += (of_call.inner >= limit) != (around >= limit);
	f->calls++;
	f->inner += of_call.inner;
	f->outer += around;
	f->own += of_call.own;
	f->worker += of_call.worker;
	f->helper += of_call.helper;
	f->naps += of_call.naps;
}

static void say(void)
{
	trigger__say("done %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu", all[1].calls, all[1].inner,
		     all[1].outer, all[1].own, all[1].worker, all[1].helper, all[1].naps, all[0].calls, all[0].inner,
		     all[0].outer, all[0].own, all[0].worker, all[0].helper, all[0].naps, unclear);
}

int main(int argc, char **argv)
{
	pthread_t worker, helper;
	uint64_t begin;
	long i;

	n = trigger__number(argc, argv, 1);
	ms = trigger__number(argc, argv, 2);
	trigger__name();
	must(!pipe(question) && !pipe(answer), "pipe");
	must(!sem_init(&request, 0, 0) && !sem_init(&reply, 0, 0), "sem_init");
	must(!pthread_create(&worker, NULL, work, NULL) && !pthread_create(&helper, NULL, help, NULL),
	     "pthread_create");
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++) {
		of_call = (struct figures){};
		begin = now();
		handle(i);
		count(now() - begin);
	}
	say();
	trigger__end();
}
