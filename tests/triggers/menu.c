// SPDX-License-Identifier: BSD-2-Clause
/*
 * menu DIRECTORY: system calls of many kinds, the same ones in each run: with strange strings, invalid pointers,
 * threads, children, signals and sockets. DIRECTORY must be empty and is empty again at the end. ready, done. Exits
 * with 7.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "old_calls.h"
#include "trigger.h"

#define PAGE 4096

/* Two pages, the second of which is not accessible. */
static char *pages;

static char path[5001];

static long open_raw(const void *name, int flags, int mode)
{
	return syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

static void make_path(size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		path[i] = i % 200 ? 'a' + i % 26 : '/';
	path[len] = 0;
}

static void strange_strings(void)
{
	static const char fits[] = "/no/such/file";

	open_raw("/no/\x1b[31m\"quote\\\xff\n\t\x07", O_RDONLY, 0);
	open_raw("", O_RDONLY, 0);
	open_raw(NULL, O_RDONLY, 0);
	open_raw((void *)16, O_RDWR | O_CREAT | O_EXCL, 0640);
	make_path(4095);
	open_raw(path, O_RDONLY | O_DIRECTORY, 0);
	rename(path, path);
	make_path(5000);
	open_raw(path, O_RDONLY, 0);
	/* Strings that end at the last byte of the page, and that extend beyond it. */
	memcpy(pages + PAGE - sizeof(fits), fits, sizeof(fits));
	access(pages + PAGE - sizeof(fits), R_OK | W_OK);
	memset(pages, 'x', PAGE);
	access(pages + PAGE - 20, F_OK);
	symlink("target", "link");
	readlink("link", path, sizeof(path));
	unlink("link");
}

static void strange_buffers(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	syscall(SYS_write, null, "a\"\\\n\0b", 6);
	syscall(SYS_write, null, pages, 3000);
	syscall(SYS_write, null, pages, 1L << 62);
	syscall(SYS_write, null, NULL, 0);
	syscall(SYS_write, null, pages + PAGE, 10); /* /dev/null does not access the data */
	syscall(SYS_write, -1, "not written", 11);
	syscall(SYS_read, null, pages, 10);
	syscall(SYS_read, -1, (void *)16, 1L << 62);
	close(null);
}

static void files(void)
{
	struct iovec parts[2] = {{"one", 3}, {"three", 5}};
	struct timespec times[2] = {{5, 6}, {7, 8}};
	struct stat st;
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0604);

	syscall(SYS_writev, fd, parts, 2);
	syscall(SYS_pwrite64, fd, "yz", 2, 1000);
	syscall(SYS_pread64, fd, path, 5, 1);
	syscall(SYS_lseek, fd, -2L, SEEK_END);
	syscall(SYS_read, fd, path, 100);
	syscall(SYS_read, fd, path, 100);
	syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);
	syscall(SYS_fstat, fd, &st);
	syscall(SYS_utimensat, AT_FDCWD, "file", times, 0);
	syscall(SYS_fcntl, fd, F_SETFL, O_RDWR | O_APPEND | O_NONBLOCK);
	syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	syscall(SYS_fcntl, fd, F_DUPFD, 100);
	old__dup2(fd, 90);
	syscall(SYS_ftruncate, fd, 5);
	syscall(SYS_fchmod, fd, 0600);
	syscall(SYS_umask, 027);
	old__mkdir("dir", 0750);
	old__rename("file", "dir/file");
	syscall(SYS_unlinkat, AT_FDCWD, "dir", 0);
	syscall(SYS_unlinkat, AT_FDCWD, "dir/file", 0);
	syscall(SYS_unlinkat, AT_FDCWD, "dir", AT_REMOVEDIR);
	close(90);
	close(100);
	close(fd);
}

/* Arrays of buffers, one of which is at an invalid address. */
static void vectors(void)
{
	char one[4], two[100], three[5];
	struct iovec in[3] = {{one, 4}, {two, 100}, {three, 5}};
	struct iovec out[3] = {{"first\n", 6}, {path, 70}, {NULL, 0}};
	struct iovec bad[2] = {{"good", 4}, {(void *)16, 3}};
	int fds[2], null = open("/dev/null", O_WRONLY);

	if (pipe2(fds, O_NONBLOCK))
		error(1, errno, "pipe2");
	make_path(70);
	syscall(SYS_writev, fds[1], out, 3);
	syscall(SYS_readv, fds[0], in, 3);
	syscall(SYS_writev, null, bad, 2); /* /dev/null does not access the data */
	syscall(SYS_readv, fds[0], in, 1);
	syscall(SYS_readv, -1, in, 3);
	syscall(SYS_writev, fds[1], (void *)16, 2);
	close(null);
	close(fds[0]);
	close(fds[1]);
}

static void messages(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct iovec out[2] = {{"datagram", 8}, {"of two", 6}}, in[2] = {{path, 10}, {pages, 100}};
	struct msghdr sent = {.msg_iov = out, .msg_iovlen = 2};
	struct msghdr got = {.msg_iov = in, .msg_iovlen = 2};
	int fds[2], udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(a);

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		error(1, errno, "socketpair");
	syscall(SYS_sendmsg, fds[0], &sent, MSG_NOSIGNAL);
	syscall(SYS_recvmsg, fds[1], &got, 0);
	syscall(SYS_recvmsg, fds[1], &got, MSG_DONTWAIT);
	syscall(SYS_sendmsg, fds[0], NULL, 0);
	bind(udp, (void *)&a, len);
	getsockname(udp, (void *)&a, &len);
	sent.msg_name = &a;
	sent.msg_namelen = len;
	syscall(SYS_sendmsg, udp, &sent, 0);
	got.msg_name = &a;
	got.msg_namelen = len;
	syscall(SYS_recvmsg, udp, &got, 0);
	close(udp);
	close(fds[0]);
	close(fds[1]);
}

/* Arrays of messages: with names, without data, more messages than are queued, and with an invalid second message. */
static void many_messages(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct iovec out[2] = {{"one", 3}, {"and two", 7}}, in[2] = {{path, 5}, {path + 5, 100}};
	struct mmsghdr m[9] = {}, *torn = (struct mmsghdr *)(pages + PAGE) - 1;
	int fds[2], i, udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct timespec second = {1, 0};
	socklen_t len = sizeof(a);

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		error(1, errno, "socketpair");
	for (i = 0; i < 9; i++)
		m[i].msg_hdr = (struct msghdr){.msg_iov = out, .msg_iovlen = i % 3};
	*torn = m[1];
	syscall(SYS_sendmmsg, fds[0], m, 9, 0);
	syscall(SYS_sendmmsg, fds[0], torn, 2, 0);
	syscall(SYS_sendmmsg, fds[0], (void *)16, 3, 0);
	syscall(SYS_sendmmsg, -1, m, 3, 0);
	syscall(SYS_sendmmsg, fds[0], m, 0, 0);
	for (i = 0; i < 9; i++)
		m[i].msg_hdr.msg_iov = in;
	/* Later messages overwrite the data of earlier ones; the last message fills in nothing. */
	m[2].msg_hdr.msg_iovlen = 0;
	syscall(SYS_recvmmsg, fds[1], m, 3, 0, NULL);
	syscall(SYS_recvmmsg, fds[1], m + 1, 1, MSG_DONTWAIT, &second);
	syscall(SYS_recvmmsg, fds[1], m, 9, MSG_DONTWAIT, NULL);
	syscall(SYS_recvmmsg, fds[1], m, 9, MSG_DONTWAIT, NULL);
	bind(udp, (void *)&a, len);
	getsockname(udp, (void *)&a, &len);
	m[0].msg_hdr = (struct msghdr){&a, len, out, 2, NULL, 0, 0};
	m[1].msg_hdr = (struct msghdr){&a, len, out, 1, NULL, 0, 0};
	syscall(SYS_sendmmsg, udp, m, 2, 0);
	m[0].msg_hdr.msg_iov = m[1].msg_hdr.msg_iov = in;
	syscall(SYS_recvmmsg, udp, m, 2, MSG_WAITFORONE, NULL);
	close(udp);
	close(fds[0]);
	close(fds[1]);
}

static struct cmsghdr *add(struct msghdr *m, int level, int type, const void *data, size_t n)
{
	struct cmsghdr *c = (void *)((char *)m->msg_control + m->msg_controllen);

	*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(n), .cmsg_level = level, .cmsg_type = type};
	memcpy(CMSG_DATA(c), data, n);
	m->msg_controllen += CMSG_SPACE(n);
	return c;
}

/* Descriptors and credentials of the sender; invalid control messages. */
static void control_messages(void)
{
	static char space[128];
	struct ucred self = {getpid(), getuid(), getgid()};
	struct iovec one = {"x", 1}, in = {path, 1};
	struct msghdr sent = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = space}, got;
	int fds[2], files[2] = {0, 1}, yes = 1;
	struct cmsghdr *c;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		error(1, errno, "socketpair");
	setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
	add(&sent, SOL_SOCKET, SCM_RIGHTS, files, sizeof(files));
	c = add(&sent, SOL_SOCKET, SCM_CREDENTIALS, &self, sizeof(self));
	syscall(SYS_sendmsg, fds[0], &sent, 0);
	c->cmsg_type = 77;
	syscall(SYS_sendmsg, fds[0], &sent, 0);
	c->cmsg_len = 5;
	syscall(SYS_sendmsg, fds[0], &sent, 0);
	c->cmsg_len = 500;
	syscall(SYS_sendmsg, fds[0], &sent, 0);
	sent.msg_controllen = 8;
	syscall(SYS_sendmsg, fds[0], &sent, 0);
	sent.msg_control = (void *)16;
	sent.msg_controllen = 24;
	syscall(SYS_sendmsg, fds[0], &sent, 0);
	got = (struct msghdr){.msg_iov = &in, .msg_iovlen = 1, .msg_control = space,
			      .msg_controllen = sizeof(space)};
	syscall(SYS_recvmsg, fds[1], &got, MSG_CMSG_CLOEXEC);
	close(fds[1] + 1);
	close(fds[1] + 2);
	close(fds[0]);
	close(fds[1]);
}

static void control_of_packets(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), yes = 1, ttl = 9;
	static char space[128];
	struct iovec one = {path, 1};
	struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = space, .msg_name = &a};

	m.msg_namelen = sizeof(a);
	bind(udp, (void *)&a, sizeof(a));
	getsockname(udp, (void *)&a, &m.msg_namelen);
	setsockopt(udp, SOL_IP, IP_RECVTTL, &yes, sizeof(yes));
	setsockopt(udp, SOL_IP, IP_PKTINFO, &yes, sizeof(yes));
	setsockopt(udp, SOL_SOCKET, SO_TIMESTAMP, &yes, sizeof(yes));
	add(&m, SOL_IP, IP_TTL, &ttl, sizeof(ttl));
	syscall(SYS_sendmsg, udp, &m, 0);
	m.msg_controllen = sizeof(space);
	syscall(SYS_recvmsg, udp, &m, 0);
	close(udp);
}

/* Descriptors of a file that is renamed between calls, and finally deleted. */
static void descriptors(void)
{
	int dir, fd;

	mkdir("a <b>", 0700);
	dir = open("a <b>", O_RDONLY | O_DIRECTORY);
	fd = syscall(SYS_openat, dir, "c", O_RDWR | O_CREAT, 0600);
	syscall(SYS_renameat, dir, "c", AT_FDCWD, "d");
	syscall(SYS_write, fd, "1", 1);
	old__unlink("d");
	syscall(SYS_write, fd, "2", 1);
	syscall(SYS_dup, fd);
	syscall(SYS_close, fd + 1);
	syscall(SYS_eventfd2, 1, 0);
	syscall(SYS_close, fd + 1);
	close(fd);
	close(dir);
	rmdir("a <b>");
}

static void memory(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p, PAGE, PROT_NONE);
	madvise(p, 2 * PAGE, MADV_DONTNEED);
	munmap(p, 2 * PAGE);
	munmap((void *)1, PAGE);
}

static void waiting(void)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 0x1234}, found[3];
	struct timespec ms = {0, 1000000};
	struct pollfd one;
	int fds[2], ep;

	if (pipe2(fds, O_CLOEXEC))
		error(1, errno, "pipe2");
	one = (struct pollfd){fds[0], POLLIN | POLLPRI, 0};
	old__poll(&one, 1, 0);
	ep = syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
	syscall(SYS_epoll_ctl, ep, EPOLL_CTL_ADD, fds[0], &event);
	syscall(SYS_write, fds[1], "hello", 5);
	old__epoll_wait(ep, found, 3, -1);
	syscall(SYS_read, fds[0], path, 100);
	syscall(SYS_nanosleep, &ms, NULL);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ms, NULL);
	syscall(SYS_futex, path, FUTEX_WAIT_PRIVATE, 1, &ms, NULL, 0);
	syscall(SYS_futex, path, FUTEX_WAKE, 1, NULL, NULL, 0);
	close(ep);
	close(fds[0]);
	close(fds[1]);
}

/* Sets and arrays of open and closed descriptors, empty sets, and a set at an invalid address. */
static void waiting_for_many(void)
{
	struct timespec us = {0, 1000};
	struct timeval none = {};
	struct pollfd many[3];
	fd_set in, out;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		error(1, errno, "pipe2");
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(fds[0], &in);
	FD_SET(fds[0], &out);
	FD_SET(fds[1], &out);
	syscall(SYS_pselect6, fds[1] + 1, &in, &out, NULL, &us, NULL);
	FD_SET(fds[0], &in);
	old__select(fds[1] + 1, &in, NULL, NULL, &none);
	FD_SET(fds[1], &in);
	old__select(fds[1], &in, NULL, NULL, &none);    /* excludes the last one */
	old__select(0, &in, NULL, NULL, &none);
	old__select(-1, &in, NULL, NULL, &none);
	FD_ZERO(&in);
	old__select(fds[1] + 1, NULL, &in, &out, &none);
	old__select(fds[1] + 1, &in, (void *)16, NULL, &none);
	FD_SET(63, &in);
	FD_SET(64, &in);
	FD_SET(1000, &in);
	old__select(1001, &in, NULL, NULL, &none);
	many[0] = (struct pollfd){fds[1], POLLOUT, 0};
	many[1] = (struct pollfd){-1, POLLOUT, 0};
	many[2] = (struct pollfd){1000, POLLIN, 0};
	old__poll(many, 3, 0);
	syscall(SYS_ppoll, many, 3, &us, NULL, 8);
	close(fds[0]);
	close(fds[1]);
}

static void local_sockets(void)
{
	struct sockaddr_un abstract = {AF_UNIX, "\0no\n\"body"}, named = {AF_UNIX, "/no/\x1b"};
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(9) };
	int fds[2], fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	connect(fd, (void *)&abstract, 11);
	connect(fd, (void *)&named, sizeof(named));
	connect(fd, (void *)&named, 2);
	connect(fd, NULL, 0);
	close(fd);
	six.sin6_addr = in6addr_loopback;
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	connect(fd, (void *)&six, sizeof(six));
	close(fd);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		error(1, errno, "socketpair");
	syscall(SYS_sendto, fds[0], "dgram", 5, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
	syscall(SYS_recvfrom, fds[1], path, 100, MSG_PEEK, NULL, NULL);
	close(fds[0]);
	close(fds[1]);
}

static void loopback(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in peer;
	socklen_t len = sizeof(a), peer_len = sizeof(peer);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP), from, to;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	bind(fd, (void *)&a, sizeof(a));
	listen(fd, 5);
	getsockname(fd, (void *)&a, &len);
	from = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(from, (void *)&a, sizeof(a));
	to = accept4(fd, (void *)&peer, &peer_len, SOCK_CLOEXEC);
	send(to, "bytes", 5, 0);
	shutdown(to, SHUT_WR);
	close(to);
	close(from);
	close(fd);
}

static void nothing(int signal)
{
	(void)signal;
}

/*
 * A pause that a signal ends, late enough for slow machines and strace. If the machine was stopped for so long that the
 * signal came before the pause, the next signal ends it.
 */
static void signals(void)
{
	struct itimerval soon = {.it_value.tv_usec = 200000, .it_interval.tv_usec = 200000}, never = {};
	struct sigaction again = {.sa_handler = nothing, .sa_flags = SA_RESTART};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGALRM, &again, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	old__pause();
	setitimer(ITIMER_REAL, &never, NULL);
	syscall(SYS_kill, getpid(), 0);
}

static void *thread(void *arg)
{
	old__access("/of/a/thread", X_OK);
	syscall(SYS_write, *(int *)arg, "x", 1);
	return NULL;
}

/*
 * The thread reports through a pipe, since it depends on timing whether pthread_join() has to wait. Waits until the
 * thread has made its last calls: the kernel then clears its id, which is polled without a system call.
 */
static void other_thread(void)
{
	pthread_t t;
	int fds[2];

	if (pipe(fds) || pthread_create(&t, NULL, thread, &fds[1]))
		error(1, 0, "pthread_create");
	syscall(SYS_read, fds[0], path, 1);
	while (pthread_tryjoin_np(t, NULL) == EBUSY)
		;
}

static void children(void)
{
	static char *const argv[] = {"true", "a \"b\"\n", "", NULL};
	static char *const env[] = {"A=1", NULL};
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		execve("/no/such/program", argv, env);
		old__access("/of/a/child", R_OK);
		syscall(SYS_execve, "/bin/true", argv, env);
	}
	syscall(SYS_wait4, pid, &status, 0, NULL);
	pid = fork();
	if (!pid)
		syscall(SYS_kill, getpid(), SIGKILL);
	syscall(SYS_wait4, pid, &status, 0, NULL);
	syscall(SYS_wait4, -1, &status, WNOHANG, NULL);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]))
		error(2, errno, "which directory?");
	trigger__name();
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages + PAGE, PAGE, PROT_NONE);   /* not unmapped, so that no other mapping can take its place */
	trigger__say("ready");
	trigger__wait();
	strange_strings();
	strange_buffers();
	files();
	vectors();
	descriptors();
	memory();
	waiting();
	waiting_for_many();
	local_sockets();
	loopback();
	messages();
	many_messages();
	control_messages();
	control_of_packets();
	signals();
	other_thread();
	children();
	syscall(1022, 1L, 2L, 3L, 4L, 5L, 6L);
	trigger__say("done");
	exit(7);
}
