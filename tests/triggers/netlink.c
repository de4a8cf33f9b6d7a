// SPDX-License-Identifier: BSD-2-Clause
/*
 * netlink: asks the kernel for the interface lo and receives the answer; then sends messages of all types, and
 * malformed ones, to a port that does not exist. It prints nothing.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* No socket has this port. */
#define NOBODY 0x7ffffff0

static char space[16384];

/* The socket is bound, since the kernel lists only bound sockets, and strace looks up the protocol in that list. */
static int netlink(int protocol)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW, protocol);

	bind(fd, (struct sockaddr *)&any, sizeof(any));
	return fd;
}

/* Puts a header at an offset, and returns the offset after it. */
static size_t add(size_t at, unsigned int length, int type, int flags)
{
	struct nlmsghdr h = { length, type, flags, 7, 0xfffff000 };

	memcpy(space + at, &h, sizeof(h));
	return at + sizeof(h);
}

static void to_nobody(int fd, size_t length)
{
	struct sockaddr_nl nobody = { .nl_family = AF_NETLINK, .nl_pid = NOBODY };

	sendto(fd, space, length, 0, (struct sockaddr *)&nobody, sizeof(nobody));
}

static void ask_for_lo(int fd)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg lo;
	} m = { { sizeof(m), RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK, 1, 0 }, { .ifi_index = 1 } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct iovec part = { &m, sizeof(m) };
	struct msghdr message = { &kernel, sizeof(kernel), &part, 1, NULL, 0, 0 };

	send(fd, &m, sizeof(m), 0);
	recv(fd, space, sizeof(space), 0);
	recv(fd, space, sizeof(space), 0);
	sendmsg(fd, &message, 0);
	part = (struct iovec){ space, sizeof(space) };
	recvmsg(fd, &message, 0);
	recvmsg(fd, &message, 0);
}

static void ask_for_all(int fd)
{
	struct nlmsghdr m = { sizeof(m) + 4, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0 };

	memset(space, 0, 64);
	memcpy(space, &m, sizeof(m));
	send(fd, space, 20, 0);
	recv(fd, space, 40, 0);         /* the start of the first message */
}

static void send_all_types(int fd)
{
	int type;

	for (type = 0; type <= RTM_MAX; type++) {
		to_nobody(fd, add(0, 16, type, 0x0f7f));
		to_nobody(fd, add(0, 16, type, NLM_F_REQUEST | NLM_F_DUMP));
	}
}

static void send_hostile(int fd)
{
	memset(space, 0, 128);
	to_nobody(fd, 3);
	to_nobody(fd, add(0, 5, RTM_GETLINK, 1));
	to_nobody(fd, add(0, 0, NLMSG_DONE, 2));
	to_nobody(fd, add(0, 0xffffffff, RTM_GETLINK, 1) + 4);
	to_nobody(fd, add(add(0, 16, RTM_GETLINK, 1), 16, NLMSG_DONE, 2));
	to_nobody(fd, add(add(0, 18, RTM_GETLINK, 1) + 4, 4096, RTM_GETADDR, 2) + 7);
	to_nobody(fd, add(0, 18, 0, 1) + 13);
	to_nobody(fd, add(add(add(0, 17, 0, 0) + 4, 16, 3, 0), 24, 4, 0) + 8);
}

int main(void)
{
	static const int protocols[] = { NETLINK_GENERIC, NETLINK_KOBJECT_UEVENT, NETLINK_USERSOCK };
	int route = netlink(NETLINK_ROUTE), fd;
	size_t i;

	ask_for_lo(route);
	ask_for_all(route);
	send_all_types(route);
	send_hostile(route);
	for (i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
		fd = netlink(protocols[i]);
		to_nobody(fd, add(0, 16, 0x7777, NLM_F_REQUEST | NLM_F_DUMP));
		close(fd);
	}
	return 0;
}
