// SPDX-License-Identifier: BSD-2-Clause
/*
 * phases CPU ROUNDS MS: on one CPU, uses MS ms of CPU time and sleeps for as long, ROUNDS times.
 *
 *   ready
 *   done FROM UNTIL...     when it computed in each round: ns of CLOCK_MONOTONIC
 */
#include "trigger.h"

int main(int argc, char **argv)
{
	long cpu = trigger__number(argc, argv, 1), rounds = trigger__number(argc, argv, 2);
	long ms = trigger__number(argc, argv, 3), i;
	struct timespec nap = { ms / 1000, ms % 1000 * 1000000 };
	uint64_t *at = calloc(2 * rounds, sizeof(*at));

	if (!at)
		error(1, 0, "no memory");
	trigger__name();
	trigger__pin(0, cpu);
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < rounds; i++) {
		at[2 * i] = trigger__now(CLOCK_MONOTONIC);
		trigger__spin(ms * 1000000ULL);
		at[2 * i + 1] = trigger__now(CLOCK_MONOTONIC);
		nanosleep(&nap, NULL);
	}
	printf("done");
	for (i = 0; i < 2 * rounds; i++)
		printf(" %llu", (unsigned long long)at[i]);
	putchar('\n');
	fflush(stdout);
	trigger__end();
}
