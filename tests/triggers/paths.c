// SPDX-License-Identifier: BSD-2-Clause
/*
 * paths N: calls getppid() N times, each time by a different chain of calls: main() -> (zero() or one(), 21 times),
 * according to the bits of the call's number. N is 1,048,576 at most. A walk by frame pointers misses the innermost of
 * these frames, since syscall() makes none; it is the same in all chains.
 */
#include <sys/syscall.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define LEVELS 21

void zero(long path, long left);
void one(long path, long left);

static void go_on(long path, long left)
{
	if (!left)
		syscall(SYS_getppid);
	else if (path & 1)
		one(path >> 1, left - 1);
	else
		zero(path >> 1, left - 1);
}

__attribute__((noipa)) void zero(long path, long left)
{
	go_on(path, left);
	__asm__ volatile("");   /* prevents a tail call and merging with one() */
}

__attribute__((noipa)) void one(long path, long left)
{
	go_on(path, left);
	__asm__ volatile("nop");
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;

	if (n > 1L << (LEVELS - 1))
		error(2, 0, "there are %ld", 1L << (LEVELS - 1));
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++)
		go_on(i, LEVELS);
	trigger__say("done");
	trigger__end();
}
