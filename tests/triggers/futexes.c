// SPDX-License-Identifier: BSD-2-Clause
/*
 * futexes N US: a thread that waits for futexes: N times until it is woken, N times until a timeout of US us, N times
 * with a value that differs from the expected one, N times until a signal comes; then once for a mutex and once for a
 * PI futex, both held by main. Reports its tid; then how many waits were woken, timed out, had a changed value, and
 * were interrupted; how many ns each of the four took by its clock; how many wakeups were attempted, and how many of
 * them woke it.
 *
 * futexes long US: one wait of US us, which the test may stop and continue. A wait of more than ten seconds outlasts
 * the process, and is not reported.
 *
 * futexes glibc N US: a thread whose waits for a condition variable time out N times, after US us each, and are ended
 * by a signal to the variable N times; then main waits for the thread's end. Every wait sleeps.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "trigger.h"

enum result { WOKEN, TIMED_OUT, CHANGED, SIGNALLED, RESULTS };

/* Polling at a higher rate would leave an emulated machine little time for anything else. */
#define POLL_US 2000

static _Atomic int phase;       /* what the thread is to do; -1: done */
static int orders[2];           /* a pipe: the thread waits for one byte per phase */
static _Atomic pid_t waiter;
static uint32_t word, pi_word;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long n, us;
static uint64_t count[RESULTS], spent[RESULTS];

static long futex(uint32_t *at, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static enum result wait_once(uint32_t expected, const struct timespec *timeout)
{
	uint64_t began = trigger__now(CLOCK_MONOTONIC);
	long ret = futex(&word, FUTEX_WAIT, expected, timeout);
	enum result r = !ret ? WOKEN : errno == ETIMEDOUT ? TIMED_OUT :
			errno == EAGAIN ? CHANGED : SIGNALLED;

	count[r]++;
	spent[r] += trigger__now(CLOCK_MONOTONIC) - began;
	return r;
}

static void wait_for(enum result wanted)
{
	const struct timespec timeout = { us / 1000000, us % 1000000 * 1000 };
	uint64_t end = count[wanted] + n;

	while (count[wanted] < end)
		wait_once(wanted == CHANGED, wanted == TIMED_OUT ? &timeout : NULL);
}

enum phase { NOTHING, BY_RESULT, MUTEX = BY_RESULT + RESULTS, PI, LONG };

static void *work(void *arg)
{
	const struct timespec timeout = { us / 1000000, us % 1000000 * 1000 };
	char order;

	waiter = gettid();
	while (read(orders[0], &order, 1) == 1) {
		if (phase == MUTEX) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		} else if (phase == PI) {
			futex(&pi_word, FUTEX_LOCK_PI, 0, NULL);
			futex(&pi_word, FUTEX_UNLOCK_PI, 0, NULL);
		} else if (phase == LONG) {
			wait_once(0, &timeout);
		} else {
			wait_for(phase - BY_RESULT);
		}
		phase = -1;
	}
	return arg;
}

static void begin(int what)
{
	phase = what;
	if (write(orders[1], "", 1) != 1)
		error(1, errno, "pipe");
}

static void let(int what)
{
	begin(what);
	while (phase != -1)
		usleep(POLL_US);
}

/* Does that thread sleep in futex()? */
static bool sleeps(pid_t thread)
{
	char path[64], line[256];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", thread);
	fd = open(path, O_RDONLY);
	got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (got < 0)
		error(1, errno, "%s", path);
	line[got] = 0;
	close(fd);
	return atol(line) == SYS_futex && line[0] != 'r';
}

static void await_sleep(void)
{
	do
		usleep(POLL_US);
	while (!sleeps(waiter));
}

static void no_work(int number)
{
	(void)number;
}

static void let_be_woken(uint64_t *tries, uint64_t *woken)
{
	begin(BY_RESULT + WOKEN);
	while (phase != -1) {
		++*tries;
		*woken += futex(&word, FUTEX_WAKE, 1, NULL);
		usleep(POLL_US);
	}
}

/* Sends signals only while the thread sleeps: on a slow machine, each signal would otherwise come before it sleeps. */
static void let_be_interrupted(void)
{
	struct sigaction action = { .sa_handler = no_work };

	sigaction(SIGUSR1, &action, NULL);
	begin(BY_RESULT + SIGNALLED);
	while (phase != -1) {
		if (sleeps(waiter))
			syscall(SYS_tgkill, getpid(), waiter, SIGUSR1);
		usleep(POLL_US);
	}
}

static void let_want_locks(void)
{
	pthread_mutex_lock(&mutex);
	begin(MUTEX);
	await_sleep();
	pthread_mutex_unlock(&mutex);
	while (phase != -1)
		usleep(POLL_US);
	pi_word = gettid();
	begin(PI);
	await_sleep();
	futex(&pi_word, FUTEX_UNLOCK_PI, 0, NULL);
	while (phase != -1)
		usleep(POLL_US);
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic long signalled;  /* waits ended by a signal to the variable */

static void *wait_by_glibc(void *arg)
{
	struct timespec end;
	long i;

	waiter = gettid();
	pthread_mutex_lock(&mutex);
	for (i = 0; i < n; i++) {
		uint64_t end_ns = trigger__now(CLOCK_REALTIME) + us * 1000;

		end = (struct timespec){ end_ns / 1000000000, end_ns % 1000000000 };
		pthread_cond_timedwait(&changed, &mutex, &end);
	}
	phase = -1;
	while (signalled < n) {
		pthread_cond_wait(&changed, &mutex);
		signalled++;
	}
	pthread_mutex_unlock(&mutex);
	while (!sleeps(getpid()))
		usleep(POLL_US);
	return arg;
}

static void let_glibc_wait(void)
{
	pthread_t thread;
	long i;

	phase = LONG;
	if (pthread_create(&thread, NULL, wait_by_glibc, NULL))
		error(1, 0, "pthread_create");
	while (phase != -1)
		usleep(POLL_US);
	for (i = 0; i < n; i++) {
		while (signalled < i)
			usleep(POLL_US);
		await_sleep();
		pthread_cond_signal(&changed);
	}
	pthread_join(thread, NULL);
}

static int by_glibc(int argc, char **argv)
{
	n = trigger__number(argc, argv, 2);
	us = trigger__number(argc, argv, 3);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	let_glibc_wait();
	trigger__say("done %d", waiter);
	trigger__end();
}

int main(int argc, char **argv)
{
	bool is_long = argc > 1 && !strcmp(argv[1], "long");
	uint64_t tries = 0, woken = 0;
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "glibc"))
		return by_glibc(argc, argv);
	n = is_long ? 1 : trigger__number(argc, argv, 1);
	us = trigger__number(argc, argv, 2);
	trigger__name();
	if (pipe2(orders, O_CLOEXEC) || pthread_create(&thread, NULL, work, NULL))
		error(1, 0, "pthread_create");
	while (!waiter)
		usleep(POLL_US);
	trigger__say("ready %d", waiter);
	trigger__wait();
	if (is_long && us > 10000000) {
		begin(LONG);
		trigger__end();
	} else if (is_long) {
		let(LONG);
	} else {
		let_be_woken(&tries, &woken);
		let(BY_RESULT + TIMED_OUT);
		let(BY_RESULT + CHANGED);
		let_be_interrupted();
		let_want_locks();
	}
	trigger__say("done %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu", count[WOKEN], count[TIMED_OUT],
		     count[CHANGED], count[SIGNALLED], spent[WOKEN], spent[TIMED_OUT],
		     spent[CHANGED], spent[SIGNALLED], tries, woken);
	trigger__end();
}
