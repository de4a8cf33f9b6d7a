// SPDX-License-Identifier: BSD-2-Clause
/*
 * exits HOW N: ends, after each thread has used 20 ms of a CPU.
 *   status N   returns N            signal N   is killed by that signal
 *   leader N   its first thread ends before N others, which end one after the other or at once
 *   group N    one of N additional threads ends all of them
 * ready
 */
#include <signal.h>
#include <sys/resource.h>

#include "trigger.h"

#define SPIN_NS 20000000

static bool end_all;
static pthread_barrier_t together;

static void *spin(void *unused)
{
	trigger__spin(SPIN_NS);
	pthread_barrier_wait(&together);
	if (end_all)
		exit(7);
	return unused;
}

static void hire(long n)
{
	pthread_t thread;
	long i;

	pthread_barrier_init(&together, NULL, n);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, spin, NULL))
			error(1, errno, "pthread_create");
}

int main(int argc, char **argv)
{
	const struct rlimit cores = { 1 << 20, 1 << 20 };
	long n = trigger__number(argc, argv, 2);
	const char *how = argv[1];

	setrlimit(RLIMIT_CORE, &cores);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	trigger__spin(SPIN_NS);
	if (!strcmp(how, "status"))
		exit(n);
	if (!strcmp(how, "signal"))
		raise(n);
	end_all = !strcmp(how, "group");
	hire(n);
	if (end_all)
		pause();
	pthread_exit(NULL);
}
