// SPDX-License-Identifier: BSD-2-Clause
/* mallocs N THREADS: each thread calls malloc() N times. ready, done CALLS */
#include "trigger.h"

static long n;
/* Through pointers: the compiler knows malloc() and free(), and optimizes pairs of them away. */
static void *(*volatile allocate)(size_t) = malloc;

static void work(long i)
{
	long k;

	for (k = 0; k < n; k++)
		free(allocate(100 + i));
}

int main(int argc, char **argv)
{
	struct crew crew;
	long threads;

	n = trigger__number(argc, argv, 1);
	threads = trigger__number(argc, argv, 2);
	trigger__name();
	crew__hire(&crew, threads, work);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done %ld", n * threads);
	trigger__end();
}
