// SPDX-License-Identifier: BSD-2-Clause
/* sleepers N ROUNDS US CPU: N threads on CPU (-1: anywhere) that sleep US us, ROUNDS times each. */
#include "trigger.h"

static long rounds, us;

static void nap(long i)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };
	long k;

	(void)i;
	for (k = 0; k < rounds; k++)
		nanosleep(&ts, NULL);
}

int main(int argc, char **argv)
{
	struct crew crew;
	long n = trigger__number(argc, argv, 1);

	rounds = trigger__number(argc, argv, 2);
	us = trigger__number(argc, argv, 3);
	trigger__name();
	trigger__pin(0, trigger__number(argc, argv, 4));
	crew__hire(&crew, n, nap);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done");
	trigger__end();
}
