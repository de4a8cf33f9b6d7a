// SPDX-License-Identifier: BSD-2-Clause
/*
 * passing N: N threads, one after the other, each of which allocates 50 times, frees everything, and ends. ready, done
 */
#include "trigger.h"

static void *(*volatile allocate)(size_t) = malloc;

static void *work(void *arg)
{
	void *p[50];
	size_t i;

	for (i = 0; i < 50; i++)
		p[i] = allocate(16 * (i + 1));
	for (i = 0; i < 50; i++)
		free(p[i]);
	return arg;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1);
	pthread_t thread;

	trigger__say("ready");
	trigger__wait();
	for (; n > 0; n--)
		if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
			error(1, 0, "no thread");
	trigger__say("done");
	trigger__end();
}
