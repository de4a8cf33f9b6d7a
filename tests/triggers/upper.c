// SPDX-License-Identifier: BSD-2-Clause
/*
 * upper: makes system calls whose 32-bit arguments are in registers with bits set in the upper half, whose pointers are
 * ignored by the given command, and whose results are longer than their buffers. It prints nothing.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sets bits 32 and 36, which the kernel ignores. */
#define UPPER(n) ((uint64_t)(uint32_t)(n) | 0x1100000000ULL)

static long call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	return syscall(number, a, b, c, d, e, 0);
}

static void wide_registers(void)
{
	int fds[2] = { -1, -1 };

	call(SYS_close_range, UPPER(700), UPPER(701), UPPER(4), 0, 0);
	call(SYS_pipe2, (uintptr_t)fds, UPPER(O_CLOEXEC), 0, 0, 0);
	call(SYS_dup3, UPPER(fds[0]), UPPER(fds[1]), UPPER(O_CLOEXEC), 0, 0);
	call(SYS_faccessat2, UPPER(AT_FDCWD), (uintptr_t)"/", UPPER(R_OK), UPPER(AT_EACCESS), 0);
	call(SYS_mlock2, 0, 0, UPPER(1), 0, 0);
	call(SYS_pidfd_open, UPPER(-1), UPPER(0), 0, 0, 0);
	call(SYS_lseek, UPPER(fds[0]), 0, UPPER(SEEK_END), 0, 0);
	call(SYS_memfd_create, (uintptr_t)"upper", UPPER(1), 0, 0, 0);
	call(SYS_mkdirat, UPPER(AT_FDCWD), (uintptr_t)"/", UPPER(0755), 0, 0);
	call(SYS_shutdown, UPPER(fds[0]), UPPER(SHUT_WR), 0, 0, 0);
	call(SYS_socket, UPPER(AF_UNIX), UPPER(SOCK_STREAM), UPPER(0), 0, 0);
}

static void by_command(void)
{
	uint32_t words[2] = {};
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), fds[2] = { -1, -1 }, status = 0x1234;
	pid_t child;

	syscall(SYS_futex, &words[0], FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG, 1, 7, &words[1], 0);
	syscall(SYS_futex, &words[0], FUTEX_CMP_REQUEUE, 1, 9, &words[1], 0);
	if (!pipe(fds)) {
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
		syscall(SYS_epoll_ctl, epoll, EPOLL_CTL_DEL, fds[0], 16);
	}
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	wait4(child, &status, WNOHANG, NULL);
	kill(child, SIGKILL);
	wait4(child, &status, 0, NULL);
}

static void options(void)
{
	struct linger linger = { 1, 5 };
	struct ucred who;
	char text[16] = "";
	socklen_t size = sizeof(text);
	int tcp = socket(AF_INET, SOCK_STREAM, 0), fds[2] = { -1, -1 };

	setsockopt(tcp, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	setsockopt(tcp, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
	getsockopt(tcp, IPPROTO_TCP, TCP_CONGESTION, text, &size);
	size = sizeof(who);
	if (!socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		getsockopt(fds[0], SOL_SOCKET, SO_PEERCRED, &who, &size);
}

/* A name of 20 bytes into a buffer of 8: the bytes after the buffer must not be shown. */
static void short_room(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0tally-upper-name" };
	struct { char room[8]; char secret[64]; } memory;
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	socklen_t size = 2 + 1 + strlen("tally-upper-name");

	memset(&memory, 'S', sizeof(memory));
	bind(fd, (struct sockaddr *)&name, size);
	size = sizeof(memory.room);
	getsockname(fd, (struct sockaddr *)&memory, &size);
}

int main(void)
{
	wide_registers();
	by_command();
	options();
	short_room();
	return 0;
}
