// SPDX-License-Identifier: BSD-2-Clause
/*
 * mazes N CALLS US: N times, each time by a different chain of calls: CALLS times getppid(2), a sleep of US
 * microseconds if US is not 0, malloc() and free(), and a pipe that is created and closed. Built with frame pointers.
 * The chain of number i is level() called from left() or right() at each of LEVELS levels, according to the bits of i.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define NOIPA __attribute__((noipa))
#define LEVELS 14

static long calls, us;
static volatile long sink;

void left(unsigned long bits, int levels);
void right(unsigned long bits, int levels);
void level(unsigned long bits, int levels);
void work(void);

NOIPA void left(unsigned long bits, int levels)
{
	level(bits, levels);
	sink = bits;
}

NOIPA void right(unsigned long bits, int levels)
{
	level(bits, levels);
	sink = bits;
}

NOIPA static long call(long number, const void *first, const void *second)
{
	long result = trigger__call(number, first, second);

	sink = (long)__builtin_frame_address(0);
	return result;
}

NOIPA void work(void)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };
	void *p = malloc(4000);
	int ends[2];
	long i;

	for (i = 0; i < calls; i++)
		call(SYS_getppid, NULL, NULL);
	if (us)
		call(SYS_nanosleep, &time, NULL);
	if (pipe(ends))
		error(1, errno, "pipe");
	close(ends[0]);
	close(ends[1]);
	sink = (long)p;
	free(p);
	sink = (long)__builtin_frame_address(0);
}

NOIPA void level(unsigned long bits, int levels)
{
	if (!levels)
		work();
	else if (bits & 1)
		right(bits >> 1, levels - 1);
	else
		left(bits >> 1, levels - 1);
	sink = bits;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;

	calls = trigger__number(argc, argv, 2);
	us = trigger__number(argc, argv, 3);
	if (n > 1L << LEVELS)
		error(1, 0, "at most %ld", 1L << LEVELS);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++)
		level(i, LEVELS);
	trigger__say("done");
	trigger__end();
}
