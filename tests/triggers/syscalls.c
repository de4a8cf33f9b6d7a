// SPDX-License-Identifier: BSD-2-Clause
/*
 * syscalls THREADS CALL...: each thread makes each CALL in turn. A CALL is NUMBER:TIMES or
 * NUMBER:TIMES:THIRD, where the third argument of the system call is THIRD (the size of a read);
 * the first is -1, an invalid descriptor, and all others are 0, so that most calls fail and
 * none does harm. A leading i makes it a 32-bit call (int 0x80), with 32-bit numbers; it is left out
 * on machines without such calls.
 * ready TID..., done
 */
#include <sys/syscall.h>

#include "trigger.h"

static char **calls;
static pid_t *tids;
static pthread_barrier_t known;

static void make(const char *call)
{
	bool is_32 = *call == 'i';
	long number, times, third = 0, k;

	if (sscanf(call + is_32, "%ld:%ld:%ld", &number, &times, &third) < 2)
		error(2, 0, "%s is no call", call);
	for (k = 0; k < times; k++) {
		if (is_32)
			trigger__call_32(number, -1, 0, 0, 0, 0);
		else
			syscall(number, -1, 0L, third, 0L, 0L, 0L);
	}
}

static void work(long i)
{
	char **call;

	tids[i] = syscall(SYS_gettid);
	pthread_barrier_wait(&known);
	pthread_barrier_wait(&known);
	for (call = calls; *call; call++)
		make(*call);
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;
	struct crew crew;

	calls = argv + 2;
	tids = calloc(n, sizeof(*tids));
	trigger__name();
	trigger__prepare_32();
	pthread_barrier_init(&known, NULL, n + 1);
	crew__hire(&crew, n, work);
	crew__start(&crew);
	pthread_barrier_wait(&known);
	printf("ready");
	for (i = 0; i < n; i++)
		printf(" %d", tids[i]);
	trigger__say("%s", "");
	trigger__wait();
	pthread_barrier_wait(&known);
	crew__finish(&crew);
	trigger__say("done");
	trigger__end();
}
