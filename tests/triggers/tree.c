// SPDX-License-Identifier: BSD-2-Clause
/*
 * tree N THREADS: each of THREADS threads calls outer() N times, which calls
 *
 *   left()     leaf(), twice
 *   right()    leaf(), once, and computes a little itself
 *   leaf()
 *
 *   ready
 *   done OUTER LEFT RIGHT LEAF      two numbers each: how long all calls took together, by clocks that were read
 *                                   inside the function and around it; ns
 */
#include <stdatomic.h>

#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { OUTER, LEFT, RIGHT, LEAF, FUNCTIONS };

static long n;
static volatile long sink;
static atomic_ullong inner[FUNCTIONS], around[FUNCTIONS];

long outer(long i);
long left(long i);
long right(long i);
long leaf(long i);

static uint64_t now(void)
{
	return trigger__now(CLOCK_MONOTONIC);
}

static inline void compute(long rounds)
{
	long i;

	for (i = 0; i < rounds; i++)
		sink = i;
}

#define CALL(which, function, argument)                 \
	do {                                            \
		uint64_t before = now();                \
		sink = function(argument);              \
		around[which] += now() - before;        \
	} while (0)

NOINLINE long leaf(long i)
{
	uint64_t begin = now();

	compute(300);
	inner[LEAF] += now() - begin;
	return i;
}

NOINLINE long left(long i)
{
	uint64_t begin = now();

	CALL(LEAF, leaf, i);
	CALL(LEAF, leaf, i + 1);
	inner[LEFT] += now() - begin;
	return i;
}

NOINLINE long right(long i)
{
	uint64_t begin = now();

	CALL(LEAF, leaf, i);
	compute(2000);
	inner[RIGHT] += now() - begin;
	return i;
}

NOINLINE long outer(long i)
{
	uint64_t begin = now();

	CALL(LEFT, left, i);
	CALL(RIGHT, right, i);
	inner[OUTER] += now() - begin;
	return i;
}

static void work(long thread)
{
	long i;

	for (i = 0; i < n; i++)
		CALL(OUTER, outer, i + thread);
}

int main(int argc, char **argv)
{
	struct crew crew;

	n = trigger__number(argc, argv, 1);
	trigger__name();
	crew__hire(&crew, trigger__number(argc, argv, 2), work);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done %llu %llu %llu %llu %llu %llu %llu %llu", inner[OUTER], around[OUTER], inner[LEFT],
		     around[LEFT], inner[RIGHT], around[RIGHT], inner[LEAF], around[LEAF]);
	trigger__end();
}
