// SPDX-License-Identifier: BSD-2-Clause
/*
 * waits KIND [N]: threads or processes that wait for each other forever.
 *   ring N      N threads, each with a mutex, want that of the next
 *   robust N    the same with robust mutexes
 *   again       a thread wants a mutex that it already holds
 *   shared      two processes want each other's mutex in shared memory
 *   hidden      two processes have mutexes of their own that claim to belong to the other process
 *   chain N     N threads want a mutex of the first one, which wants a mutex of one that sleeps
 *   pi N        N threads want a mutex with priority inheritance of one that sleeps
 *   timed       two threads want each other's mutex, with a long timeout
 *   condition N N threads wait for a condition
 *   forged PID  a mutex claims to belong to PID
 *   join        a thread waits for the end of one that sleeps
 *   pipes, sockets, tcp, tcp6   two processes read from each other, but neither writes; tcp6: one end of each
 *               connection is IPv4, the other one IPv6
 *   poll, ppoll, polls  as sockets, by calls of that name; polls: of tcp, with a timeout of an hour
 *   full        two processes write to full pipes that the other one never reads
 *   helped      as pipes; a third process could write
 *   idle        as pipes; a second thread of the first process sleeps, and could write
 *   flocks      two processes want each other's lock of a file
 *   fcntls      a process wants the lock of another one, which sleeps
 *   child, vfork        a process waits for its child, which sleeps
 *   kernel-mutex N, rwsem N    N threads write to a pipe, or to a file, into which another one writes; that one
 *               waits for its memory, and holds the pipe's mutex or the file's rw_semaphore
 *   traced      a process has stopped for its tracer, which sleeps
 *   busy N      N threads take two mutexes and release them, again and again, after go
 *   pool N      N threads wait for work in epoll_wait, poll and a futex, one sleeps
 * ready TID...: all that wait or sleep, in order
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

#define MOST 64

static struct together {
	volatile pid_t tid[MOST];
	volatile int arrived;
	pthread_mutex_t mutex[MOST];
} *all;

static long n = 2;
static const char *kind;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static char path[2][32] = { "/tmp/waits-XXXXXX", "/tmp/waits-XXXXXX" };

static bool is(const char *name)
{
	return !strcmp(kind, name);
}

static void *shared_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		error(1, errno, "mmap");
	return at;
}

static void be(long i)
{
	all->tid[i] = gettid();
	__sync_fetch_and_add(&all->arrived, 1);
}

/* Waits until this many have acquired their locks. Does not sleep: in this program, sleeping threads never wake up. */
static void meet(int number)
{
	while (all->arrived < number)
		sched_yield();
}

static void sleep_on(void)
{
	const struct timespec day = { 86400, 0 };

	for (;;)
		nanosleep(&day, NULL);
}

/* Forks a process that ends with this one. Returns true in the child. */
static bool is_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		error(1, errno, "fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return !pid;
}

/*
 * --- mutexes -----------------------------------------------------------------------------------
 */

static void make_mutexes(void)
{
	pthread_mutexattr_t attributes;
	long i;

	pthread_mutexattr_init(&attributes);
	if (is("shared") || is("hidden"))
		pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (is("robust"))
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	if (is("pi"))
		pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	for (i = 0; i < MOST; i++)
		pthread_mutex_init(&all->mutex[i], &attributes);
}

static void want(long i)
{
	const struct timespec far = { 4000000000LL, 0 };

	if (is("timed"))
		pthread_mutex_timedlock(&all->mutex[i], &far);
	else
		pthread_mutex_lock(&all->mutex[i]);
	error(1, 0, "a mutex was given up");
}

static void *in_ring(void *arg)
{
	long i = (long)arg;

	pthread_mutex_lock(&all->mutex[i]);
	be(i);
	meet(n);
	want((i + 1) % n);
	return NULL;
}

/*
 * The last thread sleeps, the first one wants its mutex, and the others want that of the first or, with pi, of the
 * last.
 */
static void *in_chain(void *arg)
{
	long i = (long)arg;

	if (i == n)
		pthread_mutex_lock(&all->mutex[1]);
	else if (!i)
		pthread_mutex_lock(&all->mutex[0]);
	be(i);
	meet(n + 1);
	if (i == n)
		sleep_on();
	want(i && !is("pi") ? 0 : 1);
	return NULL;
}

static void *on_condition(void *arg)
{
	be((long)arg);
	pthread_mutex_lock(&all->mutex[0]);
	for (;;)
		pthread_cond_wait(&condition, &all->mutex[0]);
	return NULL;
}

static void *sleeps(void *arg)
{
	be((long)arg);
	sleep_on();
	return NULL;
}

static void *forges(void *arg)
{
	all->mutex[0].__data.__lock = 2;
	all->mutex[0].__data.__owner = (int)(long)arg;
	be(0);
	want(0);
	return NULL;
}

static void *relocks(void *arg)
{
	pthread_mutex_lock(&all->mutex[0]);
	be(0);
	want(0);
	return arg;
}

static pthread_t start(void *(*work)(void *), long i)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, work, (void *)i);

	if (err)
		error(1, err, "pthread_create");
	return thread;
}

static void *joins(void *arg)
{
	pthread_t other = start(sleeps, 1);

	be(0);
	meet(2);
	pthread_join(other, NULL);
	return arg;
}

static void *is_busy(void *arg)
{
	be((long)arg);
	/* Blocks until the test says go. */
	pthread_mutex_lock(&all->mutex[2]);
	pthread_mutex_unlock(&all->mutex[2]);
	for (;;) {
		pthread_mutex_lock(&all->mutex[0]);
		pthread_mutex_lock(&all->mutex[1]);
		pthread_mutex_unlock(&all->mutex[1]);
		pthread_mutex_unlock(&all->mutex[0]);
	}
	return NULL;
}

static void *in_pool(void *arg)
{
	struct epoll_event event;
	uint32_t word = 0;
	long i = (long)arg;

	be(i);
	if (i % 3 == 0)
		epoll_wait(epoll_create1(0), &event, 1, -1);
	else if (i % 3 == 1)
		poll(NULL, 0, -1);
	else
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return arg;
}

/*
 * --- locks of the kernel -----------------------------------------------------------------------
 */

/* A page that nobody provides: each access waits, in the kernel, too. */
static void *absent_page(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (uintptr_t)at, 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (at == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		error(1, errno, "userfaultfd");
	return at;
}

static bool is_asleep(pid_t tid)
{
	char name[64], text[256] = "", *state;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	f = fopen(name, "re");
	if (!f || !fgets(text, sizeof(text), f))
		error(1, errno, "%s", name);
	fclose(f);
	state = strrchr(text, ')');
	return state && strchr("SD", state[2]);
}

static int written_to(void)
{
	static int ends[2];
	int fd;

	if (is("kernel-mutex")) {
		if (pipe(ends))
			error(1, errno, "pipe");
		return ends[1];
	}
	fd = mkstemp(path[0]);
	unlink(path[0]);
	return fd;
}

/* The last one writes first. The others follow once it sleeps in the kernel. */
static void *writes_together(void *arg)
{
	static volatile int fd = -1;
	long i = (long)arg;
	void *from = "x";

	if (i == n) {
		from = absent_page();
		fd = written_to();
	} else {
		while (all->arrived < 1 || !is_asleep(all->tid[n]))
			usleep(1000);
	}
	be(i);
	if ((is("rwsem") ? pwrite(fd, from, 1, 0) : write(fd, from, 1)) != -2)
		error(1, errno, "the lock was released");
	return NULL;
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

static void in_shared_ring(void)
{
	if (is_child())
		in_ring((void *)1);
	if (is_child())
		in_ring((void *)0);
}

/* Each process has a copy of the mutexes, which says that the other one owns it. */
static void in_hidden_ring(void)
{
	struct together *shared = all;
	long i;

	for (i = 0; i < 2; i++) {
		if (!is_child())
			continue;
		be(i);
		meet(2);
		all = shared_memory(sizeof(*all));
		memcpy(all, shared, sizeof(*all));
		all->mutex[0].__data.__lock = 2;
		all->mutex[0].__data.__owner = shared->tid[!i];
		want(0);
	}
}

/* A connection over loopback. */
static void make_connection(int ends[2])
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *address = is("tcp6") ? (void *)&six : (void *)&four;
	socklen_t size = is("tcp6") ? sizeof(six) : sizeof(four);
	int listener = socket(address->sa_family, SOCK_STREAM, 0);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || ends[0] < 0 || bind(listener, address, size) || listen(listener, 1) ||
	    getsockname(listener, address, &size))
		error(1, errno, "listen");
	if (is("tcp6"))
		four.sin_port = six.sin6_port;
	if (connect(ends[0], (void *)&four, sizeof(four)))
		error(1, errno, "connect");
	ends[1] = accept(listener, NULL, NULL);
	if (ends[1] < 0)
		error(1, errno, "accept");
	close(listener);
}

static void make_ends(int ends[2])
{
	if (is("tcp") || is("tcp6") || is("polls"))
		make_connection(ends);
	else if (is("sockets") || is("poll") || is("ppoll") ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends))
		error(1, errno, "ends");
}

static void read_for_ever(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	char byte;

	if ((is("poll") && poll(&one, 1, -1)) || (is("ppoll") && ppoll(&one, 1, NULL, NULL)) ||
	    (is("polls") && poll(&one, 1, 3600 * 1000)))
		error(1, errno, "the other end has done something");
	if (read(fd, &byte, 1) != -2)
		error(1, errno, "the other end has done something");
}

static void fill(int fd)
{
	static const char much[1 << 20];

	for (;;)
		if (write(fd, much, sizeof(much)) < 0)
			error(1, errno, "write");
}

/* Each process reads from one pipe and has the write end of the other. */
static void in_pipes(void)
{
	int a[2], b[2];

	make_ends(a);
	make_ends(b);
	if (is("helped") && is_child()) {
		be(2);
		sleep_on();
	}
	if (is_child()) {
		close(a[1]);
		close(b[0]);
		if (is("idle"))
			start(sleeps, 2);
		be(0);
		if (is("full"))
			fill(b[1]);
		read_for_ever(a[0]);
	}
	if (is_child()) {
		close(a[0]);
		close(b[1]);
		be(1);
		if (is("full"))
			fill(a[1]);
		read_for_ever(b[0]);
	}
	close(a[0]);
	close(a[1]);
	close(b[0]);
	close(b[1]);
}

static void in_sockets(void)
{
	int ends[2], i;

	make_ends(ends);
	for (i = 0; i < 2; i++) {
		if (!is_child())
			continue;
		close(ends[!i]);
		be(i);
		read_for_ever(ends[i]);
	}
	close(ends[0]);
	close(ends[1]);
}

static void lock(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (is("flocks") ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLKW, &whole))
		error(1, errno, "lock");
}

static void in_locks(void)
{
	int i, fd[2];

	close(mkstemp(path[0]));
	close(mkstemp(path[1]));
	for (i = 0; i < 2; i++) {
		if (!is_child())
			continue;
		fd[0] = open(path[0], O_RDWR);
		fd[1] = open(path[1], O_RDWR);
		lock(fd[i]);
		be(i);
		meet(2);
		/* The kernel refuses deadlocks of fcntl(2) locks. */
		if (i && is("fcntls"))
			sleep_on();
		lock(fd[!i]);
	}
	meet(2);
	unlink(path[0]);
	unlink(path[1]);
}

static void be_traced(void)
{
	pid_t child;

	if (!is_child())
		return;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			error(1, errno, "ptrace");
		be(0);
		raise(SIGSTOP);
	}
	waitpid(child, NULL, 0);
	be(1);
	sleep_on();
}

static void wait_for_child(void)
{
	pid_t child;

	if (!is_child())
		return;
	be(0);
	child = is("vfork") ? vfork() : fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be(1);
		sleep_on();
	}
	waitpid(child, NULL, 0);
}

/*
 * --- all ---------------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	void *(*thread)(void *);
	int more;               /* threads or processes in addition to N */
	void (*processes)(void);
} kinds[] = {
	{ "ring", in_ring, 0, NULL },
	{ "robust", in_ring, 0, NULL },
	{ "timed", in_ring, 0, NULL },
	{ "chain", in_chain, 1, NULL },
	{ "pi", in_chain, 1, NULL },
	{ "condition", on_condition, 0, NULL },
	{ "pool", in_pool, 0, NULL },
	{ "again", relocks, -1, NULL },
	{ "kernel-mutex", writes_together, 1, NULL },
	{ "rwsem", writes_together, 1, NULL },
	{ "join", joins, 0, NULL },
	{ "shared", NULL, 0, in_shared_ring },
	{ "hidden", NULL, 0, in_hidden_ring },
	{ "pipes", NULL, 0, in_pipes },
	{ "full", NULL, 0, in_pipes },
	{ "helped", NULL, 1, in_pipes },
	{ "idle", NULL, 1, in_pipes },
	{ "busy", is_busy, 0, NULL },
	{ "traced", NULL, 0, be_traced },
	{ "sockets", NULL, 0, in_sockets },
	{ "tcp", NULL, 0, in_sockets },
	{ "tcp6", NULL, 0, in_sockets },
	{ "poll", NULL, 0, in_sockets },
	{ "ppoll", NULL, 0, in_sockets },
	{ "polls", NULL, 0, in_sockets },
	{ "flocks", NULL, 0, in_locks },
	{ "fcntls", NULL, 0, in_locks },
	{ "child", NULL, 0, wait_for_child },
	{ "vfork", NULL, 0, wait_for_child },
};

/* Returns the number of threads and processes. */
static long start_kind(long argument)
{
	size_t k;
	long i;

	if (is("forged")) {
		start(forges, argument);
		return 1;
	}
	for (k = 0; k < sizeof(kinds) / sizeof(*kinds) && !is(kinds[k].name); k++)
		;
	if (k == sizeof(kinds) / sizeof(*kinds))
		error(2, 0, "unknown: %s", kind);
	if (kinds[k].processes)
		kinds[k].processes();
	for (i = 0; !kinds[k].processes && i < (is("join") ? 1 : n + kinds[k].more); i++)
		start(kinds[k].thread, i);
	return n + kinds[k].more;
}

int main(int argc, char **argv)
{
	long argument = argc > 2 ? trigger__number(argc, argv, 2) : 2, number, i;

	if (argc < 2)
		error(2, 0, "which kind?");
	kind = argv[1];
	all = shared_memory(sizeof(*all));
	trigger__name();
	n = is("forged") ? 1 : argument;
	if (n >= MOST)
		error(2, 0, "too many");
	make_mutexes();
	if (is("busy"))
		pthread_mutex_lock(&all->mutex[2]);
	number = start_kind(argument);
	meet(number);
	printf("ready");
	for (i = 0; i < number; i++)
		printf(" %d", all->tid[i]);
	trigger__say("%s", "");
	trigger__wait();
	if (is("busy")) {
		pthread_mutex_unlock(&all->mutex[2]);
		trigger__wait();
	}
	exit(0);
}
