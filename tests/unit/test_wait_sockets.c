// SPDX-License-Identifier: BSD-2-Clause
/* The other end of a socket: by the kernel's own link (UNIX), and by addresses and ports (TCP). */
#include "unit.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/array.h"
#include "calls/snap/waits.h"

static void put(struct wait_sockets *s, struct snap_socket one)
{
	assert_int_equal(0, ARRAY_APPEND(s->socket, s->n, one));
}

static void put_tcp(struct wait_sockets *s, u64 inode, u64 netns, u32 local, u32 remote)
{
	struct snap_socket one = { .inode = inode, .netns = netns, .is_tcp = true, .type = SOCK_STREAM };

	one.local.ip[15] = one.remote.ip[15] = 1;
	one.local.port = local;
	one.remote.port = remote;
	put(s, one);
}

static void peer_is(const struct wait_sockets *s, u64 inode, u64 peer, bool is_sure)
{
	bool found;

	assert_int_equal(wait_sockets__peer(s, inode, &found), peer);
	if (peer)
		assert_int_equal(found, is_sure);
}

static void unix_sockets(void **state)
{
	struct wait_sockets s = {};

	(void)state;
	put(&s, (struct snap_socket){ .inode = 12, .peer = 11, .type = SOCK_STREAM });
	put(&s, (struct snap_socket){ .inode = 11, .peer = 12, .type = SOCK_STREAM });
	put(&s, (struct snap_socket){ .inode = 12, .peer = 11, .type = SOCK_STREAM });
	put(&s, (struct snap_socket){ .inode = 13, .peer = 14, .type = SOCK_DGRAM });
	assert_int_equal(0, wait_sockets__sort(&s));
	assert_int_equal(s.n, 3);
	peer_is(&s, 11, 12, true);
	peer_is(&s, 12, 11, true);
	peer_is(&s, 13, 14, false);
	peer_is(&s, 14, 0, false);
	wait_sockets__free(&s);
}

/* Each network namespace has its own loopback, where connections may have the same ports. */
static void tcp_in_two_namespaces(void **state)
{
	struct wait_sockets s = {};
	u64 netns;

	(void)state;
	for (netns = 1; netns <= 2; netns++) {
		put_tcp(&s, 10 * netns, netns, 5000, 80);
		put_tcp(&s, 10 * netns + 1, netns, 80, 5000);
		put_tcp(&s, 10 * netns + 2, netns, 5001, 80);
	}
	assert_int_equal(0, wait_sockets__sort(&s));
	peer_is(&s, 10, 11, true);
	peer_is(&s, 11, 10, true);
	peer_is(&s, 20, 21, true);
	peer_is(&s, 21, 20, true);
	/* The other end is on another host. */
	peer_is(&s, 12, 0, false);
	wait_sockets__free(&s);
}

static void tcp_between_namespaces(void **state)
{
	struct wait_sockets s = {};

	(void)state;
	put_tcp(&s, 1, 1, 5000, 80);
	put_tcp(&s, 2, 2, 80, 5000);
	assert_int_equal(0, wait_sockets__sort(&s));
	peer_is(&s, 1, 2, false);
	peer_is(&s, 2, 1, false);
	wait_sockets__free(&s);

	/* Two candidates: either may be the one. */
	s = (struct wait_sockets){};
	put_tcp(&s, 1, 1, 5000, 80);
	put_tcp(&s, 2, 2, 80, 5000);
	put_tcp(&s, 3, 3, 80, 5000);
	assert_int_equal(0, wait_sockets__sort(&s));
	peer_is(&s, 1, 0, false);
	wait_sockets__free(&s);
}

static void not_all_were_read(void **state)
{
	struct wait_sockets s = { .is_cut = true };

	(void)state;
	put_tcp(&s, 1, 1, 5000, 80);
	put_tcp(&s, 2, 1, 80, 5000);
	assert_int_equal(0, wait_sockets__sort(&s));
	peer_is(&s, 1, 2, false);
	wait_sockets__free(&s);
}

static void none(void **state)
{
	struct wait_sockets s = {};

	(void)state;
	assert_int_equal(0, wait_sockets__sort(&s));
	peer_is(&s, 1, 0, false);
	wait_sockets__free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unix_sockets),
		cmocka_unit_test(tcp_in_two_namespaces),
		cmocka_unit_test(tcp_between_namespaces),
		cmocka_unit_test(not_all_were_read),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
