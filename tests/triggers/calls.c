// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls N THREADS DEPTH: each thread calls, N times,
 *
 *   known_function(i, -i) for i = 0 .. N - 1, which returns 2 * i
 *   inlined_function(), which exists only inlined into its two callers, in turn
 *   one_name() and other_name(), in turn: two names of one function
 *
 * and once recursive_function(DEPTH), which calls itself DEPTH times.
 *
 *   ready PID
 *   done KNOWN INLINED NAMED RECURSIVE     calls of each by all threads together
 */
#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

static long n, depth;
static volatile long sink;

long known_function(int a, long b);
long recursive_function(long left);
long one_name(long a);
long other_name(long a);

NOINLINE long known_function(int a, long b)
{
	sink = a + b;
	return 2L * a;
}

NOINLINE long recursive_function(long left)
{
	long below = left ? recursive_function(left - 1) : 0;

	sink = below;
	return below + 1;
}

NOINLINE long one_name(long a)
{
	sink = a;
	return a + 1;
}

long other_name(long a) __attribute__((alias("one_name")));

static inline __attribute__((always_inline)) void inlined_function(long value)
{
	long squared = value * value;

	sink = squared;
	sink = squared + 1;
}

static NOINLINE void first_caller(long i)
{
	inlined_function(i);
}

static NOINLINE void second_caller(long i)
{
	sink = i;
	inlined_function(i + 1);
}

static void work(long thread)
{
	long i;

	(void)thread;
	for (i = 0; i < n; i++) {
		if (known_function(i, -i) != 2 * i)
			error(1, 0, "known_function");
		if (i % 2)
			first_caller(i);
		else
			second_caller(i);
		sink = i % 2 ? one_name(i) : other_name(i);
	}
	recursive_function(depth);
}

int main(int argc, char **argv)
{
	long threads;
	struct crew crew;

	n = trigger__number(argc, argv, 1);
	threads = trigger__number(argc, argv, 2);
	depth = trigger__number(argc, argv, 3);
	if (depth > 500)
		error(2, 0, "that deep the stack ends");
	trigger__name();
	crew__hire(&crew, threads, work);
	trigger__say("ready %d", getpid());
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done %ld %ld %ld %ld", n * threads, n * threads, n * threads, (depth + 1) * threads);
	trigger__end();
}
