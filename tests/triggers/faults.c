// SPDX-License-Identifier: BSD-2-Clause
/*
 * faults PAGES THREADS CHILDREN: each thread touches PAGES new pages, and so does each of the processes that it then
 * forks, one after the other.
 *
 *   ready
 *   done MINOR MAJOR VOLUNTARY INVOLUNTARY     faults and context switches of itself and all its
 *                                              children since main began: getrusage(2)
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "trigger.h"

#define PAGE 4096

static long pages;

static void touch(long i)
{
	volatile char *area = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long k;

	(void)i;
	if (area == MAP_FAILED)
		error(1, errno, "mmap");
	/* One fault for each page rather than one for 512 pages. */
	madvise((void *)area, pages * PAGE, MADV_NOHUGEPAGE);
	for (k = 0; k < pages; k++)
		area[k * PAGE] = 1;
}

static void add_usage(long *sum, int who, long sign)
{
	struct rusage usage;

	getrusage(who, &usage);
	sum[0] += sign * usage.ru_minflt;
	sum[1] += sign * usage.ru_majflt;
	sum[2] += sign * usage.ru_nvcsw;
	sum[3] += sign * usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
	long threads, children, sum[4] = {}, i;
	struct crew crew;
	pid_t pid;

	add_usage(sum, RUSAGE_SELF, -1);
	pages = trigger__number(argc, argv, 1);
	threads = trigger__number(argc, argv, 2);
	children = trigger__number(argc, argv, 3);
	trigger__name();
	crew__hire(&crew, threads, touch);
	trigger__say("ready");
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	for (i = 0; i < children; i++) {
		pid = fork();
		if (pid < 0)
			error(1, errno, "fork");
		if (!pid) {
			touch(0);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	add_usage(sum, RUSAGE_SELF, 1);
	add_usage(sum, RUSAGE_CHILDREN, 1);
	trigger__say("done %ld %ld %ld %ld", sum[0], sum[1], sum[2], sum[3]);
	trigger__end();
}
