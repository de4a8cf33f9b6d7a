// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "host/errno_name.h"
#include "host/open_flags.h"
#include "report/units.h"
#include "calls/syscall/constants.h"
#include "calls/syscall/descriptor.h"
#include "calls/syscall/facts.h"
#include "calls/syscall/layouts.h"
#include "calls/syscall/netlink.h"
#include "calls/syscall/packed.h"
#include "calls/syscall/polled.h"
#include "calls/syscall/prctl.h"
#include "calls/syscall/socket_options.h"
#include "calls/syscall/text.h"
#include "calls/syscall/vector.h"
#include "types/tracefs.h"

/*
 * --- operands ----------------------------------------------------------------------------------
 */

/* One argument: its value, and the chunk of its target, or NULL. */
struct operand {
	const struct argument *arg;
	const struct trace_record *r;
	u32 number;
	u64 value;
	const struct trace_chunk *chunk;
	size_t size;            /* size of the record */
};

static void put_strings(FILE *f, const struct operand *o)
{
	const char *p = (const char *)o->chunk->data, *end = p + o->chunk->bytes;
	size_t len;
	u32 i;

	fputc('[', f);
	for (i = 0; p < end; i++, p += len + 1) {
		len = strnlen(p, end - p);
		fputs(i ? ", " : "", f);
		quoted__put(f, p, len);
		if (i < 32 && o->chunk->cut >> i & 1)
			fputs("...", f);
	}
	fputs(o->chunk->flags & TRACE_CHUNK_CUT ? ", ...]" : "]", f);
}

/*
 * --- arguments ---------------------------------------------------------------------------------
 */

/* waitid(WNOHANG) without a child clears the siginfo, and leaves the rusage unchanged. */
static bool has_child(const struct operand *o)
{
	const struct trace_chunk *info = trace_chunk__find(o->r, o->size, TRACE_ID(2, PART_TARGET));
	int signal = 1;

	if (o->number == 4 && info && info->bytes >= sizeof(signal))
		memcpy(&signal, info->data, sizeof(signal));
	return signal;
}

/* Puts "[0 1]" for a set that consists of longs. */
static void put_cpu_set(FILE *f, const struct operand *o, u64 most)
{
	const struct trace_chunk *c = o->chunk;
	bool first = true, cut;
	u32 cpu;

	fputc('[', f);
	for (cpu = 0; cpu < c->bytes * 8U && cpu < most; cpu++) {
		if (!(c->data[cpu / 8] >> cpu % 8 & 1))
			continue;
		fprintf(f, "%s%u", first ? "" : " ", cpu);
		first = false;
	}
	cut = c->flags & TRACE_CHUNK_CUT && c->bytes * 8ULL < most;
	fputs(cut ? (first ? "...]" : " ...]") : "]", f);
}

/* One struct; the caller may have passed a shorter version than ours. */
static void put_struct(FILE *f, const struct operand *o, const struct trace_chunk *c)
{
	u64 data[32] = {};

	memcpy(data, c->data, c->bytes < sizeof(data) ? c->bytes : sizeof(data));
	if (o->arg->layout >= STRUCT_OF_MEMBERS && o->arg->layout != STRUCT_TIMEVAL_PAIR) {
		if (!layouts__put(f, o->arg->layout, data, c->bytes))
			pointer__put(f, o->value);
	} else if (o->arg->layout == STRUCT_CLONE_ARGS && c->bytes >= 64) {
		clone_args__put(f, data, c->bytes);
	} else if (c->bytes >= struct_layout_size(o->arg->layout)) {
		struct__put(f, o->arg->layout, data);
	} else {
		pointer__put(f, o->value);
	}
}

/* Puts the value before the call; then the value after it, if it differs. */
static void put_given_and_told(FILE *f, const struct operand *o)
{
	const struct trace_chunk *after = trace_chunk__find(o->r, o->size,
							    TRACE_ID(o->number, PART_AFTER));
	int given, told;

	if (!after || after->flags & TRACE_CHUNK_FAULT ||
	    (after->bytes == o->chunk->bytes && !memcmp(after->data, o->chunk->data, after->bytes))) {
		put_struct(f, o, o->chunk);
		return;
	}
	if (o->arg->layout == STRUCT_INT && o->chunk->bytes == sizeof(int) &&
	    after->bytes == sizeof(int)) {
		memcpy(&given, o->chunk->data, sizeof(int));
		memcpy(&told, after->data, sizeof(int));
		fprintf(f, "[%d => %d]", given, told);
		return;
	}
	put_struct(f, o, o->chunk);
	fputs(" => ", f);
	put_struct(f, o, after);
}

static void put_structs(FILE *f, const struct operand *o)
{
	u32 size = struct_layout_size(o->arg->layout), n = o->chunk->bytes / size, i;
	struct trace_chunk *one = (struct trace_chunk *)(u64[33]){};

	if (o->arg->told) {
		put_given_and_told(f, o);
		return;
	}
	if (o->arg->sized || (o->arg->layout >= STRUCT_OF_MEMBERS && !o->arg->array)) {
		put_struct(f, o, o->chunk);
		return;
	}

	if (!o->arg->array && !n) {
		pointer__put(f, o->value);
		return;
	}
	if (o->arg->layout == STRUCT_RUSAGE && !has_child(o)) {
		pointer__put(f, o->value);
		return;
	}
	if (o->arg->layout == STRUCT_POLLFD) {
		pollfds__put(f, o->r, o->size, o->number, o->chunk);
		return;
	}
	if (o->arg->array)
		fputc('[', f);
	for (i = 0; i < n; i++) {
		memcpy(one->data, o->chunk->data + i * size, size);
		one->bytes = size;
		fputs(i ? ", " : "", f);
		put_struct(f, o, one);
	}
	if (o->arg->array)
		fputs(o->chunk->flags & TRACE_CHUNK_CUT ? ", ...]" : "]", f);
}

/* Finds the file of the descriptor that this argument is, or points to. */
static const struct trace_chunk *fd_chunk(const struct operand *o, enum trace_part part)
{
	return trace_chunk__find(o->r, o->size, TRACE_ID(o->number, part));
}

static void put_fd_pair(FILE *f, const struct operand *o)
{
	int fd[2];

	memcpy(fd, o->chunk->data, sizeof(fd));
	fprintf(f, "[%d", fd[0]);
	descriptor__put(f, fd_chunk(o, PART_FD));
	fprintf(f, ", %d", fd[1]);
	descriptor__put(f, fd_chunk(o, PART_FD_SECOND));
	fputc(']', f);
}

static void put_sockaddr(FILE *f, const struct operand *o)
{
	if (!sockaddr__put(f, o->chunk->data, o->chunk->bytes))
		pointer__put(f, o->value);
}

/* include/uapi/linux/msg.h: struct msgbuf */
static void put_ipc_message(FILE *f, const struct operand *o)
{
	s64 type;

	if (o->chunk->bytes < sizeof(type)) {
		pointer__put(f, o->value);
		return;
	}
	memcpy(&type, o->chunk->data, sizeof(type));
	fprintf(f, "{mtype=%lld, mtext=", type);
	quoted__put(f, o->chunk->data + sizeof(type), o->chunk->bytes - sizeof(type));
	fputs(o->chunk->flags & TRACE_CHUNK_CUT ? "...}" : "}", f);
}

static void put_fd_set(FILE *f, const struct operand *o)
{
	if (o->chunk->bytes)
		fd_set__put(f, o->r, o->size, o->number, o->chunk);
	else
		pointer__put(f, o->value);
}

static bool is_fd_pair(const struct operand *o)
{
	return o->arg->kind == ARG_STRUCT && o->arg->layout == STRUCT_FD_PAIR &&
	       o->chunk->bytes >= 2 * sizeof(int);
}

static void put_message_data(FILE *f, const struct operand *o)
{
	const struct trace_chunk *to = trace_chunk__find(o->r, o->size, TRACE_ID(4, PART_TARGET));
	u64 whole = o->r->value[o->arg->length], lacking;
	int protocol = netlink__protocol(o->r, o->size, to);

	if (!netlink__put(f, protocol, o->chunk->data, o->chunk->bytes, whole, &lacking))
		quoted_chunk__put(f, o->chunk);
}

static void put_target(FILE *f, const struct operand *o)
{
	if (!o->value || !o->chunk || o->chunk->flags & TRACE_CHUNK_FAULT) {
		unread__put(f, o->value, o->chunk);
		return;
	}
	if (is_fd_pair(o)) {
		put_fd_pair(f, o);
		return;
	}
	switch (o->arg->kind) {
	case ARG_STRINGS:
		put_strings(f, o);
		break;
	case ARG_SOCKADDR:
		put_sockaddr(f, o);
		break;
	case ARG_STRUCT:
	case ARG_FUTEX_TIMEOUT:
		put_structs(f, o);
		break;
	case ARG_SOCKET_VALUE:
		socket_value__put(f, o->r->value[o->number - 2], o->r->value[o->number - 1], o->chunk);
		break;
	case ARG_IPC_MESSAGE:
		put_ipc_message(f, o);
		break;
	case ARG_FD_SET:
		put_fd_set(f, o);
		break;
	case ARG_MESSAGE_DATA:
		put_message_data(f, o);
		break;
	case ARG_SET_AND_SIZE:
		set_and_size__put(f, o->r, o->size, o->number, o->chunk);
		break;
	case ARG_CPU_SET:
		put_cpu_set(f, o, UINT32_MAX);
		break;
	case ARG_NODE_SET:
		put_cpu_set(f, o, o->r->value[o->arg->length] - 1);
		break;
	default:
		/* If the caller passed no buffer, to query the length, nothing was written. */
		if (o->arg->within && !o->chunk->bytes)
			pointer__put(f, o->value);
		else
			quoted_chunk__put(f, o->chunk);
		break;
	}
}

static void put_lock(FILE *f, const struct operand *o, enum trace_part part)
{
	const struct trace_chunk *c = trace_chunk__find(o->r, o->size, TRACE_ID(o->number, part));
	char lock[32];

	if (!o->value || !c || c->bytes < sizeof(lock)) {
		unread__put(f, o->value, c);
		return;
	}
	memcpy(lock, c->data, sizeof(lock));
	flock__put(f, lock, part == PART_AFTER);
}

static void put_open_flags(FILE *f, u64 flags)
{
	char text[OPEN_FLAGS_SPACE];

	constant__begin(f, CONSTANT_HEX, flags);
	fputs(open_flags(text, flags), f);
	constant__end(f);
}

static void put_fcntl(FILE *f, const struct operand *o)
{
	switch (o->r->value[o->number - 1]) {
	case F_SETFL:
		put_open_flags(f, o->value);
		break;
	case F_SETFD:
		value_names__put(f, &fd_flags, o->value);
		break;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_SETOWN:
	case F_SETSIG:
	case F_SETLEASE:
	case F_SETPIPE_SZ:
		fprintf(f, "%d", (int)o->value);
		break;
	case F_SETLK:
	case F_SETLKW:
		put_lock(f, o, PART_TARGET);
		break;
	case F_GETLK:
		put_lock(f, o, PART_AFTER);
		break;
	default:
		pointer__put(f, o->value);
		break;
	}
}

static void put_futex_op(FILE *f, u64 op)
{
	constant__begin(f, CONSTANT_HEX, (u32)op);
	value_names__put(f, &futex_ops, op & FUTEX_CMD_MASK);
	if (op & FUTEX_PRIVATE_FLAG)
		fputs("_PRIVATE", f);
	if (op & FUTEX_CLOCK_REALTIME)
		fputs("|FUTEX_CLOCK_REALTIME", f);
	constant__end(f);
}

static void put_clone_flags(FILE *f, u64 flags)
{
	if (flags & ~0xffULL)
		value_names__put(f, &clone_flags, flags & ~0xffULL);
	if (flags & 0xff) {
		fputs(flags & ~0xffULL ? "|" : "", f);
		signal_name__put(f, flags & 0xff);
	} else if (!flags) {
		fputc('0', f);
	}
}

static void put_fd(FILE *f, const struct operand *o)
{
	if (o->arg->kind == ARG_DIRFD && (int)o->value == AT_FDCWD) {
		constant__begin(f, CONSTANT_DECIMAL, AT_FDCWD);
		fputs("AT_FDCWD", f);
		constant__end(f);
	} else {
		fprintf(f, "%d", (int)o->value);
	}
	if (o->arg->kind == ARG_DIRFD || (int)o->value >= 0)
		descriptor__put(f, fd_chunk(o, PART_FD));
}

static void put_futex_value(FILE *f, const struct operand *o)
{
	u32 op = o->r->value[1] & FUTEX_CMD_MASK, value = o->value;

	if (op == FUTEX_CMP_REQUEUE || op == FUTEX_CMP_REQUEUE_PI)
		fprintf(f, "%u", value);
	else if (op == FUTEX_WAKE_OP)
		futex_wake_op__put(f, value);
	else if ((op == FUTEX_WAIT_BITSET || op == FUTEX_WAKE_BITSET) && value == UINT32_MAX)
		fputs("FUTEX_BITSET_MATCH_ANY", f);
	else
		fprintf(f, "%#x", value);
}

/* futex's fourth argument is a time, or a second number of waiters. */
static void put_futex_timeout(FILE *f, const struct operand *o)
{
	if (o->arg->if_values >> (o->r->value[1] & 31) & 1)
		put_target(f, o);
	else
		fprintf(f, "%u", (u32)o->value);
}

/* Whether the argument that this one depends on has one of the values. */
static bool has_value(const struct operand *o)
{
	u64 value = o->r->value[o->arg->if_arg];

	return value < 32 && o->arg->if_values >> value & 1;
}

static void put_names(FILE *f, const struct operand *o)
{
	u64 value = o->arg->wide ? o->value : (u32)o->value;
	const char *name;

	if (o->arg->if_values && !has_value(o)) {
		fprintf(f, value ? "%#llx" : "%llx", (unsigned long long)value);
		return;
	}
	switch (o->arg->kind) {
	case ARG_HUGE_NAMES:
		huge_names__put(f, o->arg->names, value);
		break;
	case ARG_NAMED_NUMBER:
		name = value_names__find(o->arg->names, value);
		constant__begin(f, CONSTANT_DECIMAL, value);
		if (name)
			fputs(name, f);
		else
			fprintf(f, "%d", (int)value);
		constant__end(f);
		break;
	default:
		/* This value queries the current personality, and sets nothing. */
		if (o->arg->names == &personalities && value == UINT32_MAX)
			fputs("0xffffffff", f);
		else
			value_names__put(f, o->arg->names, value);
		break;
	}
}

static void put_argument(FILE *f, const struct operand *o)
{
	switch (o->arg->kind) {
	case ARG_INT:
		fprintf(f, "%d", (int)o->value);
		break;
	case ARG_LONG:
		fprintf(f, "%lld", (long long)o->value);
		break;
	case ARG_UINT:
		fprintf(f, "%u", (u32)o->value);
		break;
	case ARG_SIZE:
		fprintf(f, "%llu", o->value);
		break;
	case ARG_HEX:
		fprintf(f, "%#llx", o->value);
		break;
	case ARG_HEX32:
		fprintf(f, "%#x", (u32)o->value);
		break;
	case ARG_SIZE32:
		fprintf(f, "%u", (u32)o->value);
		break;
	case ARG_POINTER:
		pointer__put(f, o->value);
		break;
	case ARG_FD:
	case ARG_DIRFD:
		put_fd(f, o);
		break;
	case ARG_MODE:
	case ARG_CREATE_MODE:
		fprintf(f, "%#03o", (u32)(o->value & 0xffff));    /* umode_t: all bits that the kernel uses */
		break;
	case ARG_OPEN_FLAGS:
		put_open_flags(f, (u32)o->value);
		break;
	case ARG_NAMES:
	case ARG_HUGE_NAMES:
	case ARG_NAMED_NUMBER:
		put_names(f, o);
		break;
	case ARG_MKNOD_MODE:
		file_mode__put(f, (u32)o->value);
		break;
	case ARG_PROTOCOL:
		protocol__put(f, o->r->value[0], o->value);
		break;
	case ARG_QUOTA_COMMAND:
		quota_command__put(f, o->value);
		break;
	case ARG_MOUNT_FLAGS:
		mount_flags__put(f, o->value);
		break;
	case ARG_IO_PRIORITY:
		io_priority__put(f, o->value);
		break;
	case ARG_IPC_FLAGS:
		ipc_flags__put(f, o->value);
		break;
	case ARG_SIGNAL_OF_LONG:
		if (o->value)
			signal_name__put(f, o->value);
		else
			fputc('0', f);
		break;
	case ARG_FCNTL:
		put_fcntl(f, o);
		break;
	case ARG_PRCTL:
		prctl_second__put(f, o->r, o->size);
		break;
	case ARG_FUTEX_OP:
		put_futex_op(f, o->value);
		break;
	case ARG_FUTEX_VALUE:
		put_futex_value(f, o);
		break;
	case ARG_FUTEX_TIMEOUT:
		put_futex_timeout(f, o);
		break;
	case ARG_SOCKET_OPTION:
		socket_option__put(f, o->r->value[o->number - 1], o->value, o->arg->names);
		break;
	case ARG_CLONE_FLAGS:
		put_clone_flags(f, o->value);
		break;
	case ARG_SIGNAL:
		signal_name__put(f, (u32)o->value);
		break;
	case ARG_VECTOR:
		vector__put(f, o->r, o->size, o->arg->out);
		break;
	case ARG_MESSAGE:
		message__put(f, o->r, o->size, o->arg->out);
		break;
	case ARG_MESSAGES:
		messages__put(f, o->r, o->size, o->arg->out);
		break;
	case ARG_MAKEDEV:
		fprintf(f, "makedev(%#x, %#x)", major(o->value), minor(o->value));
		break;
	default:
		put_target(f, o);
		break;
	}
}

static bool fcntl_has_third(u64 command)
{
	return command != F_GETFD && command != F_GETFL && command != F_GETOWN &&
	       command != F_GETSIG && command != F_GETLEASE && command != F_GETPIPE_SZ &&
	       command != F_GET_SEALS;
}

/* The arguments that the kernel reads for a command, one bit for each. */
static u32 futex_arguments(u64 op)
{
	static const u8 taken[] = {
		[FUTEX_WAIT] = 0x0f, [FUTEX_WAKE] = 0x07, [FUTEX_REQUEUE] = 0x1f,
		[FUTEX_CMP_REQUEUE] = 0x3f, [FUTEX_WAKE_OP] = 0x3f, [FUTEX_LOCK_PI] = 0x0b,
		[FUTEX_UNLOCK_PI] = 0x03, [FUTEX_TRYLOCK_PI] = 0x03, [FUTEX_WAIT_BITSET] = 0x2f,
		[FUTEX_WAKE_BITSET] = 0x27, [FUTEX_WAIT_REQUEUE_PI] = 0x1f,
		[FUTEX_CMP_REQUEUE_PI] = 0x3f, [13 /* FUTEX_LOCK_PI2 */] = 0x0b,
	};

	op &= FUTEX_CMD_MASK;
	return op < ARRAY_SIZE(taken) && taken[op] ? taken[op] : 0x3f;
}

/* The new address of mremap is used with MREMAP_FIXED and MREMAP_DONTUNMAP. */
static bool takes_new_address(const struct signature *s, const struct trace_record *r)
{
	return s->arg[3].names != &mremap_flags || r->value[3] & 6;
}

/* Whether the call uses an argument, which may depend on others. */
static bool is_taken(const struct signature *s, const struct trace_record *r, u32 i)
{
	switch (s->arg[i].kind) {
	case ARG_UNUSED:
		return false;
	case ARG_FCNTL:
		return fcntl_has_third(r->value[i - 1]);
	case ARG_MAKEDEV:
		return is_device_mode(r->value[i - 1]);
	default:
		break;
	}
	if (i && s->arg[i - 1].kind == ARG_OPEN_FLAGS && s->arg[i].kind == ARG_CREATE_MODE)
		return open_flags_create(r->value[i - 1]);
	if (i > 1 && s->arg[i - 1].kind == ARG_CREATE_MODE)
		return open_flags_create(r->value[i - 2]);
	if (s->arg[1].kind == ARG_PRCTL)
		return i < prctl_arguments(r->value[0]);
	if (s->arg[1].kind == ARG_FUTEX_OP)
		return futex_arguments(r->value[1]) >> i & 1;
	return i != 4 || takes_new_address(s, r);
}

void syscall_arguments__put(FILE *f, const struct signature *s, const struct trace_record *r,
			    size_t size)
{
	struct operand o = {.r = r, .size = size};
	u32 i, shown = 0;

	s = syscall_commanded(s, r->value);
	for (i = 0; i < TRACE_ARGUMENTS && s->arg[i].kind; i++) {
		if (!is_taken(s, r, i))
			continue;
		o.arg = &s->arg[i];
		o.number = i;
		o.value = r->value[i];
		o.chunk = trace_chunk__find(r, size, TRACE_ID(i, PART_TARGET));
		fputs(shown++ ? ", " : "", f);
		put_argument(f, &o);
	}
}
