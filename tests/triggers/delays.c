// SPDX-License-Identifier: BSD-2-Clause
/*
 * delays N CPU US: a thread that is woken N times, and bounds for how long it waits for its CPU each time, as measured
 * by the two threads.
 *
 *   US > 0    the waker has the higher priority, and keeps the CPU for US us after each wakeup
 *   US = 0    the woken thread has the higher priority, and takes the CPU from the waker at once
 *
 *   ready
 *   done TID [LEAST MOST]...     the woken thread; ns of each wait, in order
 */
#include "trigger.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>

#define MOST 1000

static long n, cpu, busy_ns;
static int bell;
static volatile pid_t woken;
static struct {
	uint64_t before, after, until, came;
} rounds[MOST];

static void take_priority(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		error(1, errno, "SCHED_FIFO");
}

static void wake(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t one = 1;
	long i;

	for (i = 0; i < n; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		rounds[i].before = trigger__now(CLOCK_MONOTONIC);
		if (write(bell, &one, sizeof(one)) != sizeof(one))
			error(1, errno, "write");
		rounds[i].after = trigger__now(CLOCK_MONOTONIC);
		while (busy_ns && trigger__now(CLOCK_MONOTONIC) < rounds[i].after + busy_ns)
			;
		rounds[i].until = trigger__now(CLOCK_MONOTONIC);
		while (!__atomic_load_n(&rounds[i].came, __ATOMIC_ACQUIRE))
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

static void be_woken(void)
{
	uint64_t one;
	long i;

	for (i = 0; i < n; i++) {
		if (read(bell, &one, sizeof(one)) != sizeof(one))
			error(1, errno, "read");
		__atomic_store_n(&rounds[i].came, trigger__now(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
	}
}

static void work(long thread)
{
	trigger__pin(0, cpu);
	if (thread == !busy_ns)
		take_priority();
	if (thread) {
		woken = syscall(SYS_gettid);
		be_woken();
	} else {
		wake();
	}
}

static uint64_t least(long i)
{
	return busy_ns ? rounds[i].until - rounds[i].after : 1;
}

int main(int argc, char **argv)
{
	struct crew crew;
	long i;

	n = trigger__number(argc, argv, 1);
	cpu = trigger__number(argc, argv, 2);
	busy_ns = trigger__number(argc, argv, 3) * 1000;
	if (n > MOST)
		error(2, 0, "N is more than %d", MOST);
	bell = eventfd(0, 0);
	if (bell < 0)
		error(1, errno, "eventfd");
	trigger__name();
	crew__hire(&crew, 2, work);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	printf("done %d", woken);
	for (i = 0; i < n; i++)
		printf(" %llu %llu", (unsigned long long)least(i),
		       (unsigned long long)(rounds[i].came - rounds[i].before));
	trigger__say("%s", "");
	trigger__end();
}
