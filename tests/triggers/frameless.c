// SPDX-License-Identifier: BSD-2-Clause
/*
 * frameless N THREADS DEPTH [NAME]: without frame pointers, N times on main() or on each of THREADS threads. With a
 * NAME, the process has that name at first, and "frameless" from a second before the work on.
 *
 *   work() -> outer() -> inner() -> ask(), which calls getppid()
 *   work() -> sorting() -> qsort() of the C library -> compare() -> ask()
 *   work() -> raising() -> a signal handler, on a stack of its own -> on_signal() -> ask()
 *   work() -> growing() -> ask()         whose frame size is known only at run time
 *   work() -> large() -> ask()           whose frame has 30,000 bytes
 *   work() -> aligned() -> ask()         which realigns its stack
 *   work() -> deep() -> deep() ... DEPTH times -> ask()
 *
 *   ready
 *   done
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void ask(long value);
#define INNERMOST(value) ask(value)
#include "frames.h"

static long n, depth;

/* Frames of size 0 would be too easy: values in registers have to be saved. */
static NOIPA void ask(long value)
{
	char room[40];

	KEEP(room);
	sink = trigger__call(SYS_getppid, NULL, NULL) + value;
}

static NOIPA long inner(long a, long b)
{
	ask(a * b);
	return a + b + sink;
}

static NOIPA long outer(long a)
{
	long b = a * 3, c = a ^ 5;

	return inner(a, b) + b + c;
}

static NOIPA void on_signal(int signal)
{
	ask(signal);
	sink++;
}

static NOIPA void raising(void)
{
	raise(SIGUSR1);
	sink++;
}

static NOIPA void work(void)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	long i;

	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		error(1, errno, "sigaltstack");
	for (i = 1; i <= n; i++) {
		outer(i);
		sorting();
		raising();
		growing(i * 8);
		large();
		aligned(i);
		deep(depth);
	}
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

static void work_of_thread(long thread)
{
	(void)thread;
	work();
	sink++;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	long threads = trigger__number(argc, argv, 2);
	struct crew crew;

	n = trigger__number(argc, argv, 1);
	depth = trigger__number(argc, argv, 3);
	trigger__name();
	if (sigaction(SIGUSR1, &action, NULL))
		error(1, errno, "sigaction");
	if (threads)
		crew__hire(&crew, threads, work_of_thread);
	if (argc > 4)
		prctl(PR_SET_NAME, argv[4]);
	trigger__say("ready");
	trigger__wait();
	if (argc > 4) {
		prctl(PR_SET_NAME, "frameless");
		sleep(1);
	}
	if (threads) {
		crew__start(&crew);
		crew__finish(&crew);
	} else {
		work();
	}
	trigger__say("done");
	trigger__end();
}
