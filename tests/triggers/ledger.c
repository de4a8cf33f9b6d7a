// SPDX-License-Identifier: BSD-2-Clause
/*
 * ledger MS FILE: threads that each do one kind of thing for MS ms after go, most of them waiting 10 ms at a time:
 *   user, system        compute in either mode
 *   futex, timer, poll, epoll, accept, sigwait, semop     wait with a timeout
 *   pipe, unix, tcp, udp, eventfd     read what another thread writes
 *   msgrcv              receives what another thread sends
 *   flock, ofd          want a file lock that another thread holds
 *   wait4, vfork        wait for a child that sleeps
 *   direct              reads FILE, past the page cache
 * ready
 * done [TID NS]...    in that order: ns by CLOCK_MONOTONIC in all its calls, or of its CPU time in that mode
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "trigger.h"

#define NAP_NS 10000000L

struct kind {
	const char *name;
	void (*begin)(struct kind *k);  /* before ready; NULL: nothing */
	void (*once)(struct kind *k);   /* the call that waits */
	void (*feed)(struct kind *k);   /* what another thread does after each nap; NULL: nothing */
	int fd[2];
	pid_t tid;
	uint64_t ns;
	volatile bool done;
};

static const struct timespec nap = { 0, NAP_NS };
static volatile uint64_t until;
static int gate[2];
static const char *path;

static void must(bool ok, const char *what)
{
	if (!ok)
		error(1, errno, "%s", what);
}

/*
 * --- waits with a timeout ----------------------------------------------------------------------
 */

static void once_futex(struct kind *k)
{
	static int word;

	(void)k;
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &nap, NULL, 0);
}

static void once_timer(struct kind *k)
{
	(void)k;
	nanosleep(&nap, NULL);
}

static void once_poll(struct kind *k)
{
	(void)k;
	poll(NULL, 0, NAP_NS / 1000000);
}

static void begin_epoll(struct kind *k)
{
	k->fd[0] = epoll_create1(0);
	must(k->fd[0] >= 0, "epoll_create1");
}

static void once_epoll(struct kind *k)
{
	struct epoll_event e;

	epoll_wait(k->fd[0], &e, 1, NAP_NS / 1000000);
}

static void listen_on(int fd, struct sockaddr_in *a)
{
	socklen_t n = sizeof(*a);

	*a = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	must(fd >= 0 && !bind(fd, (struct sockaddr *)a, n) && !getsockname(fd, (struct sockaddr *)a, &n), "bind");
}

static void begin_accept(struct kind *k)
{
	const struct timeval timeout = { 0, NAP_NS / 1000 };
	struct sockaddr_in a;

	k->fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	listen_on(k->fd[0], &a);
	must(!listen(k->fd[0], 1) && !setsockopt(k->fd[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)),
	     "listen");
}

static void once_accept(struct kind *k)
{
	accept(k->fd[0], NULL, NULL);
}

static void once_sigwait(struct kind *k)
{
	sigset_t set;

	(void)k;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &nap);
}

static void begin_semop(struct kind *k)
{
	k->fd[0] = semget(IPC_PRIVATE, 1, 0600);
	must(k->fd[0] >= 0, "semget");
}

static void once_semop(struct kind *k)
{
	struct sembuf op = { 0, -1, 0 };

	semtimedop(k->fd[0], &op, 1, &nap);
}

/*
 * --- waits for another thread ------------------------------------------------------------------
 */

static void once_read(struct kind *k)
{
	char buf[8];

	must(read(k->fd[0], buf, sizeof(buf)) > 0, k->name);
}

static void feed_write(struct kind *k)
{
	must(write(k->fd[1], &(uint64_t){ 1 }, 8) == 8, k->name);
}

static void begin_pipe(struct kind *k)
{
	must(!pipe(k->fd), "pipe");
}

static void begin_unix(struct kind *k)
{
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, k->fd), "socketpair");
}

static void begin_tcp(struct kind *k)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a;

	listen_on(listener, &a);
	k->fd[1] = socket(AF_INET, SOCK_STREAM, 0);
	must(!listen(listener, 1) && !connect(k->fd[1], (struct sockaddr *)&a, sizeof(a)), "connect");
	k->fd[0] = accept(listener, NULL, NULL);
	must(k->fd[0] >= 0, "accept");
}

static void begin_udp(struct kind *k)
{
	struct sockaddr_in a;

	k->fd[0] = socket(AF_INET, SOCK_DGRAM, 0);
	listen_on(k->fd[0], &a);
	k->fd[1] = socket(AF_INET, SOCK_DGRAM, 0);
	must(!connect(k->fd[1], (struct sockaddr *)&a, sizeof(a)), "connect");
}

static void begin_eventfd(struct kind *k)
{
	k->fd[0] = k->fd[1] = eventfd(0, 0);
	must(k->fd[0] >= 0, "eventfd");
}

struct message {
	long type;
	char text[8];
};

static void begin_msgrcv(struct kind *k)
{
	k->fd[0] = msgget(IPC_PRIVATE, 0600);
	must(k->fd[0] >= 0, "msgget");
}

static void once_msgrcv(struct kind *k)
{
	struct message m;

	must(msgrcv(k->fd[0], &m, sizeof(m.text), 0, 0) >= 0, "msgrcv");
}

static void feed_msgrcv(struct kind *k)
{
	must(!msgsnd(k->fd[0], &(struct message){ 1, "text" }, sizeof(((struct message *)0)->text), 0), "msgsnd");
}

/* The feeder holds the lock except for a moment after each nap. */
static void begin_lock(struct kind *k)
{
	char name[] = "/tmp/ledger-XXXXXX";

	k->fd[0] = mkstemp(name);
	k->fd[1] = open(name, O_RDWR);
	must(k->fd[0] >= 0 && k->fd[1] >= 0, "mkstemp");
	unlink(name);
}

static void once_flock(struct kind *k)
{
	must(!flock(k->fd[0], LOCK_EX) && !flock(k->fd[0], LOCK_UN), "flock");
}

static void feed_flock(struct kind *k)
{
	must(!flock(k->fd[1], LOCK_EX) && !nanosleep(&nap, NULL) && !flock(k->fd[1], LOCK_UN), "flock");
}

static void set_ofd(int fd, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };

	must(!fcntl(fd, F_OFD_SETLKW, &l), "F_OFD_SETLKW");
}

static void once_ofd(struct kind *k)
{
	set_ofd(k->fd[0], F_WRLCK);
	set_ofd(k->fd[0], F_UNLCK);
}

static void feed_ofd(struct kind *k)
{
	set_ofd(k->fd[1], F_WRLCK);
	nanosleep(&nap, NULL);
	set_ofd(k->fd[1], F_UNLCK);
}

static void once_wait4(struct kind *k)
{
	pid_t pid = fork();

	(void)k;
	must(pid >= 0, "fork");
	if (!pid) {
		nanosleep(&nap, NULL);
		_exit(0);
	}
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

static void once_vfork(struct kind *k)
{
	pid_t pid = vfork();

	(void)k;
	must(pid >= 0, "vfork");
	if (!pid) {
		syscall(SYS_nanosleep, &nap, NULL);
		_exit(0);
	}
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

static void begin_direct(struct kind *k)
{
	k->fd[0] = open(path, O_RDONLY | O_DIRECT);
	if (k->fd[0] < 0 && errno == EINVAL)
		k->fd[0] = open(path, O_RDONLY);        /* files in memory have no device */
	must(k->fd[0] >= 0, path);
}

static void once_direct(struct kind *k)
{
	static char buf[65536] __attribute__((aligned(4096)));
	static off_t at;
	ssize_t n = pread(k->fd[0], buf, sizeof(buf), at);

	must(n >= 0, "pread");
	at = n ? at + n : 0;
}

/*
 * --- on a CPU ----------------------------------------------------------------------------------
 */

static void once_user(struct kind *k)
{
	volatile int i;

	(void)k;
	for (i = 0; i < 100000; i++)
		;
}

static void once_system(struct kind *k)
{
	static char buf[1 << 20];

	(void)k;
	must(getrandom(buf, sizeof(buf), 0) > 0, "getrandom");
}

static struct kind kinds[] = {
	{ .name = "user", .once = once_user },
	{ .name = "system", .once = once_system },
	{ .name = "futex", .once = once_futex },
	{ .name = "timer", .once = once_timer },
	{ .name = "poll", .once = once_poll },
	{ .name = "epoll", .begin = begin_epoll, .once = once_epoll },
	{ .name = "accept", .begin = begin_accept, .once = once_accept },
	{ .name = "sigwait", .once = once_sigwait },
	{ .name = "semop", .begin = begin_semop, .once = once_semop },
	{ .name = "pipe", .begin = begin_pipe, .once = once_read, .feed = feed_write },
	{ .name = "unix", .begin = begin_unix, .once = once_read, .feed = feed_write },
	{ .name = "tcp", .begin = begin_tcp, .once = once_read, .feed = feed_write },
	{ .name = "udp", .begin = begin_udp, .once = once_read, .feed = feed_write },
	{ .name = "eventfd", .begin = begin_eventfd, .once = once_read, .feed = feed_write },
	{ .name = "msgrcv", .begin = begin_msgrcv, .once = once_msgrcv, .feed = feed_msgrcv },
	{ .name = "flock", .begin = begin_lock, .once = once_flock, .feed = feed_flock },
	{ .name = "ofd", .begin = begin_lock, .once = once_ofd, .feed = feed_ofd },
	{ .name = "wait4", .once = once_wait4 },
	{ .name = "vfork", .once = once_vfork },
	{ .name = "direct", .begin = begin_direct, .once = once_direct },
};

#define KINDS ((long)(sizeof(kinds) / sizeof(*kinds)))

static uint64_t mode_ns(bool system)
{
	struct rusage u;
	const struct timeval *t = system ? &u.ru_stime : &u.ru_utime;

	getrusage(RUSAGE_THREAD, &u);
	return t->tv_sec * 1000000000ULL + t->tv_usec * 1000;
}

/* Waits in a call of none of these kinds, until main() closes the other end. */
static void meet(void)
{
	char c;
	const struct iovec v = { &c, 1 };

	readv(gate[0], &v, 1);
}

static void *work(void *arg)
{
	struct kind *k = arg;
	bool computes = !strcmp(k->name, "user") || !strcmp(k->name, "system");
	uint64_t from;

	k->tid = gettid();
	meet();
	while (trigger__now(CLOCK_MONOTONIC) < until) {
		from = trigger__now(CLOCK_MONOTONIC);
		k->once(k);
		k->ns += trigger__now(CLOCK_MONOTONIC) - from;
	}
	if (computes)
		k->ns = mode_ns(!strcmp(k->name, "system"));
	k->done = true;
	return NULL;
}

/* Feeds for as long as a thread waits for it. */
static void *feed(void *arg)
{
	struct kind *k = arg;

	meet();
	while (!k->done) {
		k->feed(k);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static pthread_t start(void *(*run)(void *), struct kind *k)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, k), "pthread_create");
	return thread;
}

int main(int argc, char **argv)
{
	long ms = trigger__number(argc, argv, 1), i;
	pthread_t thread[KINDS], feeder[KINDS];
	sigset_t set;

	path = argc > 2 ? argv[2] : argv[0];
	must(!pipe(gate), "pipe");
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < KINDS; i++) {
		if (kinds[i].begin)
			kinds[i].begin(&kinds[i]);
		thread[i] = start(work, &kinds[i]);
		if (kinds[i].feed)
			feeder[i] = start(feed, &kinds[i]);
	}
	trigger__say("ready");
	trigger__wait();
	until = trigger__now(CLOCK_MONOTONIC) + ms * 1000000ULL;
	close(gate[1]);
	for (i = 0; i < KINDS; i++) {
		pthread_join(thread[i], NULL);
		if (kinds[i].feed)
			pthread_join(feeder[i], NULL);
	}
	semctl(kinds[8].fd[0], 0, IPC_RMID);
	msgctl(kinds[14].fd[0], IPC_RMID, NULL);
	printf("done");
	for (i = 0; i < KINDS; i++)
		printf(" %d %llu", kinds[i].tid, (unsigned long long)kinds[i].ns);
	putchar('\n');
	fflush(stdout);
	trigger__end();
}
