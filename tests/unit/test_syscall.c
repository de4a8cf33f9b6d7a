// SPDX-License-Identifier: BSD-2-Clause
/* tools/calls/syscall: the table, names of values, and figures computed from sums. */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "calls/syscall/control.h"
#include "calls/syscall/constants.h"
#include "calls/syscall/decode.h"
#include "calls/syscall/guess.h"
#include "calls/syscall/result.h"
#include "calls/syscall/layouts.h"
#include "calls/syscall/packed.h"
#include "types/tracefs.h"
#include "calls/syscall/sums.h"

static bool is_fetched(const struct trace_call *c, u32 id)
{
	u32 i;

	for (i = 0; i < c->fetches; i++)
		if (c->fetch[i].id == id)
			return true;
	return false;
}

/* There is room to read the targets of all arguments, again where that is wanted, and data that a target describes. */
static void check_fetches(const struct trace_call *c, const struct signature *s)
{
	u32 i;

	for (i = 0; i < TRACE_ARGUMENTS; i++) {
		if (s->arg[i].kind >= ARG_STRING)
			assert_true(is_fetched(c, TRACE_ID(i, PART_TARGET)) ||
				    (c->argv && c->argv == i) ||
				    (c->vector && i == TRACE_VECTOR_ARG));
		assert_int_equal(!!s->arg[i].after, is_fetched(c, TRACE_ID(i, PART_AFTER)));
		assert_int_equal(s->arg[i].kind == ARG_SET_AND_SIZE, is_fetched(c, TRACE_ID(i, PART_DESCRIBED)));
	}
}

/* Each line is for a call that exists, no call has two lines, and all data that it points to can be read. */
static void test_table(void **state)
{
	const struct signature *s;
	struct trace_call c;
	size_t n, i, k;

	(void)state;
	s = syscall_signatures(&n);
	for (i = 0; i < n; i++) {
		assert_true(syscall_number_in(SYSCALL_NATIVE, s[i].name) >= 0 ||
			    syscall_number_in(SYSCALL_COMPAT, s[i].name) >= 0);
		for (k = i + 1; k < n; k++)
			assert_string_not_equal(s[i].name, s[k].name);
		syscall_fetches(&c, &s[i], SYSCALL_NATIVE, 32);
		check_fetches(&c, &s[i]);
		for (k = 0; k < c.fetches; k++)
			assert_in_range(c.fetch[k].most, 1, 4096);
	}
}

/* Each line of a command is for a call that has commands, and is unique; there is room for all of them. */
static void test_commands(void **state)
{
	const struct signature *of, *s;
	size_t n, i, k, room = 0;
	struct trace_call c;

	(void)state;
	s = syscall_commands(&n);
	for (i = 0; i < n; i++) {
		of = syscall_signature(s[i].name);
		assert_non_null(of);
		assert_in_range(of->by, 1, TRACE_ARGUMENTS);
		assert_int_equal(of->native, s[i].native);
		for (k = i + 1; k < n; k++)
			assert_false(s[i].command == s[k].command && !strcmp(s[i].name, s[k].name));
		syscall_fetches(&c, &s[i], SYSCALL_NATIVE, 32);
		check_fetches(&c, &s[i]);
		room += s[i].native ? 1 : SYSCALL_ABIS;
	}
	assert_in_range(room, 1, TRACE_COMMANDS);
}

/* A struct that ends early is shown as far as it goes; one that the kernel refuses is not shown. */
static void test_layouts(void **state)
{
	enum struct_layout layout;
	char *text = NULL;
	u8 data[256] = {};
	size_t n, bytes;
	FILE *f;

	(void)state;
	for (layout = STRUCT_OF_MEMBERS; layout < STRUCTS; layout++) {
		const struct layout *l = layouts__find(layout);

		assert_in_range(l->least, 1, l->size);
		for (bytes = 0; bytes <= l->size; bytes++) {
			f = open_memstream(&text, &n);
			assert_int_equal(layouts__put(f, layout, data, bytes),
					 bytes >= l->least && l->members);
			fclose(f);
			assert_int_equal(!!n, bytes >= l->least && l->members);
			free(text);
		}
	}
}

static void check_names(const struct value_names *names, u64 value, const char *text)
{
	char *found = NULL;
	size_t n;
	FILE *f = open_memstream(&found, &n);

	value_names__put(f, names, value);
	fclose(f);
	found = constants__choose(found, CONSTANTS_BY_NAME);
	assert_string_equal(found, text);
	free(found);
}

static void test_names(void **state)
{
	(void)state;
	check_names(&protections, 0, "PROT_NONE");
	check_names(&protections, 3, "PROT_READ|PROT_WRITE");
	check_names(&protections, 0x40000001, "PROT_READ|0x40000000");
	check_names(&protections, 0x40000000, "0x40000000");
	check_names(&map_flags, 0x22, "MAP_PRIVATE|MAP_ANONYMOUS");
	check_names(&map_flags, 0x20, "MAP_ANONYMOUS");
	check_names(&whences, 2, "SEEK_END");
	check_names(&whences, 77, "0x4d");
	check_names(&wait_flags, 0, "0");
	check_names(&access_modes, 0, "F_OK");
	check_names(&access_modes, 9, "X_OK|0x8");
	check_names(&socket_types, 0x80801, "SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK");
}

static void check_constants(enum constant_style style, const char *text)
{
	char *found = NULL;
	size_t n;
	FILE *f = open_memstream(&found, &n);

	value_names__put(f, &protections, 3);
	fputs(", ", f);
	constant__begin(f, CONSTANT_HEX, UINT64_MAX);
	value_names__put(f, &protections, 1);
	fputs("|B", f);
	constant__end(f);
	signal_name__put(f, 9);
	value_names__put(f, &whences, 77);
	file_mode__put(f, 0100644);
	constant__begin(f, CONSTANT_UNSIGNED, UINT64_MAX);
	constant__end(f);
	fputs(".", f);
	fclose(f);
	found = constants__choose(found, style);
	assert_string_equal(found, text);
	free(found);
}

/* A constant within another is a part of its name; a number without a name has no comment. */
static void test_constants(void **state)
{
	(void)state;
	check_constants(CONSTANTS_BY_NAME, "PROT_READ|PROT_WRITE, PROT_READ|BSIGKILL0x4dS_IFREG|0644.");
	check_constants(CONSTANTS_RAW, "0x3, 0xffffffffffffffff90x4d010064418446744073709551615.");
	check_constants(CONSTANTS_WITH_BOTH,
			"0x3 /* PROT_READ|PROT_WRITE */, 0xffffffffffffffff /* PROT_READ|B */9 /* SIGKILL */"
			"0x4d0100644 /* S_IFREG|0644 */18446744073709551615 /*  */.");
}

/* A text that ends within a constant, or within its number, is not read beyond its end. */
static void test_cut_constants(void **state)
{
	const enum constant_style styles[] = { CONSTANTS_BY_NAME, CONSTANTS_RAW, CONSTANTS_WITH_BOTH };
	char *text = NULL, *found;
	size_t size, n, i;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	fputs("a ", f);
	signal_name__put(f, 9);
	value_names__put(f, &protections, 3);
	fclose(f);
	for (n = 0; n < size; n++) {
		for (i = 0; i < ARRAY_SIZE(styles); i++) {
			found = constants__choose(strndup(text, n), styles[i]);
			assert_non_null(found);
			assert_memory_equal(found, "a ", n < 2 ? n : 2);
			assert_null(strpbrk(found, "\1\2"));
			free(found);
		}
	}
	free(text);
}

static void check_arguments(struct trace_record *r, size_t size, const char *call, const char *text)
{
	char *found = NULL;
	size_t n;
	FILE *f = open_memstream(&found, &n);

	syscall_arguments__put(f, syscall_signature(call), r, size);
	fclose(f);
	found = constants__choose(found, CONSTANTS_BY_NAME);
	assert_string_equal(found, text);
	free(found);
}

/* A record whose chunks claim more than it has is not trusted. */
static void test_short_records(void **state)
{
	struct trace_record r = {.value = {3, 0x1000, 5}, .used = 16};
	struct trace_chunk *c = (void *)r.data;
	size_t head = offsetof(struct trace_record, data);

	(void)state;
	*c = (struct trace_chunk){.id = TRACE_ID(1, PART_TARGET), .bytes = 5};
	memcpy(r.data + sizeof(*c), "a\"\nbc", 5);
	check_arguments(&r, head + 16, "write", "3, \"a\\\"\\nbc\", 5");
	check_arguments(&r, head + 15, "write", "3, 0x1000, 5");
	check_arguments(&r, head + 4, "write", "3, 0x1000, 5");
	check_arguments(&r, head, "write", "3, 0x1000, 5");
	c->bytes = 65535;
	check_arguments(&r, head + 16, "write", "3, 0x1000, 5");
	c->bytes = 3;
	c->flags = TRACE_CHUNK_CUT;
	check_arguments(&r, head + 16, "write", "3, \"a\\\"\\n\"..., 5");
	c->flags = TRACE_CHUNK_FAULT;
	check_arguments(&r, head + 16, "write", "3, 0x1000(fault), 5");
	/* The chunk is too short for its struct. */
	c->flags = 0;
	c->id = TRACE_ID(0, PART_TARGET);
	r.value[0] = 0x2000;
	check_arguments(&r, head + 16, "nanosleep", "0x2000, 0x1000");
}

static struct trace_chunk *add_chunk(struct trace_record *r, u8 id, const void *data, size_t bytes)
{
	struct trace_chunk *c = (void *)(r->data + r->used);

	*c = (struct trace_chunk){.id = id, .bytes = bytes};
	memcpy(c->data, data, bytes);
	r->used += sizeof(*c) + ((bytes + 7) & ~7);
	return c;
}

static size_t size_of(const struct trace_record *r)
{
	return offsetof(struct trace_record, data) + r->used;
}

/* Buffers that were not read, and counts and lengths beyond the data. */
static void test_vectors(void **state)
{
	struct trace_iovec array[2] = {{0x1000, 3}, {0x2000, 5}};
	struct trace_record r = {.value = {3, 0x3000, 2}};
	u8 data[24] = {3, 0, 0xff, 0xff, [16] = 'o', 'n', 'e'};
	struct trace_chunk *c;

	(void)state;
	check_arguments(&r, size_of(&r), "writev", "3, 0x3000, 2");
	add_chunk(&r, TRACE_ID(TRACE_VECTOR_ARG, PART_VECTOR), array, sizeof(array));
	check_arguments(&r, size_of(&r), "writev",
			"3, [{iov_base=0x1000, iov_len=3}, {iov_base=0x2000, iov_len=5}], 2");
	c = add_chunk(&r, TRACE_ID(TRACE_VECTOR_ARG, PART_DATA), data, 19);
	check_arguments(&r, size_of(&r), "writev",
			"3, [{iov_base=\"one\", iov_len=3}, {iov_base=0x2000(fault), iov_len=5}], 2");
	c->data[0] = 4;
	check_arguments(&r, size_of(&r), "writev",
			"3, [{iov_base=0x1000, iov_len=3}, {iov_base=0x2000(fault), iov_len=5}], 2");
	r.value[2] = 1 << 20;
	c->data[0] = 2;
	check_arguments(&r, size_of(&r), "writev",
			"3, [{iov_base=\"on\"..., iov_len=3}, {iov_base=0x2000(fault), iov_len=5}, "
			"...], 1048576");
}

/* Two of many messages: one that was not read, and a call that has got only as far as its result says. */
static void test_many_messages(void **state)
{
	struct trace_message m = {.name = 0x5000, .vector = 0x4000, .count = 1};
	struct trace_iovec array = {0x1000, 3};
	struct trace_record r = {.value = {3, 0x3000, 2}};
	u8 data[24] = {3, [16] = 'o', 'n', 'e'};
	u32 lengths[2] = {3, 7};

	(void)state;
	check_arguments(&r, size_of(&r), "sendmmsg", "3, 0x3000, 2, 0");
	add_chunk(&r, TRACE_ID(1, PART_TARGET), &m, sizeof(m))->element = 1;
	check_arguments(&r, size_of(&r), "sendmmsg",
			"3, [{msg_hdr={msg_name=0x5000, msg_namelen=0, msg_iov=0x4000, msg_iovlen=1, "
			"msg_controllen=0, msg_flags=0}}, ...], 2, 0");
	add_chunk(&r, TRACE_ID(1, PART_VECTOR), &array, sizeof(array))->element = 1;
	add_chunk(&r, TRACE_ID(1, PART_DATA), data, 19)->element = 1;
	add_chunk(&r, TRACE_ID(1, PART_TARGET), "", 0)->element = 2;
	add_chunk(&r, TRACE_ID(1, PART_LENGTHS), lengths, sizeof(lengths[0]));
	check_arguments(&r, size_of(&r), "sendmmsg",
			"3, [{msg_hdr={msg_name=0x5000, msg_namelen=0, msg_iov=[{iov_base=\"one\", "
			"iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=3}, "
			"{msg_hdr=0x3040}], 2, 0");
	/* The call has filled as many messages as its result says, and the others are not shown. */
	r.value[TRACE_RESULT] = 1;
	check_arguments(&r, size_of(&r), "recvmmsg",
			"3, [{msg_hdr={msg_name=0x5000, msg_namelen=0, msg_iov=[{iov_base=\"one\", "
			"iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=3}], 2, 0, "
			"NULL");
	r.value[TRACE_RESULT] = -EAGAIN;
	check_arguments(&r, size_of(&r), "recvmmsg", "3, 0x3000, 2, 0, NULL");
}

static void check_result(struct trace_record *r, const char *call, const char *text)
{
	char *found = NULL;
	size_t n;
	FILE *f = open_memstream(&found, &n);

	syscall_result__put(f, syscall_signature(call), r, size_of(r));
	fclose(f);
	found = constants__choose(found, CONSTANTS_BY_NAME);
	assert_string_equal(found, text);
	free(found);
}

/* More descriptors are ready than were read, none of those read is ready, and some could not be read. */
static void test_ready(void **state)
{
	struct { int fd; short events, revents; } polled[2] = {{3, 1, 1}, {4, 4, 0}};
	struct trace_record r = {.value = {0x1000, 20, 7, [TRACE_RESULT] = 3}};
	u64 left[2] = {1, 2}, bits = 1 << 3;
	struct trace_chunk *c;

	(void)state;
	check_result(&r, "poll", "3");
	c = add_chunk(&r, TRACE_ID(0, PART_AFTER), polled, sizeof(polled));
	check_result(&r, "poll", "3 ([{fd=3, revents=POLLIN}, ...])");
	add_chunk(&r, TRACE_ID(2, PART_AFTER), left, sizeof(left));
	check_result(&r, "ppoll", "3 ([{fd=3, revents=POLLIN}, ...], left {tv_sec=1, tv_nsec=2})");
	c->bytes = 0;
	c->flags = TRACE_CHUNK_FAULT;
	check_result(&r, "poll", "3");
	r.value[TRACE_RESULT] = 0;
	check_result(&r, "poll", "0 (Timeout)");
	r = (struct trace_record){.value = {10, [TRACE_RESULT] = 1}};
	add_chunk(&r, TRACE_ID(2, PART_AFTER), &bits, sizeof(bits));
	check_result(&r, "select", "1 (out [3])");
}

/* Strings from a process end where their room ends. */
static void test_facts(void **state)
{
	struct trace_record r = {.value = {0x1000}};
	char name[130];

	(void)state;
	memset(name, 'x', sizeof(name));
	memcpy(name, "L\"\033", 4);
	name[65] = 'n';
	name[66] = 0;
	add_chunk(&r, TRACE_ID(0, PART_TARGET), name, sizeof(name));
	check_arguments(&r, size_of(&r), "uname", "{sysname=\"L\\\"\\x1b\", nodename=\"n\", ...}");
	r = (struct trace_record){.value = {16, 0x1000}};
	check_arguments(&r, size_of(&r), "prctl", "PR_GET_NAME, 0x1000");
	add_chunk(&r, TRACE_ID(1, PART_AFTER), "a\nb", 3);
	check_arguments(&r, size_of(&r), "prctl", "PR_GET_NAME, \"a\\nb\"");
	r.value[0] = 9999;
	check_arguments(&r, size_of(&r), "prctl", "0x270f, 0x1000, 0, 0, 0");
}

/* Bits beyond those that count, and more bits than were read. */
static void test_sets(void **state)
{
	struct trace_record r = {.value = {10, 0x1000}};
	struct file_name n = {.mode = 0100000, .inode = 7, .size = 2, .names = "x"};
	u64 bits = 1 << 3 | 1 << 9 | 1 << 10;
	struct trace_chunk *c;

	(void)state;
	check_arguments(&r, size_of(&r), "select", "10, 0x1000, NULL, NULL, NULL");
	c = add_chunk(&r, TRACE_ID(1, PART_TARGET), &bits, sizeof(bits));
	check_arguments(&r, size_of(&r), "select", "10, [3 9], NULL, NULL, NULL");
	add_chunk(&r, TRACE_ID(1, PART_FD), &n, offsetof(struct file_name, names) + 2)->element = 9;
	check_arguments(&r, size_of(&r), "select", "10, [3 9</x>], NULL, NULL, NULL");
	r.value[0] = 5000;
	c->flags = TRACE_CHUNK_CUT;
	check_arguments(&r, size_of(&r), "select", "5000, [3 9</x> 10 ...], NULL, NULL, NULL");
	r.value[0] = -1;
	c->bytes = 0;
	check_arguments(&r, size_of(&r), "select", "-1, 0x1000, NULL, NULL, NULL");
}

/* Complete names, and names with a wrong size. */
static void test_descriptors(void **state)
{
	struct file_name n = {.mode = 0100000, .inode = 7, .size = 11};
	size_t head = offsetof(struct file_name, names);
	struct trace_record r = {.value = {3}};
	struct trace_chunk *c;

	(void)state;
	memcpy(n.names, "pa<\x1b>d\0etc", 11);
	c = add_chunk(&r, TRACE_ID(0, PART_FD), &n, head + 11);
	check_arguments(&r, size_of(&r), "close", "3</etc/pa\\x3c\\x1b\\x3ed>");
	((struct file_name *)c->data)->flags = FILE_NAME_DELETED;
	check_arguments(&r, size_of(&r), "close", "3</etc/pa\\x3c\\x1b\\x3ed>(deleted)");
	((struct file_name *)c->data)->flags = 0;
	((struct file_name *)c->data)->size = 4000;
	check_arguments(&r, size_of(&r), "close", "3<inode:[7]>");
	((struct file_name *)c->data)->mode = 0140000;
	check_arguments(&r, size_of(&r), "close", "3<UNSPEC:[7]>");
	c->bytes = 8;
	check_arguments(&r, size_of(&r), "close", "3<...>");
}

static void check_control(const struct trace_chunk *c, const char *text)
{
	char *found = NULL;
	size_t n;
	FILE *f = open_memstream(&found, &n);

	assert_true(control__put(f, c));
	fclose(f);
	found = constants__choose(found, CONSTANTS_BY_NAME);
	assert_string_equal(found, text);
	free(found);
}

/* The traced process sets the lengths, which may be anything. */
static void test_control_messages(void **state)
{
	struct {
		u64 length;
		int level, type;
		int data[2];
	} m = { 20, 1, 1, { 3, 0 } };
	struct trace_record r = {};
	struct trace_chunk *c;
	u64 length;

	(void)state;
	c = add_chunk(&r, TRACE_ID(1, PART_CONTROL), &m, sizeof(m));
	check_control(c, "[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3]}]");
	c->flags = TRACE_CHUNK_CUT;
	check_control(c, "[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3]}, ...]");
	c->flags = 0;
	c->bytes = 20;
	check_control(c, "[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3]}]");
	length = UINT64_MAX;
	memcpy(c->data, &length, sizeof(length));
	check_control(c, "[{cmsg_len=18446744073709551615, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
			 "cmsg_data=[3, ...]}]");
	/* The message has more descriptors than were read. */
	length = 16 + 4 * 40;
	memcpy(c->data, &length, sizeof(length));
	c->bytes = 24;
	c->flags = TRACE_CHUNK_CUT;
	check_control(c, "[{cmsg_len=176, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
			 "cmsg_data=[3, 0, ...]}, ...]");
	c->bytes = 20;
	c->flags = 0;
	length = 0;
	memcpy(c->data, &length, sizeof(length));
	check_control(c, "[{cmsg_len=0, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS}, ...]");
	c->bytes = 15;
	assert_false(control__put(stdout, c));
	assert_false(control__put(stdout, NULL));
}

#define HEADER(length) { length, RTM_GETLINK, NLM_F_REQUEST, 7, 0 }
#define SHOWN(length) "{nlmsg_len=" length ", nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=7, " \
	"nlmsg_pid=0}"

/* Takes the lengths of both messages, the size of the call's data, and how many bytes of it were read. */
static void check_netlink(u32 first, u32 second, u64 whole, size_t n, const char *text)
{
	const struct nlmsghdr data[3] = {HEADER(first), HEADER(second)};
	struct trace_record r = {.value = {3, 0x1000, whole}};
	u32 protocol = NETLINK_ROUTE;
	char arguments[512];

	add_chunk(&r, TRACE_ID(1, PART_TARGET), data, n)->flags = n < whole ? TRACE_CHUNK_CUT : 0;
	add_chunk(&r, TRACE_ID(0, PART_NETLINK), &protocol, sizeof(protocol));
	snprintf(arguments, sizeof(arguments), "3, %s, %llu, 0, NULL, 0", text, whole);
	check_arguments(&r, size_of(&r), "sendto", arguments);
}

/* The traced process sets the lengths in messages, which may be anything. */
static void test_netlink_lengths(void **state)
{
	(void)state;
	check_netlink(16, 16, 16, 16, SHOWN("16"));
	check_netlink(16, 16, 32, 32, "[" SHOWN("16") ", " SHOWN("16") "]");
	check_netlink(16, 40, 40, 40, "[" SHOWN("16") ", [" SHOWN("40") ", ...]]");
	check_netlink(40, 0, 40, 40, "[" SHOWN("40") ", ...]");
	check_netlink(16, 1000, 2000, 40, "[" SHOWN("16") ", [" SHOWN("1000") ", ...], ...]");
	/* Lengths beyond the buffer; shorter than a header; up to the end of 32 bits, and rounded up beyond it. */
	check_netlink(1000, 0, 40, 40, "[" SHOWN("1000") ", ...]");
	check_netlink(0, 0, 16, 16, SHOWN("0"));
	check_netlink(0, 16, 32, 32, "[" SHOWN("0") ", ...]");
	check_netlink(15, 16, 32, 32, "[" SHOWN("15") ", ...]");
	check_netlink(16, 1, 48, 48, "[" SHOWN("16") ", [" SHOWN("1") ", ...]]");
	check_netlink(UINT32_MAX, 16, 32, 32, "[" SHOWN("4294967295") ", ...]");
	check_netlink(UINT32_MAX, 16, UINT64_MAX, 32, "[[" SHOWN("4294967295") ", ...], ...]");
	/* Headers truncated by --bytes or by the call. */
	check_netlink(16, 16, 32, 31, "[" SHOWN("16") ", ...]");
	check_netlink(16, 16, 32, 16, "[" SHOWN("16") ", ...]");
	check_netlink(16, 16, 32, 3, "\"\\x10\\x00\\x00\"...");
	check_netlink(16, 16, 3, 3, "\"\\x10\\x00\\x00\"");
	check_netlink(16, 16, 19, 19, "[" SHOWN("16") ", \"\\x10\\x00\\x00\"]");
	check_netlink(17, 16, 17, 17, "[" SHOWN("17") ", ...]");
	check_netlink(16, 16, 0, 0, "\"\"");
}

/* The bytes of HEADER(16). */
#define BYTES "\"\\x10\\x00\\x00\\x00\\x12\\x00\\x01\\x00\\x07\\x00\\x00\\x00\\x00\\x00\\x00\\x00\""
/* The same header in a protocol other than NETLINK_ROUTE. */
#define SHOWN_OF_OTHER "{nlmsg_len=16, nlmsg_type=0x12, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=7, nlmsg_pid=0}"

/* Only the family of the address is known, or not even that; the kernel's uevents have no headers. */
static void test_netlink_protocols(void **state)
{
	const struct nlmsghdr data = HEADER(16);
	struct trace_record r = {.value = {3, 0x1000, 16}}, other;
	u32 protocol = NETLINK_GENERIC;

	(void)state;
	add_chunk(&r, TRACE_ID(1, PART_TARGET), &data, sizeof(data));
	check_arguments(&r, size_of(&r), "sendto", "3, " BYTES ", 16, 0, NULL, 0");
	other = r;
	add_chunk(&other, TRACE_ID(0, PART_NETLINK), &protocol, sizeof(protocol));
	check_arguments(&other, size_of(&other), "sendto", "3, " SHOWN_OF_OTHER ", 16, 0, NULL, 0");
	r.value[4] = 0x2000;
	other = r;
	/* The address is too short for a family. */
	add_chunk(&other, TRACE_ID(4, PART_TARGET), "\x10", 1);
	check_arguments(&other, size_of(&other), "sendto", "3, " BYTES ", 16, 0, 0x2000, 0");
	add_chunk(&r, TRACE_ID(4, PART_TARGET), "\x10", 2);
	check_arguments(&r, size_of(&r), "sendto", "3, " SHOWN_OF_OTHER ", 16, 0, {sa_family=AF_NETLINK}, 0");
	protocol = NETLINK_KOBJECT_UEVENT;
	add_chunk(&r, TRACE_ID(0, PART_NETLINK), &protocol, sizeof(protocol));
	check_arguments(&r, size_of(&r), "sendto", "3, " BYTES ", 16, 0, {sa_family=AF_NETLINK}, 0");
}

/* Three buffers of 16, 4 and 16 bytes: a header with this length, "abcd", and another header. */
static void check_netlink_buffers(u32 length, const char *second, const char *third)
{
	const struct nlmsghdr head = HEADER(length), last = HEADER(16);
	struct trace_message m = {.vector = 0x4000, .count = 3};
	struct trace_iovec array[3] = {{0x1000, 16}, {0x2000, 4}, {0x3000, 16}};
	struct trace_record r = {.value = {3, 0x5000}};
	u32 protocol = NETLINK_ROUTE;
	char text[1024];
	u8 data[52] = {16, [2] = 4, [4] = 16, [32] = 'a', 'b', 'c', 'd'};

	memcpy(data + 16, &head, sizeof(head));
	memcpy(data + 36, &last, sizeof(last));
	add_chunk(&r, TRACE_ID(1, PART_TARGET), &m, sizeof(m));
	add_chunk(&r, TRACE_ID(1, PART_VECTOR), array, sizeof(array));
	add_chunk(&r, TRACE_ID(1, PART_DATA), data, sizeof(data));
	add_chunk(&r, TRACE_ID(0, PART_NETLINK), &protocol, sizeof(protocol));
	snprintf(text, sizeof(text), "3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base={nlmsg_len=%u, "
		 "nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=7, nlmsg_pid=0}, iov_len=16}, "
		 "{iov_base=%s, iov_len=4}, {iov_base=%s, iov_len=16}], msg_iovlen=3, msg_controllen=0, "
		 "msg_flags=0}, 0", length, second, third);
	check_arguments(&r, size_of(&r), "sendmsg", text);
}

/* A message may continue in the next buffers, which then do not begin with a header. */
static void test_netlink_buffers(void **state)
{
	(void)state;
	check_netlink_buffers(20, "\"abcd\"", SHOWN("16"));
	check_netlink_buffers(17, "\"abcd\"", SHOWN("16"));
	check_netlink_buffers(16, "\"abcd\"", BYTES);
	check_netlink_buffers(21, "\"abcd\"", BYTES);
	check_netlink_buffers(36, "\"abcd\"", BYTES);
	check_netlink_buffers(0, "\"abcd\"", BYTES);
	check_netlink_buffers(UINT32_MAX, "\"abcd\"", BYTES);
}

/* 1 s and 3 s, ten times 7 ns, and squares beyond 64 bits. */
static void test_errors(void **state)
{
	const u64 s = 1000000000, day = 86400 * s;
	struct call_sum two = {.count = 2, .ns = 4 * s, .squares = (unsigned __int128)10 * s * s};
	struct call_sum same = {.count = 10, .ns = 70, .squares = 490};
	struct call_sum days = {
		.count = 2, .ns = 4 * day, .squares = (unsigned __int128)10 * day * day};

	(void)state;
	assert_true(call_sum__error(&two) == (double)s);
	assert_true(call_sum__error(&same) == 0);
	assert_true(call_sum__error(&days) == (double)day);
}

/*
 * Each argument of the table is as wide as the kernel's parameter, whose type this kernel's
 * tracepoints name. Without a readable tracefs there is nothing to compare with.
 */
static void widths_are_the_kernels(void **state)
{
	struct tracepoint_format format;
	const struct signature *s;
	size_t n, i, k, a, compared = 0, wrong = 0;
	int tracefs = tracefs__open();
	char event[64];

	(void)state;
	if (tracefs < 0)
		skip();
	s = syscall_signatures(&n);
	for (i = 0; i < n; i++) {
		snprintf(event, sizeof(event), "sys_enter_%s", s[i].name);
		if (tracepoint_format__read(&format, tracefs, "syscalls", event))
			continue;
		for (k = a = 0; k < format.nfields && a < TRACE_ARGUMENTS; k++) {
			const struct tracepoint_field *field = &format.field[k];

			if (field->is_common || !strcmp(field->name, "__syscall_nr"))
				continue;
			/* Some descriptors are unsigned long, and truncated to 32 bits when the file is looked up. */
			if (s[i].arg[a].kind && s[i].arg[a].kind != ARG_FD &&
			    argument_is_narrow(&s[i].arg[a]) != syscall_type_is_narrow(field->type)) {
				print_message("%s, argument %zu: %s %s\n", s[i].name, a, field->type,
					      field->name);
				wrong++;
			}
			compared++;
			a++;
		}
		tracepoint_format__free(&format);
	}
	close(tracefs);
	assert_int_equal(wrong, 0);
	assert_true(compared > 300);
}

/* The kernel does not take the upper half of the register of a 32-bit argument. */
static void upper_halves_are_not_shown(void **state)
{
	static const char *const values[] = { "close_range", "pidfd_open", "pipe2", "mlock2",
					      "getdents64", "faccessat2", "inotify_add_watch" };
	static const char *const texts[] = {
		"1, 2, CLOSE_RANGE_CLOEXEC", "1, 0x2", "0x100000001, O_CLOEXEC",
		"0x100000001, 4294967298, MLOCK_ONFAULT|0x2", "1, 0x100000002, 3", "1, 0x100000002, F_OK, AT_EACCESS",
		"1, 0x100000002, IN_ACCESS|IN_MODIFY",
	};
	struct trace_record r = { .value = { 1ULL << 32 | 1, 1ULL << 32 | 2, 1ULL << 32 | 3 } };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		r.value[2] = 1ULL << 32 | (i == 0 ? 4 : i == 5 ? 0 : 3);
		r.value[3] = 1ULL << 32 | 0x200;
		r.value[1] = 1ULL << 32 | (i == 2 ? 02000000 : 2);
		check_arguments(&r, offsetof(struct trace_record, data), values[i], texts[i]);
	}
}

/* The meaning of an argument depends on another one. */
static void meanings_by_command(void **state)
{
	struct trace_record r = { .value = { 0x1000, 4 | 128, 1, 7, 0x2000, 9 } };
	size_t head = offsetof(struct trace_record, data);
	struct trace_chunk *c = (void *)r.data;
	int status = 0x7f00;

	(void)state;
	check_arguments(&r, head, "futex", "0x1000, FUTEX_CMP_REQUEUE_PRIVATE, 1, 7, 0x2000, 9");
	r.value[1] = 3 | 128;
	check_arguments(&r, head, "futex", "0x1000, FUTEX_REQUEUE_PRIVATE, 1, 7, 0x2000");
	r.value[1] = 0 | 128;
	r.value[3] = 0;
	check_arguments(&r, head, "futex", "0x1000, FUTEX_WAIT_PRIVATE, 1, NULL");
	r = (struct trace_record){ .value = { 5, 2, 6, 0x3000 } };
	check_arguments(&r, head, "epoll_ctl", "5, EPOLL_CTL_DEL, 6, 0x3000");
	/* No child has ended: the status is not read. */
	r = (struct trace_record){ .value = { -1, 0x4000, 1, 0 } };
	check_arguments(&r, head, "wait4", "-1, 0x4000, WNOHANG, NULL");
	r.used = 16;
	*c = (struct trace_chunk){ .id = TRACE_ID(1, PART_TARGET), .bytes = 4 };
	memcpy(c->data, &status, sizeof(status));
	r.value[TRACE_RESULT] = 17;
	check_arguments(&r, head + 16, "wait4",
			"-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 127}], WNOHANG, NULL");
	/* The option's value is a text, a struct, or a number. */
	r = (struct trace_record){ .value = { 3, 6, 13, 0x5000, 6 }, .used = 16 };
	*c = (struct trace_chunk){ .id = TRACE_ID(3, PART_TARGET), .bytes = 6 };
	memcpy(c->data, "cubic", 6);
	check_arguments(&r, head + 16, "setsockopt", "3, SOL_TCP, TCP_CONGESTION, \"cubic\", 6");
	r.value[1] = 1;
	c->bytes = 8;
	memcpy(c->data, (int[]){ 1, 5 }, 8);
	check_arguments(&r, head + 16, "setsockopt",
			"3, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=5}, 6");
	r.value[2] = 2;
	c->bytes = 4;
	check_arguments(&r, head + 16, "setsockopt", "3, SOL_SOCKET, SO_REUSEADDR, [1], 6");
	/* An unknown command, and commands that take no more arguments. */
	r = (struct trace_record){ .value = { 3, 0x77777777, 0x5000 } };
	check_arguments(&r, head, "ioctl", "3, 0x77777777, 0x5000");
	r.value[1] = 1ULL << 32 | 0x5451;
	check_arguments(&r, head, "ioctl", "3, FIOCLEX");
	r = (struct trace_record){ .value = { 0x1000, 137, 1, 0, 0x6000, UINT32_MAX } };
	check_arguments(&r, head, "futex",
			"0x1000, FUTEX_WAIT_BITSET_PRIVATE, 1, NULL, FUTEX_BITSET_MATCH_ANY");
}

/* A value is shown as given, and as the call has changed it. */
static void given_and_told(void **state)
{
	struct trace_record r = { .value = { 3, 0x5000, 0x6000 } };
	int length = 77;

	(void)state;
	add_chunk(&r, TRACE_ID(2, PART_TARGET), &length, sizeof(length));
	check_arguments(&r, size_of(&r), "getpeername", "3, 0x5000, [77]");
	add_chunk(&r, TRACE_ID(2, PART_AFTER), &length, sizeof(length))->data[0] = 16;
	check_arguments(&r, size_of(&r), "getpeername", "3, 0x5000, [77 => 16]");
}

static void check_mode(u32 mode, const char *text)
{
	char *found = NULL;
	size_t n;
	FILE *f = open_memstream(&found, &n);

	file_mode__put(f, mode);
	fclose(f);
	found = constants__choose(found, CONSTANTS_BY_NAME);
	assert_string_equal(found, text);
	free(found);
}

/* Several values in one number, and bits that belong to none. */
static void test_packed(void **state)
{
	struct trace_record r = { .value = { 16, 1, 4660 } };
	size_t head = offsetof(struct trace_record, data);

	(void)state;
	check_mode(020600, "S_IFCHR|0600");
	check_mode(0, "000");
	check_mode(0170644, "0170644");
	check_mode(1 << 20 | 0644, "04000644");
	check_arguments(&r, head, "socket", "AF_NETLINK, SOCK_STREAM, 4660");
	r.value[0] = 17;
	check_arguments(&r, head, "socket", "AF_PACKET, SOCK_STREAM, htons(0x3412)");
	r = (struct trace_record){ .value = { 0xffffffff, 0, 3 } };
	check_arguments(&r, head, "quotactl", "QCMD(0xffffff, 0xff), NULL, 3, NULL");
	r = (struct trace_record){ .value = { 0, 0, 0xffffffff } };
	check_arguments(&r, head, "ioprio_set", "0, 0, IOPRIO_PRIO_VALUE(0x7ffff, 8191)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_cut_constants),
		cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_many_messages),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_ready),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_control_messages),
		cmocka_unit_test(test_netlink_lengths),
		cmocka_unit_test(test_netlink_protocols),
		cmocka_unit_test(test_netlink_buffers),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(widths_are_the_kernels),
		cmocka_unit_test(upper_halves_are_not_shown),
		cmocka_unit_test(meanings_by_command),
		cmocka_unit_test(given_and_told),
		cmocka_unit_test(test_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
