// SPDX-License-Identifier: BSD-2-Clause
/*
 * spans HOW N THREADS [DEPTH]: each thread works N times in functions that are entered and left in ways that are hard
 * to follow. HOW is one of
 *
 *   nested     recursive(DEPTH), which calls itself DEPTH times, and computes a little in each call
 *   tail       first(i), whose last act is a jump to second(i)
 *   jump       jumping(i), which is left by longjmp() when i % 3 is 2, else returns i
 *   exit       leaving(i) in a thread of its own, which exits inside it when i % 2: alternately bypassing
 *              the C library, which then does not notice, and by pthread_exit()
 *   pairs      opened(i, THREAD) and, in another order, closed(i, THREAD)
 *   reuse      staying(1) in a process that exits inside it, then staying(2) in one that has the
 *              same id and returns; no threads
 *
 *   ready
 *   done CALLS INNER OUTER     calls that returned, and how long they took by clocks that were
 *                              read inside the function and around it; ns
 */
#include <linux/sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

static long n, depth;
static volatile long sink;
static atomic_ullong calls, inner, outer;
static __thread jmp_buf back;

long recursive(long left);
long first(long i);
long second(long i);
long jumping(long i);
long leaving(long i);
long staying(long i);
void opened(int id, long thread);
void closed(int id, long thread);

static uint64_t now(void)
{
	return trigger__now(CLOCK_MONOTONIC);
}

static void compute(long rounds)
{
	long i;

	for (i = 0; i < rounds; i++)
		sink = i;
}

NOINLINE long recursive(long left)
{
	uint64_t begin = now(), before;

	compute(2000);
	if (left) {
		before = now();
		sink = recursive(left - 1);
		outer += now() - before;
	}
	calls++;
	inner += now() - begin;
	return left;
}

NOINLINE long second(long i)
{
	uint64_t begin = now();

	compute(500);
	calls++;
	inner += now() - begin;
	return i + 2;
}

NOINLINE long first(long i)
{
	sink = i;
	return second(i + 1);
}

NOINLINE long jumping(long i)
{
	uint64_t begin = now();

	compute(500);
	if (i % 3 == 2)
		longjmp(back, 1);
	calls++;
	inner += now() - begin;
	return i;
}

NOINLINE long leaving(long i)
{
	compute(500);
	if (i % 4 == 1)
		syscall(SYS_exit, 0);
	if (i % 4 == 3)
		pthread_exit(NULL);
	calls++;
	return i;
}

NOINLINE long staying(long i)
{
	compute(500);
	if (i == 1)
		_exit(0);
	return i;
}

NOINLINE void opened(int id, long thread)
{
	sink = id + thread;
}

NOINLINE void closed(int id, long thread)
{
	sink = id - thread;
}

static void nested(long thread)
{
	uint64_t before = now();

	(void)thread;
	sink = recursive(depth);
	outer += now() - before;
}

static void tail(long i)
{
	uint64_t before = now();

	sink = first(i);
	outer += now() - before;
}

static void jump(long i)
{
	uint64_t before = now();

	if (setjmp(back))
		return;
	sink = jumping(i);
	outer += now() - before;
}

static void *leaving_thread(void *i)
{
	sink = leaving((long)i);
	return NULL;
}

static void leave(long i)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, leaving_thread, (void *)i);
	if (!errno)
		errno = pthread_join(thread, NULL);
	if (errno)
		error(1, errno, "a thread");
}

static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

static void reuse(void)
{
	/* An id beyond those in use; the largest possible id is at least 32767. */
	pid_t id = 32000, pid;
	long i;

	for (i = 1; i <= 2; i++) {
		while ((pid = fork_as(id)) < 0 && errno == EEXIST && i == 1)
			id--;
		if (pid < 0)
			error(1, errno, "clone3");
		if (!pid) {
			sink = staying(i);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	calls++;
}

static void pairs(long thread)
{
	long i;

	for (i = 0; i < n; i++)
		opened(i, thread);
	for (i = n - 1; i >= 0; i--)
		closed(i, thread);
	calls += n;
}

static const char *how;

static void work(long thread)
{
	long i;

	if (!strcmp(how, "pairs")) {
		pairs(thread);
		return;
	}
	for (i = 0; i < n; i++) {
		if (!strcmp(how, "nested"))
			nested(thread);
		else if (!strcmp(how, "tail"))
			tail(i);
		else if (!strcmp(how, "jump"))
			jump(i);
		else if (!strcmp(how, "exit"))
			leave(i);
		else if (!strcmp(how, "reuse"))
			reuse();
		else
			error(2, 0, "no way %s", how);
	}
}

int main(int argc, char **argv)
{
	struct crew crew;
	long threads;

	if (argc < 2)
		error(2, 0, "how?");
	how = argv[1];
	n = trigger__number(argc, argv, 2);
	threads = trigger__number(argc, argv, 3);
	depth = argc > 4 ? trigger__number(argc, argv, 4) : 0;
	if (depth > 100)
		error(2, 0, "that deep the stack ends");
	trigger__name();
	crew__hire(&crew, threads, work);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done %llu %llu %llu", calls, inner, outer);
	trigger__end();
}
