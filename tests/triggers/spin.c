// SPDX-License-Identifier: BSD-2-Clause
/*
 * spin N MS CPU: N threads on CPU (-1: anywhere), each of which uses MS ms of CPU time without blocking. Reports the
 * elapsed ns of each thread: done NS...
 */
#include "trigger.h"

static long ms, cpu;
static uint64_t *took;

static void spin(long i)
{
	uint64_t start = trigger__now(CLOCK_MONOTONIC);

	trigger__spin(ms * 1000000);
	took[i] = trigger__now(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;
	struct crew crew;

	ms = trigger__number(argc, argv, 2);
	cpu = trigger__number(argc, argv, 3);
	took = calloc(n, sizeof(*took));
	trigger__name();
	trigger__pin(0, cpu); /* threads inherit it */
	crew__hire(&crew, n, spin);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	printf("done");
	for (i = 0; i < n; i++)
		printf(" %ju", (uintmax_t)took[i]);
	trigger__say("%s", "");
	trigger__end();
}
