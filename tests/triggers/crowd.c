// SPDX-License-Identifier: BSD-2-Clause
/*
 * crowd N THREADS CPU: threads on one CPU that preempt each other inside a tracer's handlers. Each calls, N times,
 *
 *   crowded(1 + i % 1000) for i = 0 .. N - 1, which allocates memory, frees it, and calls getppid()
 *
 * Another thread, with higher priority, calls crowded(500) every 20 us until they are done.
 *
 *   ready PID
 *   done CALLS SUM       of all threads together
 */
#include "trigger.h"

#include <sys/syscall.h>

#define VALUES 1000
#define MIDDLE 500

static long n;
static int running;
static long interruptions;
static volatile long sink;
/* Through pointers: the compiler knows malloc() and free(), and optimizes pairs of them away. */
static void *(*volatile allocate)(size_t) = malloc;

long crowded(long value);

__attribute__((noinline, noclone)) long crowded(long value)
{
	free(allocate(value));
	syscall(SYS_getppid);
	sink = value;
	return value;
}

static void interrupt(void)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	const struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		error(1, errno, "SCHED_FIFO");
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		crowded(MIDDLE);
		interruptions++;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

static void work(long thread)
{
	long i;

	if (!thread) {
		interrupt();
		return;
	}
	for (i = 0; i < n; i++)
		crowded(1 + i % VALUES);
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	struct crew crew;
	long threads;

	n = trigger__number(argc, argv, 1);
	threads = trigger__number(argc, argv, 2);
	trigger__pin(0, trigger__number(argc, argv, 3));
	if (n % VALUES)
		error(2, 0, "N is no multiple of %d", VALUES);
	trigger__name();
	running = threads;
	crew__hire(&crew, threads + 1, work);
	trigger__say("ready %d", getpid());
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done %ld %ld", n * threads + interruptions,
		     n / VALUES * (VALUES * (VALUES + 1) / 2) * threads + MIDDLE * interruptions);
	trigger__end();
}
