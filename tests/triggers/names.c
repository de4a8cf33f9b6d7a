// SPDX-License-Identifier: BSD-2-Clause
/*
 * names ROUNDS NAME...: a thread of each name, which sleeps 100 us, ROUNDS times. Reports which thread has which name:
 * ready TID...
 */
#include <sys/syscall.h>

#include "trigger.h"

static char **names;
static long rounds;
static pid_t *tids;
static pthread_barrier_t named;

static void nap(long i)
{
	struct timespec ts = { 0, 100000 };
	long k;

	(void)i;
	for (k = 0; k < rounds; k++)
		nanosleep(&ts, NULL);
}

/* Runs before the test says go, so that the thread has its name during the whole measurement. */
static void name_and_nap(long i)
{
	tids[i] = syscall(SYS_gettid);
	if (prctl(PR_SET_NAME, names[i]))
		error(1, errno, "PR_SET_NAME");
	pthread_barrier_wait(&named);
	pthread_barrier_wait(&named);
	nap(i);
}

int main(int argc, char **argv)
{
	long n = argc - 2, i;
	struct crew crew;

	rounds = trigger__number(argc, argv, 1);
	names = argv + 2;
	tids = calloc(n, sizeof(*tids));
	pthread_barrier_init(&named, NULL, n + 1);
	crew__hire(&crew, n, name_and_nap);
	crew__start(&crew);
	pthread_barrier_wait(&named);
	printf("ready");
	for (i = 0; i < n; i++)
		printf(" %d", tids[i]);
	trigger__say("%s", "");
	trigger__wait();
	pthread_barrier_wait(&named);
	crew__finish(&crew);
	trigger__say("done");
	trigger__end();
}
