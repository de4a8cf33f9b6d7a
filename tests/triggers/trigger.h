/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the trigger programs. Each does one thing a known number of times, between two points at which all its
 * threads sleep, so that a test can read the kernel's statistics at rest:
 *
 *   > ready [NUMBER...]    its threads exist and go to sleep
 *   < one line             go; end of file also means go: it then runs without a test
 *   > done [NUMBER...]     its threads have done their work and go to sleep
 *   < end of file          exit
 *
 * TRIGGER_COMM in the environment becomes the name of all its threads.
 */
#ifndef TALLY_TRIGGER_H
#define TALLY_TRIGGER_H

#include <errno.h>
#include <error.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The third and second field of schedstat: how often and how long a task waited for a CPU. */
struct books {
	uint64_t count;
	uint64_t delay_ns;
};

static inline void trigger__name(void)
{
	const char *name = getenv("TRIGGER_COMM");

	if (name && prctl(PR_SET_NAME, name))
		error(1, errno, "PR_SET_NAME");
}

/* In a child: makes it end with its parent, which may have ended already. */
static inline void trigger__end_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
}

/* argv[i] as a number; ends the program if it is missing. */
static inline long trigger__number(int argc, char **argv, int i)
{
	if (i >= argc)
		error(2, 0, "argument %d is missing", i);
	return atol(argv[i]);
}

static inline void __attribute__((format(printf, 1, 2))) trigger__say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* Waits for a line or the end of file. */
static inline void trigger__wait(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

/* The end of every trigger: its threads stay asleep until the test has read their statistics. */
static inline void __attribute__((noreturn)) trigger__end(void)
{
	trigger__wait();
	exit(0);
}

static inline uint64_t trigger__now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Computes until this thread has used this much CPU time. */
static inline void trigger__spin(uint64_t ns)
{
	uint64_t end = trigger__now(CLOCK_THREAD_CPUTIME_ID) + ns;
	volatile int i;

	while (trigger__now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (i = 0; i < 1000; i++)
			;
}

/* Pins a thread (0: this one) to one CPU; -1 leaves it as it is. */
static inline void trigger__pin(pid_t tid, long cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		error(1, errno, "sched_setaffinity to CPU %ld", cpu);
}

/*
 * Makes a system call without the C library, whose functions may have no frames, which hides their callers from a walk
 * by frame pointers. Returns its result, or a negative errno.
 */
static inline __attribute__((always_inline)) long trigger__call(long number, const void *first, const void *second)
{
#if defined(__x86_64__)
	long result = number;

	__asm__ volatile("syscall" : "+a"(result) : "D"(first), "S"(second) : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = (long)first;
	register long x1 __asm__("x1") = (long)second;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
	return x0;
#endif
}

/* Reads an open /proc/.../schedstat. */
static inline struct books trigger__books(int fd)
{
	unsigned long long delay, count;
	char line[128];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n <= 0)
		error(1, errno, "schedstat");
	line[n] = 0;
	if (sscanf(line, "%*u %llu %llu", &delay, &count) != 2)
		error(1, 0, "schedstat: %s", line);
	return (struct books){ count, delay };
}

/*
 * Kernels may be built or booted without 32-bit system calls, and some virtual machines lack them: there, int $0x80
 * faults.
 */
static __thread struct {
	sigjmp_buf back;
	volatile sig_atomic_t trying, none;
} trigger__32;

static inline void trigger__no_32(int number)
{
	if (trigger__32.trying)
		siglongjmp(trigger__32.back, 1);
	signal(number, SIG_DFL);
}

/* Programs that make 32-bit calls call this once, at their start. */
static inline void trigger__prepare_32(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = trigger__no_32;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, NULL);
}

/* For 32-bit calls: memory below 4 GiB, on machines that have such memory. */
#ifndef MAP_32BIT
#define MAP_32BIT 0
#endif

/*
 * Makes a 32-bit system call. Returns its result or a negative errno, -ENOSYS on machines without them. Arguments must
 * point below 4 GiB (MAP_32BIT).
 */
static inline long trigger__call_32(long number, long a, long b, long c, long d, long e)
{
#ifdef __x86_64__
	long ret = number;

	if (trigger__32.none)
		return -ENOSYS;
	if (sigsetjmp(trigger__32.back, 0)) {
		trigger__32.trying = 0;
		trigger__32.none = 1;
		return -ENOSYS;
	}
	trigger__32.trying = 1;
	__asm__ volatile("int $0x80"
			 : "+a"(ret)
			 : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory", "r8", "r9", "r10", "r11");
	trigger__32.trying = 0;
	return ret;
#else
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e;
	return -ENOSYS;
#endif
}

/* Threads that wait, work, and wait again. */
struct crew {
	void (*work)(long i);
	pthread_barrier_t start, finish, never;
};

struct crew_member {
	struct crew *crew;
	long i;
};

static inline void *crew__member(void *arg)
{
	struct crew_member *m = arg;

	pthread_barrier_wait(&m->crew->start);
	m->crew->work(m->i);
	pthread_barrier_wait(&m->crew->finish);
	pthread_barrier_wait(&m->crew->never);
	return NULL;
}

/* Creates n threads that are ready to run work(0) .. work(n - 1). */
static inline void crew__hire(struct crew *crew, long n, void (*work)(long i))
{
	struct crew_member *m = calloc(n, sizeof(*m));
	pthread_attr_t attr;
	pthread_t thread;
	long i;

	crew->work = work;
	pthread_barrier_init(&crew->start, NULL, n + 1);
	pthread_barrier_init(&crew->finish, NULL, n + 1);
	pthread_barrier_init(&crew->never, NULL, n + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (i = 0; i < n; i++) {
		m[i] = (struct crew_member){ crew, i };
		errno = pthread_create(&thread, &attr, crew__member, &m[i]);
		if (errno)
			error(1, errno, "pthread_create");
	}
}

static inline void crew__start(struct crew *crew)
{
	pthread_barrier_wait(&crew->start);
}

static inline void crew__finish(struct crew *crew)
{
	pthread_barrier_wait(&crew->finish);
}

#endif /* TALLY_TRIGGER_H */
