// SPDX-License-Identifier: BSD-2-Clause
/*
 * slowly N THREADS MS: each thread calls handle(i) N times, which computes for a millisecond, waits for a millisecond
 * in poll() if i is odd, and naps for MS if i % 5 is 4. A call is slow if it takes half of MS.
 *
 *   ready
 *   done SLOW INNER OUTER NAPS POLLS OTHERS INNER OUTER NAPS POLLS UNCLEAR
 *
 * For slow calls and for the others: their number, how long they took by clocks that were read inside the function and
 * around it, and how long naps and polls took; ns. UNCLEAR calls are slow by one clock and not by the other.
 */
#include <poll.h>

#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

struct figures {
	uint64_t calls, inner, outer, naps, polls;
};

static long n, ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct figures all[2];
static uint64_t unclear;
static __thread struct figures own[2];
static __thread uint64_t own_unclear, nap, wait, inside;

void handle(long i);

static uint64_t now(void)
{
	return trigger__now(CLOCK_MONOTONIC);
}

static uint64_t take_nap(void)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	uint64_t begin = now();

	nanosleep(&time, NULL);
	return now() - begin;
}

static uint64_t wait_a_little(void)
{
	uint64_t begin = now();

	poll(NULL, 0, 1);
	return now() - begin;
}

NOINLINE void handle(long i)
{
	uint64_t begin = now();

	trigger__spin(1000000);
	wait = i % 2 ? wait_a_little() : 0;
	nap = i % 5 == 4 ? take_nap() : 0;
	inside = now() - begin;
}

static void count(uint64_t around)
{
	uint64_t limit = ms * 1000000ULL / 2;
	struct figures *f = &own[inside >= limit];

	own_unclear += (inside >= limit) != (around >= limit);
	f->calls++;
	f->inner += inside;
	f->outer += around;
	f->naps += nap;
	f->polls += wait;
}

static void add_up(void)
{
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < 2; i++) {
		all[i].calls += own[i].calls;
		all[i].inner += own[i].inner;
		all[i].outer += own[i].outer;
		all[i].naps += own[i].naps;
		all[i].polls += own[i].polls;
	}
	unclear += own_unclear;
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	uint64_t begin;
	long i;

	for (i = 0; i < n; i++) {
		begin = now();
		handle(i);
		count(now() - begin);
	}
	add_up();
	return unused;
}

int main(int argc, char **argv)
{
	long threads = trigger__number(argc, argv, 2), i;
	pthread_t thread[threads];

	n = trigger__number(argc, argv, 1);
	ms = trigger__number(argc, argv, 3);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < threads; i++)
		if ((errno = pthread_create(&thread[i], NULL, work, NULL)))
			error(1, errno, "pthread_create");
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	trigger__say("done %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu", all[1].calls, all[1].inner, all[1].outer,
		     all[1].naps, all[1].polls, all[0].calls, all[0].inner, all[0].outer, all[0].naps, all[0].polls,
		     unclear);
	trigger__end();
}
