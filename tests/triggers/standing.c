// SPDX-License-Identifier: BSD-2-Clause
/*
 * standing: threads and processes that each stay at a known place: a thread in read(pipe), futex, epoll_wait,
 * clock_nanosleep, poll, wait4, accept, flock and a 32-bit nanosleep; a process that computes, one that is stopped, and
 * one that has exited and is not waited for.
 * ready TID TIME ...: of each, in this order, and when it went there (ns of CLOCK_MONOTONIC_RAW, before the call)
 */
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "trigger.h"

enum { READ, FUTEX, EPOLL, NAP, POLL, WAIT, ACCEPT, FLOCK, NAP_32, SPIN, STOPPED, ZOMBIE, PLACES };

static volatile struct place {
	pid_t tid;
	uint64_t since;
} *places;
static uint32_t word;
static int ends[2], epoll, listener, locked;
static int32_t *time_32;
static const struct timespec long_time = { 100000, 0 };

static void stand(long i)
{
	struct pollfd both[2] = { { ends[0], POLLIN, 0 }, { listener, POLLIN, 0 } };
	struct epoll_event event;
	char byte;

	places[i].since = trigger__now(CLOCK_MONOTONIC_RAW);
	places[i].tid = syscall(SYS_gettid);
	if (i == READ)
		syscall(SYS_read, ends[0], &byte, 1);
	else if (i == FUTEX)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	else if (i == EPOLL)
		syscall(SYS_epoll_pwait, epoll, &event, 1, -1, NULL, 8);
	else if (i == NAP)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &long_time, NULL);
	else if (i == POLL)
		syscall(SYS_ppoll, both, 2, NULL, NULL, 8);
	else if (i == WAIT)
		syscall(SYS_wait4, places[STOPPED].tid, NULL, 0, NULL);
	else if (i == ACCEPT)
		syscall(SYS_accept, listener, NULL, NULL);
	else if (i == FLOCK)
		syscall(SYS_flock, locked, LOCK_EX);
	else if (trigger__call_32(162, (long)time_32, 0, 0, 0, 0) == -ENOSYS)
		for (;;)
			pause();        /* this kernel has no such calls */
	error(1, errno, "the thread at %ld came back", i);
}

static void make_descriptors(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char path[] = "/tmp/standing-XXXXXX";
	int fd = mkstemp(path);

	locked = open(path, O_RDONLY);
	unlink(path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	epoll = epoll_create1(0);
	/* The kernel chooses the name. */
	if (fd < 0 || locked < 0 || flock(fd, LOCK_EX) || pipe(ends) || epoll < 0 || listener < 0 ||
	    bind(listener, (struct sockaddr *)&name, sizeof(name.sun_family)) || listen(listener, 1))
		error(1, errno, "a descriptor");
}

/* A child that computes, stops or exits. */
static void make_child(long i)
{
	pid_t pid, parent = getpid();

	places[i].since = trigger__now(CLOCK_MONOTONIC_RAW);
	pid = fork();
	if (pid < 0)
		error(1, errno, "fork");
	if (!pid) {
		trigger__end_with(parent);
		if (i == STOPPED)
			raise(SIGSTOP);
		while (i == SPIN)
			;
		_exit(0);
	}
	places[i].tid = pid;
}

int main(void)
{
	struct crew crew;
	long i;

	places = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (places == MAP_FAILED)
		error(1, errno, "mmap");
	trigger__name();
	trigger__prepare_32();
	time_32 = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (time_32 == MAP_FAILED)
		error(1, errno, "mmap");
	time_32[0] = 100000;
	make_descriptors();
	make_child(STOPPED);
	make_child(ZOMBIE);
	make_child(SPIN);
	crew__hire(&crew, SPIN, stand);
	crew__start(&crew);
	for (i = 0; i < PLACES; i++)
		while (!places[i].tid)
			usleep(1000);
	printf("ready");
	for (i = 0; i < PLACES; i++)
		printf(" %d %llu", places[i].tid, (unsigned long long)places[i].since);
	trigger__say("%s", "");
	trigger__wait();
	exit(0);
}
