/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the targets of a system call's arguments into the chunks of its record (trace.h). The loader specifies what to
 * read for each call (struct trace_call).
 */
#ifndef TALLY_FETCH_BPF_H
#define TALLY_FETCH_BPF_H

#include "compat.bpf.h"
#include "descriptor.bpf.h"
#include "loss.bpf.h"
#include "task_state.bpf.h"
#include "trace.h"

#define EFAULT 14
/* include/linux/errno.h */
#define ERESTART_RESTARTBLOCK 516

/* Number of bytes to read of a string, including its NUL and one more byte that shows whether it was truncated. */
const volatile u32 string_room = 258;

/* Number of bytes to read of each buffer of an array. */
const volatile u32 data_most = 32;

/* Also record the files of descriptors. */
const volatile bool fd_names = false;

struct trace_state {
	struct trace_record r;
	u32 active;             /* in a call whose entry was seen */
	u32 before;             /* in a call that began before the run, or in no call so far */
	u32 entered;            /* in a call, requested or not */
	u32 missing;            /* fetches that failed at the entry, as bits */
	u32 given;              /* room at a value-result buffer, before the call changes its length */
};

TASK_STATE(states, struct trace_state)

/* Returns room for a chunk with that much data, or NULL if there is none. */
static __always_inline struct trace_chunk *chunk_room(struct trace_record *r, u64 data)
{
	u64 off = r->used;

	/* The verifier of 5.10 knows the range only of the register that was added. */
	barrier_var(off);
	if (off > TRACE_ROOM - sizeof(struct trace_chunk) - data)
		return NULL;
	return (struct trace_chunk *)(r->data + off);
}

static __always_inline void chunk_done(struct trace_record *r, struct trace_chunk *c, u32 id,
				       u32 flags, u32 bytes, u32 element)
{
	c->id = id;
	c->flags = flags;
	c->bytes = bytes;
	c->element = element;
	r->used += sizeof(*c) + ((bytes + 7) & ~7);
}

static __always_inline void chunk_empty_of(struct trace_record *r, u32 id, u32 flags, u32 element)
{
	struct trace_chunk *c = chunk_room(r, 0);

	if (c)
		chunk_done(r, c, id, flags, 0, element);
}

static __always_inline void chunk_empty(struct trace_record *r, u32 id, u32 flags)
{
	chunk_empty_of(r, id, flags, 0);
}

/* Number of data bytes of a small chunk, used when there is no room for a large one. */
#define LITTLE 256

/* A buffer, and the type that precedes the text of a message. */
#define BYTES_MOST (4096 + 8)

/* An address, or an array of struct trace_iovec. */
#define PART_MOST 128

/* Returns the string's size including its NUL, or a negative errno. Some kernels return 0 for empty strings. */
static __always_inline long read_string(u8 *to, u32 size, u64 from)
{
	long n = bpf_probe_read_user_str(to, size, (void *)from);

	if (n)
		return n;
	*to = 0;
	return 1;
}

/* The following functions return 0, or -EFAULT without leaving a chunk behind. */
static __noinline int fetch_string(struct trace_record *r, u64 from, u32 arg)
{
	struct trace_chunk *c = chunk_room(r, string_room);
	u64 size = string_room;
	u32 flags = 0;
	long n;

	if (!c) {
		c = chunk_room(r, LITTLE);
		size = LITTLE;
		flags = TRACE_CHUNK_NO_ROOM;
	}
	if (!c) {
		chunk_empty(r, arg, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM);
		return 0;
	}
	n = read_string(c->data, size, from);
	if (n < 0)
		return -EFAULT;
	/* The byte before the last one only shows whether the string continues. */
	if ((u64)n >= size)
		chunk_done(r, c, arg, flags | TRACE_CHUNK_CUT, size - 2, 0);
	else
		chunk_done(r, c, arg, 0, n - 1, 0);
	return 0;
}

/* Returns the size in bytes. A set consists of whole longs; an invalid length gives 0. */
static __always_inline u64 whole_length(struct trace_fetch *f, u64 length)
{
	if (f->kind == FETCH_BITS)
		return (s32)length > 0 ? ((u32)length + 63) / 64 * 8 : 0;
	return length > (1U << 31) / 256 ? 1U << 31 : length * f->size;
}

static __noinline int fetch_bytes(struct trace_record *r, struct trace_fetch *f, u64 from, u32 given)
{
	u64 length = r->value[f->length & (TRACE_VALUES - 1)], most = BYTES_MOST, whole, n;
	u32 arg = f->id, flags = 0, pointed = 0;
	struct trace_iovec v = {};
	struct trace_chunk *c;

	if (f->pointed) {
		if (bpf_probe_read_user(&pointed, sizeof(pointed), (void *)length))
			return -EFAULT;
		/* The kernel did not write beyond the room that the caller gave. */
		length = pointed < given ? pointed : given;
	}
	if (f->described) {
		if (bpf_probe_read_user(&v, sizeof(v), (void *)from))
			return -EFAULT;
		if (!v.base)
			return 0;
		from = v.base;
		length = v.length;
	}
	if (f->within) {
		whole = r->value[(f->within - 1) & (TRACE_VALUES - 1)];
		if (length > whole)
			length = whole;
	}
	whole = f->head + whole_length(f, length);
	n = whole < f->most ? whole : f->most;
	c = chunk_room(r, BYTES_MOST);
	if (!c) {
		c = chunk_room(r, LITTLE);
		most = LITTLE;
	}
	if (!c) {
		chunk_empty(r, arg, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM);
		return 0;
	}
	if (n > most) {
		n = most;
		flags = TRACE_CHUNK_NO_ROOM;
	}
	barrier_var(n);
	if (n > most)
		return 0;
	if (bpf_probe_read_user(c->data, n, (void *)from))
		return -EFAULT;
	chunk_done(r, c, arg, n < whole ? flags | TRACE_CHUNK_CUT : 0, n, 0);
	return 0;
}

#define STRINGS 24
#define STRINGS_ROOM 3072

static __always_inline u64 read_pointer(struct trace_record *r, u64 from, u32 i, long *err)
{
	u64 pointer = 0;
	u32 size = r->slot < SYSCALL_NUMBERS ? 8 : 4;

	*err = bpf_probe_read_user(&pointer, size, (void *)(from + i * size));
	return pointer;
}

static __noinline int fetch_strings(struct trace_record *r, u64 from, u32 arg)
{
	struct trace_chunk *c = chunk_room(r, STRINGS_ROOM);
	u32 i, cut = 0;
	u64 pos, pointer = 0;
	long n, err;

	if (!c) {
		chunk_empty(r, arg, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM);
		return 0;
	}
	c->bytes = 0;
	for (i = 0; i < STRINGS; i++) {
		pointer = read_pointer(r, from, i, &err);
		if (err)
			return -EFAULT;
		if (!pointer)
			break;
		/* Read the position from memory each time, so that the verifier only knows the bounds tested here. */
		pos = c->bytes;
		barrier_var(pos);
		if (pos > STRINGS_ROOM - LITTLE)
			break;
		n = read_string(c->data + pos, LITTLE, pointer);
		if (n < 0)
			return -EFAULT;
		if (n == LITTLE)
			cut |= 1U << i;
		c->bytes = pos + n;
	}
	chunk_done(r, c, arg, pointer ? TRACE_CHUNK_CUT : 0, c->bytes, cut);
	return 0;
}

/* For a call whose meaning depends on an argument: true if the call uses the pointer this time. */
static __always_inline bool is_taken(struct trace_record *r, struct trace_fetch *f)
{
	u64 by = r->value[f->if_arg & (TRACE_VALUES - 1)];

	return !f->if_values || (f->if_values >> (by & 31) & 1 && !(f->if_small && (u32)by > 31));
}

static __noinline int fetch_one(struct trace_record *r, struct trace_fetch *f, u32 given)
{
	u64 from = r->value[f->id & (TRACE_VALUES - 1)];

	if (!from || !is_taken(r, f))
		return 0;
	return f->kind == FETCH_STRING ? fetch_string(r, from, f->id) :
					 fetch_bytes(r, f, from, given);
}

/* If the length cannot be read now, the length at the call's end is used. */
static __always_inline void note_given(struct trace_state *s, struct trace_fetch *f)
{
	u64 from = s->r.value[f->length & (TRACE_VALUES - 1)];

	if (bpf_probe_read_user(&s->given, sizeof(s->given), (void *)from))
		s->given = ~0U;
}

/* Separate from the loop over other fetches, because the verifier takes a long time for nested loops. */
static __always_inline int fetch_argv(struct trace_record *r, struct trace_call *call)
{
	u64 from = r->value[call->argv & (TRACE_VALUES - 1)];

	return from ? fetch_strings(r, from, call->argv) : 0;
}

/* --- descriptors ------------------------------------------------------------------------------ */

#define AT_FDCWD -100

/*
 * Records the file of a descriptor, or nothing if it is not open. Like some functions below, this is a global function:
 * it is verified once instead of at each call, so programs load fast. Before 5.12 such functions take no pointers, so
 * it looks up the record itself.
 */
__noinline int fetch_fd(u64 fd, u32 id)
{
	struct trace_state *s = states_find(calling_task());
	struct file *f = NULL;
	struct trace_record *r;
	struct trace_chunk *c;
	struct file_name *n;

	if (!fd_names || !s)
		return 0;
	r = &s->r;
	c = chunk_room(r, sizeof(struct file_name));
	if ((s32)fd != AT_FDCWD) {
		f = file_of_task((struct task_struct *)bpf_get_current_task(), fd);
		if (!f)
			return 0;
	}
	if (!c) {
		chunk_empty_of(r, id, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM, fd);
		return 0;
	}
	n = (struct file_name *)c->data;
	name_descriptor(n, (struct task_struct *)bpf_get_current_task(), f);
	chunk_done(r, c, id, 0, offsetof(struct file_name, names) + n->size, fd);
	return 0;
}

static __always_inline void fetch_fds(struct trace_record *r, struct trace_call *call)
{
	if (call->fds > 0)
		fetch_fd(r->value[call->fd[0] & (TRACE_VALUES - 1)],
			 TRACE_ID(call->fd[0], PART_FD));
	if (call->fds > 1)
		fetch_fd(r->value[call->fd[1] & (TRACE_VALUES - 1)],
			 TRACE_ID(call->fd[1], PART_FD));
}

/* include/linux/socket.h */
#define AF_NETLINK 16

/* Records the protocol of a netlink socket, or nothing for other descriptors. */
__noinline int fetch_netlink(u64 fd)
{
	struct trace_state *s = states_find(calling_task());
	struct sock *sk = socket_of(fd);
	struct trace_chunk *c;

	if (!s || !sk || BPF_CORE_READ(sk, __sk_common.skc_family) != AF_NETLINK)
		return 0;
	c = chunk_room(&s->r, sizeof(u64));
	if (!c)
		return 0;
	*(u32 *)c->data = BPF_CORE_READ(sk, sk_protocol);
	chunk_done(&s->r, c, TRACE_ID(0, PART_NETLINK), 0, sizeof(u32), 0);
	return 0;
}

/* include/uapi/linux/fcntl.h */
#define F_DUPFD 0
#define F_DUPFD_CLOEXEC 1030

static __always_inline void fetch_given_fds(struct trace_record *r, struct trace_call *call)
{
	u64 from = r->value[call->pair & (TRACE_VALUES - 1)], first = r->value[TRACE_RESULT];
	u32 id = TRACE_ID(TRACE_RESULT, PART_FD);
	u32 fd[2] = {};

	if (call->gives == GIVES_NO_FD || (s64)first < 0 ||
	    (call->gives == GIVES_FD_BY_COMMAND && r->value[1] != F_DUPFD &&
	     r->value[1] != F_DUPFD_CLOEXEC))
		return;
	if (call->gives == GIVES_FD_PAIR) {
		if (bpf_probe_read_user(fd, sizeof(fd), (void *)from))
			return;
		fetch_fd(fd[1], TRACE_ID(call->pair, PART_FD_SECOND));
		first = fd[0];
		id = TRACE_ID(call->pair, PART_FD);
	}
	fetch_fd(first, id);
}

/* --- descriptors that a call waits for -------------------------------------------------------- */

/* Maximum number of descriptors of an array or a set that are named. */
#define FDS_NAMED 8

/* include/uapi/asm-generic/poll.h: struct pollfd is { int fd; short events, revents; } */
#define POLLFD_SIZE 8

__noinline int fetch_fds_of_array(void)
{
	struct trace_state *s = states_find(calling_task());
	u64 from, n;
	s32 fd;
	u32 i;

	if (!s)
		return 0;
	from = s->r.value[0];
	n = (u32)s->r.value[1];
	for (i = 0; i < FDS_NAMED && i < n; i++)
		if (!bpf_probe_read_user(&fd, sizeof(fd), (void *)(from + i * POLLFD_SIZE)) &&
		    fd >= 0)
			fetch_fd(fd, TRACE_ID(0, PART_FD));
	return 0;
}

/* BPF has no instruction for this. Uses the upper 6 bits of the product of a power of two and a de Bruijn sequence. */
#define DE_BRUIJN 0x03f79d71b4cb0a89ULL
static const u8 bit_number[64] = {
	0, 1, 48, 2, 57, 49, 28, 3, 61, 58, 50, 42, 38, 29, 17, 4,
	62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18, 12, 5,
	63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11,
	46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9, 13, 8, 7, 6,
};

static __always_inline u32 lowest_bit(u64 bits)
{
	u64 lowest = bits & -bits;

	/* Without this, some versions of clang recognize the idiom and then fail to compile it. */
	barrier_var(lowest);
	return bit_number[lowest * DE_BRUIJN >> 58];
}

/* Names the first `left` descriptors of a 64-bit word. Returns how many more may be named. */
__noinline int fetch_fds_of_bits(u64 bits, u32 first, u32 arg, u32 left)
{
	u32 i;

	for (i = 0; i < FDS_NAMED && i < left && bits; i++) {
		fetch_fd(first + lowest_bit(bits), TRACE_ID(arg, PART_FD));
		bits &= bits - 1;
	}
	return left - i;
}

__noinline int fetch_fds_of_set(u32 arg)
{
	struct trace_state *s = states_find(calling_task());
	u32 at, left = FDS_NAMED;
	u64 from, bits, end;

	if (!s || (s32)s->r.value[0] < 0)
		return 0;
	end = (u32)s->r.value[0];
	from = s->r.value[arg & (TRACE_VALUES - 1)];
	for (at = 0; from && at < TRACE_SET_BITS && at < end; at += 64) {
		if (bpf_probe_read_user(&bits, sizeof(bits), (void *)(from + at / 8)))
			break;
		if (end - at < 64)
			bits &= ~(~0ULL << (end - at));
		left = fetch_fds_of_bits(bits, at, arg, left);
	}
	return 0;
}

static __always_inline void fetch_waited_for(u32 waits)
{
	if (waits == WAITS_FOR_ARRAY)
		fetch_fds_of_array();
	if (waits != WAITS_FOR_SETS)
		return;
	fetch_fds_of_set(1);
	fetch_fds_of_set(2);
	fetch_fds_of_set(3);
}

/* --- buffers described by arrays -------------------------------------------------------------- */

#define VECTOR_ID(part) TRACE_ID(TRACE_VECTOR_ARG, part)
#define LENGTH_AT __builtin_offsetof(struct trace_message_of_many, length)

/* Maximum number of data bytes of all elements together; further elements are marked as having no room. */
#define DATA_MOST 4096
#define DATA_ROOM (sizeof(struct trace_data) + 2048 + DATA_MOST)

/* The same limits for each of many messages; leaves room for the lengths of all of them. */
#define FEW_MOST LITTLE
#define FEW_ROOM (sizeof(struct trace_data) + 512)

/* Reads the next element. Returns its size, TRACE_DATA_FAULT or TRACE_DATA_NO_ROOM. */
static __always_inline u32 read_element(struct trace_chunk *c, u64 from, u64 n, u64 room, u64 most)
{
	u64 at = c->bytes;

	barrier_var(at);
	if (at > room - most)
		return TRACE_DATA_NO_ROOM;
	barrier_var(n);
	if (n > most)
		return TRACE_DATA_NO_ROOM;
	return bpf_probe_read_user(c->data + at, n, (void *)from) ? TRACE_DATA_FAULT : n;
}

/*
 * Reads `left` bytes from the buffers that contain them, in order. Returns 0 if everything was read. Unreadable
 * elements are marked, and may be read again.
 */
static __always_inline int fetch_data_within(struct trace_record *r, u64 from, u64 count, u64 left,
					     u32 element, u64 room, u64 most)
{
	struct trace_chunk *c = chunk_room(r, room);
	u64 shown = data_most < most ? data_most : most;
	struct trace_data *d;
	struct trace_iovec v;
	u32 i, got;
	int err = 0;
	u64 n;

	if (!c)
		return 0;       /* the array is shown without its data */
	d = (struct trace_data *)c->data;
	c->bytes = sizeof(*d);
	for (i = 0; i < TRACE_IOVECS; i++) {
		d->bytes[i] = 0;
		if (i >= count ||
		    bpf_probe_read_user(&v, sizeof(v), (void *)(from + i * sizeof(v))))
			continue;
		n = v.length < left ? v.length : left;
		left -= n;
		got = read_element(c, v.base, n < shown ? n : shown, room, most);
		d->bytes[i] = got;
		if (got == TRACE_DATA_FAULT)
			err = -EFAULT;
		else if (got != TRACE_DATA_NO_ROOM)
			c->bytes += got;
	}
	chunk_done(r, c, VECTOR_ID(PART_DATA), 0, c->bytes, element);
	return err;
}

static __noinline int fetch_data(struct trace_record *r, u64 from, u64 count, u64 left)
{
	return fetch_data_within(r, from, count, left, 0, DATA_ROOM, DATA_MOST);
}

static __noinline int fetch_few_data(struct trace_record *r, u64 from, u64 count, u64 left,
				     u32 element)
{
	return fetch_data_within(r, from, count, left, element, FEW_ROOM, FEW_MOST);
}

/* Reads those of `whole` bytes that are shown, at most PART_MOST. */
static __noinline int fetch_part(struct trace_record *r, u64 from, u64 whole, u32 id, u32 element)
{
	struct trace_chunk *c = chunk_room(r, LITTLE);
	u64 n = whole;

	if (!from || !whole || !c)
		return 0;
	barrier_var(n);
	if (n > PART_MOST)
		n = PART_MOST;
	if (bpf_probe_read_user(c->data, n, (void *)from))
		return -EFAULT;
	chunk_done(r, c, id, n < whole ? TRACE_CHUNK_CUT : 0, n, element);
	return 0;
}

static __always_inline int fetch_array(struct trace_record *r, u64 from, u64 count, u32 element)
{
	return fetch_part(r, from, (u16)count * sizeof(struct trace_iovec),
			  VECTOR_ID(PART_VECTOR), element);
}

/*
 * Reads a message with `left` bytes of data; element is 0 for a single message. Returns -EFAULT if a part of it could
 * not be read.
 */
__noinline int fetch_message(u64 from, u64 left, u32 element)
{
	struct trace_state *s = states_find(calling_task());
	struct trace_record *r;
	struct trace_message m;
	int err;

	if (!s)
		return 0;
	r = &s->r;
	if (bpf_probe_read_user(&m, sizeof(m), (void *)from) ||
	    fetch_part(r, from, sizeof(m), VECTOR_ID(PART_TARGET), element)) {
		chunk_empty_of(r, VECTOR_ID(PART_TARGET), TRACE_CHUNK_FAULT, element);
		return -EFAULT;
	}
	err = fetch_part(r, m.name, m.name_length, VECTOR_ID(PART_NAME), element);
	err |= fetch_part(r, m.control, m.control_length, VECTOR_ID(PART_CONTROL), element);
	err |= fetch_array(r, m.vector, m.count, element);
	if (!left)
		return err;
	return err | (element ? fetch_few_data(r, m.vector, m.count, left, element) :
				fetch_data(r, m.vector, m.count, left));
}

/* Reads the first few of n messages. If filled is set, reads each only up to its length. */
static __always_inline int fetch_messages(u64 from, u64 n, bool filled)
{
	u32 i, length;
	int err = 0;

	for (i = 0; i < TRACE_MESSAGES && i < n; i++) {
		length = 0;
		if (filled)
			bpf_probe_read_user(&length, sizeof(length), (void *)(from + LENGTH_AT));
		err |= fetch_message(from, filled ? length : ~0ULL, i + 1);
		from += sizeof(struct trace_message_of_many);
	}
	return err;
}

static __always_inline bool is_filled(u32 vector)
{
	return vector == VECTOR_READ || vector == VECTOR_RECEIVED || vector == VECTOR_RECEIVED_MANY;
}

/*
 * Reads an array and `left` bytes of its data, or the array alone. For many messages, left is a number of messages. If
 * has_array is set, the array has already been read. Returns -EFAULT if a part of it could not be read.
 */
__noinline int fetch_vector(u32 vector, u64 left, bool has_array)
{
	struct trace_state *s = states_find(calling_task());
	u64 from, count;
	int err = 0;

	if (!s || !s->r.value[TRACE_VECTOR_ARG])
		return 0;
	from = s->r.value[TRACE_VECTOR_ARG];
	count = (u32)s->r.value[TRACE_VECTOR_COUNT];
	if (vector == VECTOR_SENT_MANY || vector == VECTOR_RECEIVED_MANY)
		return fetch_messages(from, count < left ? count : left, is_filled(vector));
	if (vector == VECTOR_SENT || vector == VECTOR_RECEIVED)
		return fetch_message(from, left, 0);
	if (!has_array)
		err = fetch_array(&s->r, from, count, 0);
	return left ? err | fetch_data(&s->r, from, count, left) : err;
}

/* Reads the lengths of the messages that the call has sent or received. */
static __noinline int fetch_lengths(struct trace_record *r)
{
	u64 from = r->value[TRACE_VECTOR_ARG] + LENGTH_AT;
	struct trace_chunk *c = chunk_room(r, TRACE_MESSAGES * sizeof(u32));
	s64 n = r->value[TRACE_RESULT];
	u32 i;

	if (!c)
		return 0;
	for (i = 0; i < TRACE_MESSAGES && i < n; i++) {
		if (bpf_probe_read_user(c->data + i * sizeof(u32), sizeof(u32), (void *)from))
			return -EFAULT;
		from += sizeof(struct trace_message_of_many);
	}
	chunk_done(r, c, VECTOR_ID(PART_LENGTHS), 0, i * sizeof(u32), 0);
	return 0;
}

/* --- the course of a call --------------------------------------------------------------------- */

/* Bits of trace_state.missing above those of the fetches. */
#define ARGV_MISSING (1U << TRACE_FETCHES)
#define VECTOR_MISSING (1U << (TRACE_FETCHES + 1))

/* If the call is going to fill in the data, reads only the array now, unless the array is in a message. */
static __always_inline void fetch_vector_at_begin(struct trace_state *s, u32 vector)
{
	u32 used = s->r.used;

	if (vector == VECTOR_NONE || (is_filled(vector) && vector != VECTOR_READ) ||
	    !fetch_vector(vector, vector == VECTOR_READ ? 0 : ~0ULL, false))
		return;
	s->r.used = used;
	s->missing |= VECTOR_MISSING;
}

static __always_inline void fetch_at_begin(struct trace_state *s, struct trace_call *call)
{
	u32 i;

	if (fd_names)
		fetch_fds(&s->r, call);
	if (call->socket)
		fetch_netlink(s->r.value[0]);
	for (i = 0; i < TRACE_FETCHES && i < call->fetches; i++) {
		if (call->fetch[i].pointed)
			note_given(s, &call->fetch[i]);
		if (!call->fetch[i].when && fetch_one(&s->r, &call->fetch[i], ~0U))
			s->missing |= 1U << i;
	}
	if (fd_names)
		fetch_waited_for(call->waits);
	if (call->argv && fetch_argv(&s->r, call))
		s->missing |= ARGV_MISSING;
	fetch_vector_at_begin(s, call->vector);
}

/* A fault that the call itself encountered is not a loss. */
static __always_inline void count_fault(struct trace_record *r)
{
	if ((s64)r->value[TRACE_RESULT] != -EFAULT)
		count_lost(LOSS_INCOMPLETE);
}

static __always_inline void fetch_failed(struct trace_record *r, u32 arg)
{
	chunk_empty(r, arg, TRACE_CHUNK_FAULT);
	count_fault(r);
}

static __always_inline void fetch_vector_at_end(struct trace_state *s, u32 vector)
{
	s64 result = s->r.value[TRACE_RESULT], there = result < 0 ? 0 : result;
	bool missing = s->missing & VECTOR_MISSING;
	int err = 0;

	if (vector == VECTOR_READ && !missing && there)
		err = fetch_vector(vector, there, true);
	else if (is_filled(vector) && vector != VECTOR_READ ? result >= 0 : vector && missing)
		err = fetch_vector(vector, is_filled(vector) ? there : ~0ULL, false);
	if ((vector == VECTOR_SENT_MANY || vector == VECTOR_RECEIVED_MANY) && there)
		err |= fetch_lengths(&s->r);
	if (!err)
		return;
	/* If a part was read, its chunk comes first and is the one that counts. */
	chunk_empty(&s->r, TRACE_ID(TRACE_VECTOR_ARG, PART_TARGET), TRACE_CHUNK_FAULT);
	count_fault(&s->r);
}

/* True if fetch i is due at the end, or must be repeated because it failed at the entry. */
static __always_inline bool is_due(struct trace_state *s, u32 when, u32 i)
{
	s64 result = s->r.value[TRACE_RESULT];

	switch (when) {
	case FETCH_AT_BEGIN:
		return s->missing >> i & 1;
	case FETCH_IF_SUCCEEDED:
		return result >= 0;
	case FETCH_IF_FOUND:
		return result > 0;
	default:
		return result == -ERESTART_RESTARTBLOCK;
	}
}

static __always_inline void fetch_at_end(struct trace_state *s, struct trace_call *call)
{
	bool failed = (s64)s->r.value[TRACE_RESULT] < 0;
	u32 i;

	for (i = 0; i < TRACE_FETCHES && i < call->fetches; i++) {
		if (!is_due(s, call->fetch[i].when, i))
			continue;
		if (call->fetch[i].changed || fetch_one(&s->r, &call->fetch[i], s->given))
			fetch_failed(&s->r, call->fetch[i].id);
	}
	/* A successful exec has replaced the memory that contained the arguments. */
	if (call->argv && s->missing & ARGV_MISSING && (!failed || fetch_argv(&s->r, call)))
		fetch_failed(&s->r, call->argv);
	fetch_vector_at_end(s, call->vector);
	if (fd_names)
		fetch_given_fds(&s->r, call);
}

#endif /* TALLY_FETCH_BPF_H */
