// SPDX-License-Identifier: BSD-2-Clause
/*
 * storm N AT_ONCE US: forks N processes, AT_ONCE of them at a time, each of which uses US us of CPU time and exits. The
 * schedstat of each is read after it has run for the last time: as a zombie that has left its CPU for good. If US is
 * negative, they are not read, which is faster.
 *
 *   done FORKS PIDS COUNT DELAY  COUNT0 DELAY0 COUNT1 DELAY1
 *
 * PIDS: different pids among the forks. COUNT, DELAY: how often and how long (ns) all of them together waited for a
 * CPU. The rest are its own values at the start of main and before this line.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "trigger.h"

#define MOST_PIDS (4 << 20) /* PID_MAX_LIMIT */

static uint8_t seen[MOST_PIDS];
static struct books total;
static long pids;

static int open_proc(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		error(1, errno, "%s", path);
	return fd;
}

/*
 * Waits until a zombie is off its CPU, since it may still be preempted on its way there. The file says "running" until
 * its state is TASK_DEAD, and is read under wait_task_inactive().
 */
static void wait_until_dead(pid_t pid)
{
	char text[16];
	int fd = open_proc(pid, "syscall");
	ssize_t n;

	for (;;) {
		n = pread(fd, text, sizeof(text), 0);
		if (n < 0)
			error(1, errno, "/proc/%d/syscall", pid);
		if (!n || strncmp(text, "running", 7))
			break;
		sched_yield();
	}
	close(fd);
}

static void read_zombie(pid_t pid)
{
	struct books books;
	siginfo_t info;
	int fd;

	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		error(1, errno, "waitid");
	wait_until_dead(pid);
	fd = open_proc(pid, "schedstat");
	books = trigger__books(fd);
	close(fd);
	total.count += books.count;
	total.delay_ns += books.delay_ns;
	pids += !seen[pid];
	seen[pid] = 1;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), at_once = trigger__number(argc, argv, 2), i;
	long us = trigger__number(argc, argv, 3);
	pid_t *children = calloc(at_once, sizeof(*children));
	int own = open_proc(getpid(), "schedstat");
	struct books first = trigger__books(own), last;

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n + at_once; i++) {
		pid_t *child = &children[i % at_once];

		if (i >= at_once && *child) {
			if (us >= 0)
				read_zombie(*child);
			waitpid(*child, NULL, 0);
		}
		*child = i < n ? fork() : 0;
		if (*child < 0)
			error(1, errno, "fork");
		if (i < n && !*child) {
			if (us > 0)
				trigger__spin(us * 1000);
			_exit(0);
		}
	}
	last = trigger__books(own);
	trigger__say("done %ld %ld %ju %ju %ju %ju %ju %ju", n, pids, (uintmax_t)total.count, (uintmax_t)total.delay_ns,
		     (uintmax_t)first.count, (uintmax_t)first.delay_ns, (uintmax_t)last.count,
		     (uintmax_t)last.delay_ns);
	trigger__end();
}
