// SPDX-License-Identifier: BSD-2-Clause
/* yield N ROUNDS CPU: N threads on one CPU that yield it to each other, ROUNDS times each. */
#include "trigger.h"

static long rounds;

static void yield(long i)
{
	long k;

	(void)i;
	for (k = 0; k < rounds; k++)
		sched_yield();
}

int main(int argc, char **argv)
{
	struct crew crew;
	long n = trigger__number(argc, argv, 1);

	rounds = trigger__number(argc, argv, 2);
	trigger__name();
	trigger__pin(0, trigger__number(argc, argv, 3));
	crew__hire(&crew, n, yield);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done");
	trigger__end();
}
