// SPDX-License-Identifier: BSD-2-Clause
/*
 * shares MS CPU: spends MS ms of CPU time on CPU (-1: anywhere): 70 % of it in seventy(), then 20 % in
 * twenty() and 10 % in ten(). Not by turns, which a sampling timer could be in step with. Then says how
 * many microseconds of user and of system time it has used in all: done USER SYSTEM. Built
 * with frame pointers.
 */
#include <sys/resource.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

static volatile uint64_t sink;

/* Its own loop in each of them (noipa: equal functions are not merged): shared ones would take the time. */
#define SPIN_UNTIL(end)                                                 \
	do {                                                            \
		for (int i = 0; i < 20000; i++)                         \
			sink += i;                                      \
	} while (trigger__now(CLOCK_THREAD_CPUTIME_ID) < (end))

static __attribute__((noipa)) void seventy(uint64_t end)
{
	SPIN_UNTIL(end);
}

static __attribute__((noipa)) void twenty(uint64_t end)
{
	SPIN_UNTIL(end);
}

static __attribute__((noipa)) void ten(uint64_t end)
{
	SPIN_UNTIL(end);
}

static __attribute__((noipa)) void work(long ms)
{
	uint64_t start = trigger__now(CLOCK_THREAD_CPUTIME_ID), part = ms * 100000ULL;

	seventy(start + 7 * part);
	twenty(start + 9 * part);
	ten(start + 10 * part);
}

int main(int argc, char **argv)
{
	long ms = trigger__number(argc, argv, 1);
	struct rusage usage;

	trigger__name();
	trigger__pin(0, trigger__number(argc, argv, 2));
	trigger__say("ready");
	trigger__wait();
	work(ms);
	getrusage(RUSAGE_SELF, &usage);
	trigger__say("done %ld %ld", usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec,
		     usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec);
	trigger__end();
}
