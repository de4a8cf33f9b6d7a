// SPDX-License-Identifier: BSD-2-Clause
/*
 * costs N PAGES SLEEP_US MOVES THREADS: each thread calls costly(i) for i = 0 .. N - 1, which touches PAGES * (i % 2)
 * new pages, sleeps SLEEP_US us, and moves to another CPU MOVES times.
 *
 *   ready
 *   done IN_FAULTS AROUND_FAULTS IN_SWITCHES AROUND_SWITCHES SLEPT_NS   of all calls: counted by
 *        getrusage(2) inside and around them, so that a tool's counts must lie between the two
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "trigger.h"

#define PAGE 4096

static long n, pages, sleep_us, moves;
static atomic_long inside[2], around[2];

static void add(atomic_long sum[2], const struct rusage *from)
{
	struct rusage to;

	getrusage(RUSAGE_THREAD, &to);
	sum[0] += to.ru_minflt + to.ru_majflt - from->ru_minflt - from->ru_majflt;
	sum[1] += to.ru_nvcsw + to.ru_nivcsw - from->ru_nvcsw - from->ru_nivcsw;
}

static void touch(long count)
{
	volatile char *area = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long i;

	if (area == MAP_FAILED)
		error(1, errno, "mmap");
	/* One fault for each page rather than one for 512 pages. */
	madvise((void *)area, count * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < count; i++)
		area[i * PAGE] = 1;
	munmap((void *)area, count * PAGE);
}

static void __attribute__((noinline)) costly(long i)
{
	struct timespec pause = { sleep_us / 1000000, sleep_us % 1000000 * 1000 };
	struct rusage from;
	long k;

	getrusage(RUSAGE_THREAD, &from);
	if (i % 2 && pages)
		touch(pages);
	for (k = 0; k < moves; k++)
		trigger__pin(0, (sched_getcpu() + 1) % 2);
	if (sleep_us)
		nanosleep(&pause, NULL);
	add(inside, &from);
}

static void work(long thread)
{
	struct rusage from;
	long i;

	(void)thread;
	for (i = 0; i < n; i++) {
		getrusage(RUSAGE_THREAD, &from);
		costly(i);
		add(around, &from);
	}
}

int main(int argc, char **argv)
{
	struct rusage from;
	struct crew crew;
	long threads;

	n = trigger__number(argc, argv, 1);
	pages = trigger__number(argc, argv, 2);
	sleep_us = trigger__number(argc, argv, 3);
	moves = trigger__number(argc, argv, 4);
	threads = trigger__number(argc, argv, 5);
	trigger__name();
	getrusage(RUSAGE_THREAD, &from);        /* its first call may cause a fault */
	crew__hire(&crew, threads, work);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done %ld %ld %ld %ld %lld", inside[0], around[0], inside[1], around[1],
		     1000LL * sleep_us * n * threads);
	trigger__end();
}
