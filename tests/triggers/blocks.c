// SPDX-License-Identifier: BSD-2-Clause
/*
 * blocks KIND ROUNDS US: blocks in known functions, ROUNDS times. Built with frame pointers; the direct callers of the
 * C library are missing from a walk, so each has a caller of its own that is not.
 *
 *   0  main() -> work() -> short_naps() and long_naps(): sleeps of US us and of four times as much.
 *      done SHORT_ELAPSED SHORT_CPU LONG_ELAPSED LONG_CPU: ns by the clock and on a CPU
 *   1  a thread called "woken" waits in woken() -> waits_there(); main() -> work() -> wakes_there() wakes it
 *      after US us each time: done ELAPSED, ns from before each wait to after each wakeup
 *   2  main() -> work() -> blocks_for_ever()
 */
#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

static volatile uint64_t sink;
static long rounds, us;
static int to_thread[2], to_main[2];

static __attribute__((noinline)) void nap(long n)
{
	struct timespec ts = { n / 1000000, n % 1000000 * 1000 };

	nanosleep(&ts, NULL);
	sink++;         /* keeps the call from becoming a jump */
}

static __attribute__((noinline)) void hand(int fd)
{
	if (write(fd, "", 1) != 1)
		error(1, errno, "write");
	sink++;
}

static __attribute__((noinline)) void take(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		error(1, errno, "read");
	sink++;
}

struct spent {
	uint64_t elapsed, cpu;
};

static void begin(struct spent *s)
{
	s->elapsed -= trigger__now(CLOCK_MONOTONIC);
	s->cpu -= trigger__now(CLOCK_THREAD_CPUTIME_ID);
}

static void end(struct spent *s)
{
	s->cpu += trigger__now(CLOCK_THREAD_CPUTIME_ID);
	s->elapsed += trigger__now(CLOCK_MONOTONIC);
}

static __attribute__((noinline)) void short_naps(struct spent *s)
{
	begin(s);
	nap(us);
	end(s);
	sink++;
}

static __attribute__((noinline)) void long_naps(struct spent *s)
{
	begin(s);
	nap(4 * us);
	end(s);
	sink++;
}

static __attribute__((noinline)) void waits_there(void)
{
	take(to_thread[0]);
	sink++;
}

static __attribute__((noinline)) void wakes_there(void)
{
	hand(to_thread[1]);
	sink++;
}

static __attribute__((noinline)) void hold(void)
{
	pause();
	sink++;
}

static __attribute__((noinline)) void blocks_for_ever(void)
{
	hold();
	sink++;
}

static void *woken(void *arg)
{
	struct spent s = {};
	long i;

	if (prctl(PR_SET_NAME, "woken"))
		error(1, errno, "PR_SET_NAME");
	for (i = 0; i < rounds; i++) {
		begin(&s);
		waits_there();
		end(&s);
		hand(to_main[1]);
	}
	*(struct spent *)arg = s;
	return NULL;
}

static __attribute__((noinline)) void work(long kind)
{
	struct spent a = {}, b = {};
	pthread_t thread;
	long i;

	if (kind == 2) {
		blocks_for_ever();
		return;
	}
	if (kind == 1 && (pipe(to_thread) || pipe(to_main)))
		error(1, errno, "pipe");
	if (kind == 1 && pthread_create(&thread, NULL, woken, &a))
		error(1, 0, "pthread_create");
	for (i = 0; i < rounds; i++) {
		if (kind == 0) {
			short_naps(&a);
			long_naps(&b);
		} else {
			nap(us);
			wakes_there();
			take(to_main[0]);
		}
	}
	if (kind == 1) {
		pthread_join(thread, NULL);
		trigger__say("done %lu %lu", a.elapsed, a.cpu);
	} else {
		trigger__say("done %lu %lu %lu %lu", a.elapsed, a.cpu, b.elapsed, b.cpu);
	}
}

int main(int argc, char **argv)
{
	long kind = trigger__number(argc, argv, 1);

	rounds = trigger__number(argc, argv, 2);
	us = trigger__number(argc, argv, 3);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	work(kind);
	trigger__end();
}
