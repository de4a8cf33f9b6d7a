// SPDX-License-Identifier: BSD-2-Clause
/*
 * watched N THREADS: each thread writes a variable N times, reads it 2 * N times, and calls a function 3 * N times.
 * ready ADDRESS FUNCTION, done WRITES READS CALLS of all threads
 */
#include "trigger.h"

static volatile long variable;
static long n;

static __attribute__((noinline, noclone)) void function(void)
{
	__asm__ volatile("" ::: "memory");
}

static void work(long i)
{
	long k;

	(void)i;
	for (k = 0; k < n; k++)
		variable = k;
	for (k = 0; k < 2 * n; k++)
		(void)variable;
	for (k = 0; k < 3 * n; k++)
		function();
}

int main(int argc, char **argv)
{
	struct crew crew;
	long threads;

	n = trigger__number(argc, argv, 1);
	threads = trigger__number(argc, argv, 2);
	trigger__name();
	crew__hire(&crew, threads, work);
	trigger__say("ready %ju %ju", (uintmax_t)&variable, (uintmax_t)function);
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done %ld %ld %ld", n * threads, 2 * n * threads, 3 * n * threads);
	trigger__end();
}
