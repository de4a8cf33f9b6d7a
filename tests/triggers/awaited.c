// SPDX-License-Identifier: BSD-2-Clause
/*
 * awaited N DIR: threads that wait for known objects, N times each, some 10 ms at a time:
 *   fifo      reads DIR/fifo
 *   pipe      reads a pipe
 *   tcp       reads from a connection over the loopback device
 *   unix      reads from the socket DIR/socket, as its client
 *   futex     waits for a futex with a timeout
 *   locks     wants the locks of DIR/long and DIR/short, which others hold for 30 and 10 ms
 * ready PIPE PORT ADDRESS     the inode of the pipe, the port of the peer, the address of the futex
 * done TID NS NS...           in that order: ns by CLOCK_MONOTONIC in the calls that wait; the last one has two objects
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "trigger.h"

#define NAP_NS 10000000L

enum kind {
	FIFO,
	PIPE,
	TCP,
	UNIX,
	FUTEX,
	LOCKS,
	KINDS
};

/* Two ends: the thread reads from the first, and its feeder writes to the second. */
static struct {
	int fd[2];
	pid_t tid;
	uint64_t ns[2];
} kinds[KINDS];

static int locks[2][2]; /* of each file, those of the thread and of its feeder */
static sem_t held[2], wanted[2];
static long n;
static int word;

static void must(bool ok, const char *what)
{
	if (!ok)
		error(1, errno, "%s", what);
}

static void nap(long naps)
{
	const struct timespec time = { 0, naps * NAP_NS };

	nanosleep(&time, NULL);
}

/*
 * --- objects -----------------------------------------------------------------------------------
 */

static long make_pipe(void)
{
	struct stat st;

	must(!pipe(kinds[PIPE].fd) && !fstat(kinds[PIPE].fd[0], &st), "pipe");
	return st.st_ino;
}

static long make_tcp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(a);

	must(!bind(listener, (struct sockaddr *)&a, size) && !listen(listener, 1) &&
		     !getsockname(listener, (struct sockaddr *)&a, &size),
	     "bind");
	kinds[TCP].fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	must(!connect(kinds[TCP].fd[0], (struct sockaddr *)&a, size), "connect");
	kinds[TCP].fd[1] = accept(listener, NULL, NULL);
	must(kinds[TCP].fd[1] >= 0, "accept");
	return ntohs(a.sin_port);
}

static void make_unix(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "socket");
	must(!bind(listener, (struct sockaddr *)&a, sizeof(a)) && !listen(listener, 1), "bind");
	kinds[UNIX].fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	must(!connect(kinds[UNIX].fd[0], (struct sockaddr *)&a, sizeof(a)), "connect");
	kinds[UNIX].fd[1] = accept(listener, NULL, NULL);
	must(kinds[UNIX].fd[1] >= 0, "accept");
}

static void make_lock(int i, const char *name)
{
	locks[i][0] = open(name, O_CREAT | O_RDWR, 0600);
	locks[i][1] = open(name, O_RDWR);
	must(locks[i][0] >= 0 && locks[i][1] >= 0, name);
	sem_init(&held[i], 0, 0);
	sem_init(&wanted[i], 0, 0);
}

/*
 * --- waits -------------------------------------------------------------------------------------
 */

static void wait_once(enum kind kind)
{
	const struct timespec timeout = { 0, NAP_NS };
	char c;

	if (kind == FUTEX)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
	else
		must(read(kinds[kind].fd[0], &c, 1) == 1, "read");
}

/* The feeder holds the lock until some time after it has posted held. */
static void want_lock(int i)
{
	uint64_t from;

	sem_wait(&held[i]);
	from = trigger__now(CLOCK_MONOTONIC);
	must(!flock(locks[i][0], LOCK_EX), "flock");
	kinds[LOCKS].ns[i] += trigger__now(CLOCK_MONOTONIC) - from;
	must(!flock(locks[i][0], LOCK_UN), "flock");
	sem_post(&wanted[i]);
}

static void hold_lock(int i, long naps)
{
	must(!flock(locks[i][1], LOCK_EX), "flock");
	sem_post(&held[i]);
	nap(naps);
	must(!flock(locks[i][1], LOCK_UN), "flock");
	sem_wait(&wanted[i]);
}

static void work(long i)
{
	uint64_t from;
	long k;

	kinds[i].tid = gettid();
	for (k = 0; k < n; k++) {
		if (i == LOCKS) {
			want_lock(0);
			want_lock(1);
			continue;
		}
		from = trigger__now(CLOCK_MONOTONIC);
		wait_once(i);
		kinds[i].ns[0] += trigger__now(CLOCK_MONOTONIC) - from;
	}
}

/* Ends the waits of that kind. */
static void feed(long i)
{
	long k;

	for (k = 0; k < n; k++) {
		if (i == LOCKS) {
			hold_lock(0, 3);
			hold_lock(1, 1);
			continue;
		}
		nap(1);
		must(write(kinds[i].fd[1], "", 1) == 1, "write");
	}
}

static void work_or_feed(long i)
{
	if (i < KINDS)
		work(i);
	else if (i - KINDS != FUTEX)
		feed(i - KINDS);
}

int main(int argc, char **argv)
{
	static struct crew crew;
	long inode, port;
	int i;

	n = trigger__number(argc, argv, 1);
	must(argc > 2 && !chdir(argv[2]), "chdir");
	must(!mkfifo("fifo", 0600), "fifo");
	kinds[FIFO].fd[0] = kinds[FIFO].fd[1] = open("fifo", O_RDWR);
	inode = make_pipe();
	port = make_tcp();
	make_unix();
	make_lock(0, "long");
	make_lock(1, "short");
	crew__hire(&crew, 2 * KINDS, work_or_feed);
	trigger__say("ready %ld %ld %lu", inode, port, (unsigned long)&word);
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	printf("done");
	for (i = 0; i < KINDS; i++) {
		printf(" %d %llu", kinds[i].tid, (unsigned long long)kinds[i].ns[0]);
		if (i == LOCKS)
			printf(" %llu", (unsigned long long)kinds[i].ns[1]);
	}
	putchar('\n');
	fflush(stdout);
	trigger__end();
}
