// SPDX-License-Identifier: BSD-2-Clause
/*
 * resting: threads that sleep, each below known functions
 *
 *   nap, futex, poll, read       start() -> outer() -> inner() -> rest(), without frame pointers
 *   with_nap ... with_read       start() -> with_outer() -> with_inner() -> with_rest(), with frame pointers
 *   sorting                      start() -> sorting() -> qsort() of the C library -> compare() -> rest()
 *   handling                     start() -> handling() -> on_signal(), a handler on a stack of its own -> rest()
 *   growing                      start() -> growing() -> rest(): its frame's size is known only at run time
 *   aligned                      start() -> aligned() -> rest(): it realigns its stack
 *   large                        start() -> large() -> rest(): its frame has 30,000 bytes
 *   deep                         start() -> deep() -> deep() ... 200 times -> rest()
 *
 *   ready TID ...                in this order
 */
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>

enum { NAP, FUTEX, POLL, READ, CALLS, SORTING = 2 * CALLS, HANDLING, GROWING, ALIGNED, LARGE, DEEP, PLACES };

static void rest(long how);
#define INNERMOST(value) rest(NAP)
#include "frames.h"

#define WITH_FRAME NOIPA __attribute__((optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

static volatile pid_t tids[PLACES];
static int ends[2], word;

/* Inlined into its callers, so it has no frame of its own. */
static inline __attribute__((always_inline)) void call(long how)
{
	static const struct timespec long_time = { 100000, 0 };
	struct pollfd one = { ends[0], POLLIN, 0 };
	char byte;

	if (how == FUTEX)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	else if (how == POLL)
		poll(&one, 1, -1);
	else if (how == READ)
		sink += read(ends[0], &byte, 1);
	else
		nanosleep(&long_time, NULL);
	KEEP(&one);
	sink++;
}

static NOIPA void rest(long how)
{
	call(how);
}

/* Frames of size 0 would be too easy: values in registers have to be saved. */
static NOIPA long inner(long a, long b)
{
	rest(a);
	return a + b + sink;
}

static NOIPA long outer(long a)
{
	long b = a * 3, c = a ^ 5;

	return inner(a, b) + b + c;
}

static WITH_FRAME void with_rest(long how)
{
	call(how);
}

static WITH_FRAME long with_inner(long a, long b)
{
	with_rest(a);
	return a + b + sink;
}

static WITH_FRAME long with_outer(long a)
{
	return with_inner(a, a * 3) + sink;
}

static NOIPA void on_signal(int signal)
{
	rest(NAP);
	sink += signal;
}

static NOIPA void handling(void)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		error(1, errno, "sigaltstack");
	raise(SIGUSR1);
	sink++;
}

static NOIPA void start(long i)
{
	tids[i] = syscall(SYS_gettid);
	if (i < CALLS)
		sink += outer(i);
	else if (i < 2 * CALLS)
		sink += with_outer(i - CALLS);
	else if (i == SORTING)
		sorting();
	else if (i == HANDLING)
		handling();
	else if (i == GROWING)
		growing(i * 8);
	else if (i == ALIGNED)
		aligned(i);
	else if (i == LARGE)
		large();
	else
		deep(200);
	error(1, errno, "the thread at %ld came back", i);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	struct crew crew;
	long i;

	trigger__name();
	if (sigaction(SIGUSR1, &action, NULL) || pipe(ends))
		error(1, errno, "sigaction, pipe");
	crew__hire(&crew, PLACES, start);
	crew__start(&crew);
	for (i = 0; i < PLACES; i++)
		while (!tids[i])
			usleep(1000);
	printf("ready");
	for (i = 0; i < PLACES; i++)
		printf(" %d", tids[i]);
	trigger__say("%s", "");
	trigger__wait();
	exit(0);
}
