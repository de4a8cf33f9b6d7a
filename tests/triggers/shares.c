// SPDX-License-Identifier: BSD-2-Clause
/*
 * shares MS CPU: spends MS ms of CPU time on CPU (-1: anywhere): 70 % of it in seventy(), 20 % in twenty() and 10 % in
 * ten(), in turns of random length, since equal turns could be in step with a sampling timer. Then reports its total
 * user and system time in microseconds: done USER SYSTEM. Built with frame pointers.
 */
#include <sys/resource.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

static volatile uint64_t sink;

/* Each function has its own loop (noipa: identical functions are not merged). A shared loop would get their time. */
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
	uint64_t at = trigger__now(CLOCK_THREAD_CPUTIME_ID), end = at + ms * 1000000ULL, part;
	uint32_t random = 1;

	while (at < end) {
		random = random * 1664525 + 1013904223;
		part = 500000 + random % 2000000;
		if (at + 10 * part > end)
			part = (end - at + 9) / 10;
		seventy(at + 7 * part);
		twenty(at + 9 * part);
		ten(at += 10 * part);
	}
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
