// SPDX-License-Identifier: BSD-2-Clause
/*
 * unrolled N: functions that are inlined in loops, which -O3 -funroll-loops duplicates. Prints ready, and after a line
 * calls step() 4 times in four(), N times in many(), 3 N times in nested() by outer(), which calls inner() twice;
 * whose_loop(), which has a loop of its own, N times; and plain() twice. Prints done.
 */
#include "trigger.h"

#define INLINE static inline __attribute__((always_inline))
#define FUNCTION static __attribute__((noinline))

static volatile long sink;

INLINE long inner(long x)
{
	sink = x + 1;
	return x ^ 5;
}

INLINE long step(long x)
{
	sink = x;
	return x * 3 + 1;
}

INLINE long outer(long x)
{
	x = inner(x);
	return step(x) + inner(x + 2);
}

INLINE long whose_loop(long n)
{
	long s = 0;
	for (long i = 0; i < n; i++)
		sink = s += i;
	return s;
}

INLINE long plain(long x)
{
	sink = x * 7;
	return x + 1;
}

FUNCTION long four(long x)
{
	for (int i = 0; i < 4; i++)
		x = step(x);
	return x;
}

FUNCTION long many(long x, long n)
{
	for (long i = 0; i < n; i++)
		x = step(x);
	return x;
}

FUNCTION long nested(long x, long n)
{
	for (long i = 0; i < 3 * n; i++)
		x = outer(x);
	return x;
}

FUNCTION long rounds(long n)
{
	long x = 0;
	for (long i = 0; i < n; i++)
		x += whose_loop(n);
	return x;
}

FUNCTION long twice(long x)
{
	x = plain(x);
	sink = x;
	return plain(x - 1) + sink;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1);

	trigger__say("ready");
	trigger__wait();
	sink = four(n) + many(n, n) + nested(n, n) + rounds(n) + twice(n);
	trigger__say("done");
	trigger__end();
}
