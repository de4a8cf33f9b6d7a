// SPDX-License-Identifier: BSD-2-Clause
/*
 * locked HOW N US LEAVE: N times one thread holds a kernel lock for US us or more, while another waits for it. HOW:
 * mutex (of a pipe) or rwsem (of a file). With LEAVE 1 the last wait outlasts the process. Reports the tids of holder
 * and waiter, and then for how many ns the waiter's calls lasted, and for how many ns, at least, it waited.
 *
 * The holder writes from a missing page: the kernel takes the lock, requests the page from userfaultfd, and gets it
 * once the waiter has slept long enough.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <semaphore.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "trigger.h"

static sem_t hold, wait_for_it, done;
static volatile pid_t holder, waiter;
static uint64_t in_call;
static char *missing;
static int file[2], faults;

/*
 * Uses pwrite(2) for files: some kernels first lock the position for write(2) (6.12.118 also does for memfd_create(2)).
 */
static void put(const char *byte)
{
	if ((file[0] ? write(file[1], byte, 1) : pwrite(file[1], byte, 1, 0)) != 1)
		error(1, errno, "write");
}

static void *holds(void *arg)
{
	holder = gettid();
	sem_post(&done);
	for (;;) {
		sem_wait(&hold);
		put(missing);
		sem_post(&done);
	}
	return arg;
}

static void *waits(void *arg)
{
	uint64_t began;

	waiter = gettid();
	sem_post(&done);
	for (;;) {
		sem_wait(&wait_for_it);
		began = trigger__now(CLOCK_MONOTONIC);
		put("x");
		in_call += trigger__now(CLOCK_MONOTONIC) - began;
		sem_post(&done);
	}
	return arg;
}

static void make_missing_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register where = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	missing = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	where.range.start = (uintptr_t)missing;
	where.range.len = 4096;
	if (missing == MAP_FAILED || faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &where))
		error(1, errno, "userfaultfd");
}

static void open_file(const char *how)
{
	if (!strcmp(how, "mutex")) {
		if (pipe(file))
			error(1, errno, "pipe");
		return;
	}
	file[1] = memfd_create("locked", MFD_CLOEXEC);
	if (file[1] < 0)
		error(1, errno, "memfd_create");
}

static void await_sleep(pid_t tid)
{
	char path[64], line[256] = "", *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	do {
		fd = open(path, O_RDONLY);
		if (fd < 0 || read(fd, line, sizeof(line) - 1) <= 0)
			error(1, errno, "%s", path);
		close(fd);
		state = strrchr(line, ')');
	} while (!state || state[2] != 'D');
}

static void nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* Returns once the waiter waits. */
static void meet(void)
{
	struct uffd_msg message;

	sem_post(&hold);
	if (read(faults, &message, sizeof(message)) != sizeof(message))
		error(1, errno, "userfaultfd");
	sem_post(&wait_for_it);
	await_sleep(waiter);
}

static void part(void)
{
	struct uffdio_zeropage page = { .range = { (uintptr_t)missing, 4096 } };
	char drained[2];

	if (ioctl(faults, UFFDIO_ZEROPAGE, &page))
		error(1, errno, "UFFDIO_ZEROPAGE");
	sem_wait(&done);
	sem_wait(&done);
	madvise(missing, 4096, MADV_DONTNEED);
	if (file[0] && read(file[0], drained, sizeof(drained)) != sizeof(drained))
		error(1, errno, "read");
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 2), us = trigger__number(argc, argv, 3), i;
	bool leave = trigger__number(argc, argv, 4);
	uint64_t began, waited = 0;
	pthread_t thread[2];

	trigger__name();
	open_file(argv[1]);
	make_missing_page();
	if (pthread_create(&thread[0], NULL, holds, NULL) ||
	    pthread_create(&thread[1], NULL, waits, NULL))
		error(1, 0, "pthread_create");
	sem_wait(&done);
	sem_wait(&done);
	trigger__say("ready %d %d", holder, waiter);
	trigger__wait();
	for (i = 0; i < n; i++) {
		meet();
		began = trigger__now(CLOCK_MONOTONIC);
		nap(us);
		waited += trigger__now(CLOCK_MONOTONIC) - began;
		if (!leave || i < n - 1)
			part();
	}
	trigger__say("done %llu %llu", (unsigned long long)in_call, (unsigned long long)waited);
	trigger__end();
}
