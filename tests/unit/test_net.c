// SPDX-License-Identifier: BSD-2-Clause
/* Ends of connections and dropped packets as text (net/tcp.h, net/drop.h). */
#include <bpf/btf.h>
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

#include "net/drop.h"
#include "net/tcp.h"

static void ends_of_connections(void **state)
{
	struct tcp_flow f = {
		.family = AF_INET, .local = { 127, 0, 0, 1 }, .remote = { 255, 255, 255, 255 },
		.lport = 65535, .rport = 1,
	};
	char text[IP_END_SPACE];

	(void)state;
	assert_string_equal(tcp_flow__local(&f, text), "127.0.0.1:65535");
	assert_string_equal(tcp_flow__remote(&f, text), "255.255.255.255:1");
	f.family = AF_INET6;
	memset(f.local, 0xff, sizeof(f.local));
	assert_string_equal(tcp_flow__local(&f, text),
			    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
	memset(f.local, 0, sizeof(f.local));
	f.local[15] = 1;
	assert_string_equal(tcp_flow__local(&f, text), "[::1]:65535");
	assert_string_equal(ip_address(AF_INET6, f.local, text), "::1");
	f.family = 0;
	assert_null(tcp_flow__local(&f, text));
}

static void states(void **state)
{
	(void)state;
	assert_string_equal(tcp_state_name(1), "established");
	assert_string_equal(tcp_state_name(12), "syn-recv");
	assert_string_equal(tcp_state_name(0), "?");
	assert_string_equal(tcp_state_name(13), "?");
}

static void reasons(void **state)
{
	char *name[] = { "reason-0", "NO_SOCKET", "of a subsystem" }, *subsystem[] = { "CORE", "OVS" };
	const struct drop_reasons r = {
		.name = name, .n = 2, .subsystem = subsystem, .nsubsystems = 2,
	};
	char text[DROP_TEXT_SPACE];

	(void)state;
	assert_string_equal(drop_reason_name(&r, 1, text), "NO_SOCKET");
	assert_string_equal(drop_reason_name(&r, 2, text), "reason-2");
	assert_string_equal(drop_reason_name(&r, 1 << 16 | 5, text), "OVS:5");
	assert_string_equal(drop_reason_name(&r, 2 << 16 | 5, text), "reason-131077");
}

/* How often the whole BTF of the kernel was copied and indexed. */
static unsigned int made;

struct btf *btf__new(const void *data, u32 size)
{
	struct btf *(*real)(const void *data, u32 size) = dlsym(RTLD_NEXT, "btf__new");

	made += size > 1000000;
	return real(data, size);
}

/* On this kernel each number has a name, and no name occurs twice. A part of its BTF contains them. */
static void reasons_of_this_kernel(void **state)
{
	struct drop_reasons r = {};
	u32 i, k;

	(void)state;
	if (drop_reasons__read(&r))
		skip();
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		assert_int_equal(made, 0);
	for (i = 0; r.n && i <= r.n; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(r.name[i], r.name[k]);
	assert_true(r.consumed == UINT32_MAX || r.consumed < r.n);
	drop_reasons__free(&r);
}

static void protocols(void **state)
{
	char text[DROP_TEXT_SPACE];

	(void)state;
	assert_string_equal(drop_protocol_name(0, 0, text), "none");
	assert_string_equal(drop_protocol_name(0x0806, 0, text), "arp");
	assert_string_equal(drop_protocol_name(0x0800, 6, text), "tcp");
	assert_string_equal(drop_protocol_name(0x86dd, 17, text), "udp6");
	assert_string_equal(drop_protocol_name(0x86dd, 58, text), "icmp6");
	assert_string_equal(drop_protocol_name(0x0800, 250, text), "ip-250");
	assert_string_equal(drop_protocol_name(0x88cc, 0, text), "0x88cc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_connections), cmocka_unit_test(states),
		cmocka_unit_test(reasons),	       cmocka_unit_test(reasons_of_this_kernel),
		cmocka_unit_test(protocols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
