// SPDX-License-Identifier: BSD-2-Clause
#include "machine/prove/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static _Noreturn void fail(struct prove_load *l, const char *what)
{
	l->truth->error = errno;
	l->truth->failed = what;
	_exit(EXIT_FAILURE);
}

/* Waits at the gate. No load makes the calls that wait here and at the end, poll(2) and pause(2). Returns the time. */
static u64 begin(struct prove_load *l)
{
	struct pollfd gate = { l->gate, POLLIN, 0 };

	l->truth->stage = PROVE_STANDS;
	while (!(gate.revents & POLLHUP))
		poll(&gate, 1, -1);
	return monotonic_ns();
}

static _Noreturn void end(struct prove_load *l, u64 began_ns)
{
	l->truth->elapsed_ns = monotonic_ns() - began_ns;
	l->truth->stage = PROVE_HAS_ENDED;
	for (;;)
		pause();
}

/*
 * --- system calls and files --------------------------------------------------------------------
 */

/* Uses syscall(2), so that no layer can cache the result. */
void prove_load__calls(struct prove_load *l)
{
	u64 began = begin(l), i;

	for (i = 0; i < l->n; i++)
		syscall(SYS_getppid);
	end(l, began);
}

void prove_load__no_files(struct prove_load *l)
{
	u64 began = begin(l), i;
	char path[64];

	for (i = 0; i < l->n; i++) {
		snprintf(path, sizeof(path), PROVE_NO_FILE, i);
		if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
			fail(l, "a file exists that should not");
	}
	end(l, began);
}

void prove_load__files(struct prove_load *l)
{
	u64 began = begin(l), i;
	int fd;

	for (i = 0; i < l->n; i++) {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || close(fd))
			fail(l, "cannot open /dev/null");
	}
	end(l, began);
}

/* Returns an open file that has no name. */
static int temporary_file(void)
{
	char path[] = P_tmpdir "/tally.XXXXXX";
	int fd = open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

void prove_load__bytes(struct prove_load *l)
{
	static char piece[PROVE_PIECE];
	int fd = temporary_file();
	struct stat st;
	u64 began, i;

	if (fd < 0 || fstat(fd, &st))
		fail(l, "cannot create a file in " P_tmpdir);
	l->truth->inode = st.st_ino;
	began = begin(l);
	for (i = 0; i < l->n; i++)
		if (write(fd, piece, sizeof(piece)) != sizeof(piece))
			fail(l, "cannot write a file in " P_tmpdir);
	lseek(fd, 0, SEEK_SET);
	for (i = 0; i < l->n; i++)
		if (read(fd, piece, sizeof(piece)) != sizeof(piece))
			fail(l, "cannot read a file in " P_tmpdir);
	end(l, began);
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

static void await_child(struct prove_load *l, pid_t pid, int wanted)
{
	int status;

	if (pid < 0)
		fail(l, "cannot fork");
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != wanted)
		fail(l, "a child did not exit as expected");
}

void prove_load__exits(struct prove_load *l)
{
	u64 began = begin(l), i;
	pid_t pid;

	for (i = 0; i < l->n; i++) {
		pid = fork();
		if (!pid)
			_exit(i % 256);
		await_child(l, pid, i % 256);
	}
	end(l, began);
}

void prove_load__execs(struct prove_load *l)
{
	char *const argv[] = { "tally", "--version", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	u64 began = begin(l), i;
	pid_t pid;

	for (i = 0; i < l->n; i++) {
		pid = fork();
		if (!pid) {
			dup2(null, STDOUT_FILENO);
			execv("/proc/self/exe", argv);
			_exit(127);
		}
		await_child(l, pid, 0);
	}
	end(l, began);
}

void prove_load__signals(struct prove_load *l)
{
	u64 began, i;

	signal(SIGUSR1, SIG_IGN);
	began = begin(l);
	for (i = 0; i < l->n; i++)
		if (kill(getpid(), SIGUSR1))
			fail(l, "cannot send a signal");
	end(l, began);
}

/*
 * --- time --------------------------------------------------------------------------------------
 */

void prove_load__sleeps(struct prove_load *l)
{
	const struct timespec time = { 0, PROVE_SLEEP_NS };
	u64 began = begin(l), i;

	for (i = 0; i < l->n; i++)
		if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL))
			fail(l, "a sleep was interrupted");
	end(l, began);
}

/* Uses n ms of CPU time. */
static _Noreturn void burn(struct prove_load *l)
{
	struct timespec used = {};
	u64 began = begin(l);

	while (used.tv_sec * NSEC_PER_SEC + used.tv_nsec < l->n * NSEC_PER_MSEC)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	end(l, began);
}

void prove_load__burn(struct prove_load *l)
{
	burn(l);
}

/*
 * Uses few time slices, since no task of normal priority can take its CPU. Without the privilege for this, it uses more
 * slices.
 */
void prove_load__burn_alone(struct prove_load *l)
{
	const struct sched_param lowest = { 1 };

	sched_setscheduler(0, SCHED_FIFO, &lowest);
	burn(l);
}

static int move_to(int cpu)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	return sched_setaffinity(0, sizeof(only), &only);
}

/* Moves back and forth between two CPUs, starting on the first. */
void prove_load__moves(struct prove_load *l)
{
	cpu_set_t all;
	int cpu, here = -1, there = -1;
	u64 began, i;

	if (sched_getaffinity(0, sizeof(all), &all))
		fail(l, "cannot read the CPU affinity");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		if (here >= 0)
			there = cpu;
		else
			here = cpu;
	}
	errno = 0;
	if (there < 0 || move_to(here))
		fail(l, "cannot move between two CPUs");
	began = begin(l);
	for (i = 0; i < l->n; i++)
		if (move_to(i % 2 ? here : there))
			fail(l, "cannot move to another CPU");
	end(l, began);
}

/* The echo thread of the pipe load. It does not exit, because its time is accounted only while it exists. */
static void *echo(void *arg)
{
	int *fd = arg;
	char byte;

	while (read(fd[0], &byte, 1) == 1 && write(fd[1], &byte, 1) == 1)
		;
	return NULL;
}

void prove_load__pipe(struct prove_load *l)
{
	int there[2], back[2], theirs[2];
	pthread_t thread;
	u64 began, i;
	char byte = 0;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		fail(l, "cannot create pipes");
	theirs[0] = there[0];
	theirs[1] = back[1];
	if (pthread_create(&thread, NULL, echo, theirs))
		fail(l, "cannot create a thread");
	began = begin(l);
	for (i = 0; i < l->n; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail(l, "a pipe broke");
	end(l, began);
}

/*
 * --- memory, locks, network, functions ---------------------------------------------------------
 */

/* Uses small pages, so that each page causes one fault. */
void prove_load__pages(struct prove_load *l)
{
	size_t page = sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, l->n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 began, i;

	if (memory == MAP_FAILED)
		fail(l, "no memory");
	madvise((void *)memory, l->n * page, MADV_NOHUGEPAGE);
	began = begin(l);
	for (i = 0; i < l->n; i++)
		memory[i * page] = 1;
	end(l, began);
}

/* No task wakes the futex. */
void prove_load__futex(struct prove_load *l)
{
	static u32 word;
	const struct timespec time = { 0, PROVE_WAIT_NS };
	u64 began, i;

	l->truth->address = (u64)(unsigned long)&word;
	began = begin(l);
	for (i = 0; i < l->n; i++)
		if (!syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) || errno != ETIMEDOUT)
			fail(l, "a wait for a futex ended early");
	end(l, began);
}

void prove_load__connections(struct prove_load *l)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), near, far;
	socklen_t size = sizeof(address);
	char bytes[PROVE_SENT] = {};
	u64 began, i;

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		fail(l, "cannot listen on 127.0.0.1");
	began = begin(l);
	for (i = 0; i < l->n; i++) {
		near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (near < 0 || connect(near, (struct sockaddr *)&address, size))
			fail(l, "cannot connect to 127.0.0.1");
		far = accept(listener, NULL, NULL);
		if (far < 0 || send(near, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
		    recv(far, bytes, sizeof(bytes), MSG_WAITALL) != sizeof(bytes))
			fail(l, "cannot send on 127.0.0.1");
		close(near);
		close(far);
	}
	end(l, began);
}

__attribute__((noinline, noclone, used)) void tally_prove_called(u64 a, u64 b)
{
	asm volatile("" : : "r"(a), "r"(b) : "memory");
}

void prove_load__function(struct prove_load *l)
{
	u64 began = begin(l), i;

	for (i = 0; i < l->n; i++) {
		tally_prove_called(i, i * 7 + 1);
		l->truth->sum += i * (i * 7 + 1);
	}
	end(l, began);
}
