/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the arguments of a system call point to, into the chunks of its record (trace.h). What is
 * to be read of each call the loader says (struct trace_call).
 */
#ifndef TALLY_FETCH_BPF_H
#define TALLY_FETCH_BPF_H

#include "compat.bpf.h"
#include "file_name.bpf.h"
#include "loss.bpf.h"
#include "socket.bpf.h"
#include "task_state.bpf.h"
#include "trace.h"

#define EFAULT 14

/* Of strings, with their NUL and one more to tell whether they are cut. */
const volatile u32 string_room = 258;

/* Of each buffer that an array tells of. */
const volatile u32 data_most = 32;

/* Also what descriptors are. */
const volatile bool fd_names = false;

struct trace_state {
	struct trace_record r;
	u32 active;             /* in a call whose begin was seen */
	u32 before;             /* in one that began before, or in none yet */
	u32 missing;            /* bits of fetches that could not be read when the call began */
};

TASK_STATE(states, struct trace_state)

/* Room for a chunk with so much data; NULL if there is none. */
static __always_inline struct trace_chunk *chunk_room(struct trace_record *r, u64 data)
{
	u64 off = r->used;

	/* 5.10 knows the range of the very register that is added. */
	barrier_var(off);
	if (off > TRACE_ROOM - sizeof(struct trace_chunk) - data)
		return NULL;
	return (struct trace_chunk *)(r->data + off);
}

static __always_inline void chunk_done(struct trace_record *r, struct trace_chunk *c, u32 id,
				       u32 flags, u32 bytes, u32 whole)
{
	c->id = id;
	c->flags = flags;
	c->bytes = bytes;
	c->whole = whole;
	r->used += sizeof(*c) + ((bytes + 7) & ~7);
}

static __always_inline void chunk_empty(struct trace_record *r, u32 id, u32 flags)
{
	struct trace_chunk *c = chunk_room(r, 0);

	if (c)
		chunk_done(r, c, id, flags, 0, 0);
}

/* What is left where a large chunk finds no room. */
#define LITTLE 256

/* An address, or an array of struct trace_iovec. */
#define PART_MOST 128

/* The string's size with its NUL, or an error. Kernels differ on empty ones: of some it is 0. */
static __always_inline long read_string(u8 *to, u32 size, u64 from)
{
	long n = bpf_probe_read_user_str(to, size, (void *)from);

	if (n)
		return n;
	*to = 0;
	return 1;
}

/* Each returns 0 or -EFAULT, and then has left nothing. */
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
	/* The last byte but one is only there to tell whether there is more. */
	if ((u64)n >= size)
		chunk_done(r, c, arg, flags | TRACE_CHUNK_CUT, size - 2, 0);
	else
		chunk_done(r, c, arg, 0, n - 1, 0);
	return 0;
}

static __noinline int fetch_bytes(struct trace_record *r, struct trace_fetch *f, u64 from)
{
	u64 length = r->value[f->length & (TRACE_VALUES - 1)], most = 4096, whole, n;
	u32 arg = f->arg, flags = 0, pointed = 0;
	struct trace_chunk *c;

	if (f->pointed) {
		if (bpf_probe_read_user(&pointed, sizeof(pointed), (void *)length))
			return -EFAULT;
		length = pointed;
	}
	whole = length > (1U << 31) / 256 ? 1U << 31 : length * f->size;
	n = whole < f->most ? whole : f->most;
	c = chunk_room(r, 4096);
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
	chunk_done(r, c, arg, n < whole ? flags | TRACE_CHUNK_CUT : 0, n, whole);
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
		/* From memory each time: all the verifier then knows of it is what is tested here. */
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

static __noinline int fetch_one(struct trace_record *r, struct trace_fetch *f)
{
	u64 from = r->value[f->arg & (TRACE_VALUES - 1)];

	if (!from)
		return 0;
	return f->kind == FETCH_STRING ? fetch_string(r, from, f->arg) : fetch_bytes(r, f, from);
}

/* Not in the loop of the others: with a loop of its own in it the verifier takes long. */
static __always_inline int fetch_argv(struct trace_record *r, struct trace_call *call)
{
	u64 from = r->value[call->argv & (TRACE_VALUES - 1)];

	return from ? fetch_strings(r, from, call->argv) : 0;
}

/* --- descriptors ------------------------------------------------------------------------------ */

#define AT_FDCWD -100

static __always_inline void read_socket(struct trace_socket *to, struct file *f)
{
	struct socket *socket = BPF_CORE_READ(f, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk), *peer;

	to->protocol = BPF_CORE_READ(sk, sk_protocol);
	to->type = BPF_CORE_READ(sk, sk_type);
	to->peer = 0;
	read_local(&to->local, sk);
	if (to->local.family != AF_UNIX) {
		read_remote(&to->remote, sk);
		return;
	}
	to->remote.family = 0;
	peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
	if (peer)
		to->peer = BPF_CORE_READ(peer, sk_socket, file, f_inode, i_ino);
}

/* NULL: the directory that names are relative to. */
static __always_inline void name_descriptor(struct file_name *n, struct file *f)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct fs_struct *fs = BPF_CORE_READ(t, fs);
	const struct path *path = __builtin_preserve_access_index(&fs->pwd);
	u32 mode = S_IFDIR;
	u64 inode = 0;

	if (f) {
		path = __builtin_preserve_access_index(&f->f_path);
		mode = BPF_CORE_READ(f, f_inode, i_mode);
		inode = BPF_CORE_READ(f, f_inode, i_ino);
	}
	file_name_of_path(n, path, mode, inode);
	if (n->mode != S_IFSOCK)
		return;
	n->size = sizeof(struct trace_socket);
	read_socket((struct trace_socket *)n->names, f);
}

/*
 * What a descriptor is; nothing of one that is none. A global function, like fetch_vector() below,
 * is verified once, not for each call of it: so programs load fast. Before 5.12 such a function
 * takes no pointers; it finds the record by itself.
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
		chunk_empty(r, id, TRACE_CHUNK_CUT | TRACE_CHUNK_NO_ROOM);
		return 0;
	}
	n = (struct file_name *)c->data;
	name_descriptor(n, f);
	chunk_done(r, c, id, 0, offsetof(struct file_name, names) + n->size, 0);
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

/* --- buffers that arrays tell of -------------------------------------------------------------- */

/* What elements of any size may take; those behind it are told to have found no room. */
#define DATA_MOST 4096
#define DATA_ROOM (sizeof(struct trace_data) + 2048 + DATA_MOST)

/* The next element: TRACE_DATA_FAULT, or how much of it was read. */
static __always_inline u32 read_element(struct trace_chunk *c, u64 at, u64 from, u64 n)
{
	barrier_var(at);
	if (at > DATA_ROOM - DATA_MOST)
		return TRACE_DATA_NO_ROOM;
	barrier_var(n);
	if (n > DATA_MOST)
		return TRACE_DATA_NO_ROOM;
	return bpf_probe_read_user(c->data + at, n, (void *)from) ? TRACE_DATA_FAULT : n;
}

/*
 * `left` bytes are there, in as many of the buffers as they fill. 0: all was read. What was not is
 * marked, and left where it may be read again.
 */
static __noinline int fetch_data(struct trace_record *r, u64 from, u64 count, u64 left)
{
	struct trace_chunk *c = chunk_room(r, DATA_ROOM);
	struct trace_data *d;
	struct trace_iovec v;
	u32 i, got;
	int err = 0;
	u64 n;

	if (!c)
		return 0;       /* the array is shown without */
	d = (struct trace_data *)c->data;
	c->bytes = sizeof(*d);
	for (i = 0; i < TRACE_IOVECS; i++) {
		d->bytes[i] = 0;
		if (i >= count ||
		    bpf_probe_read_user(&v, sizeof(v), (void *)(from + i * sizeof(v))))
			continue;
		n = v.length < left ? v.length : left;
		left -= n;
		got = read_element(c, c->bytes, v.base, n < data_most ? n : data_most);
		d->bytes[i] = got;
		if (got == TRACE_DATA_FAULT)
			err = -EFAULT;
		else if (got != TRACE_DATA_NO_ROOM)
			c->bytes += got;
	}
	chunk_done(r, c, TRACE_ID(TRACE_VECTOR_ARG, PART_DATA), 0, c->bytes, 0);
	return err;
}

/* Of so many bytes, as many as are shown. */
static __noinline int fetch_part(struct trace_record *r, u64 from, u64 whole, u32 id)
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
	chunk_done(r, c, id, n < whole ? TRACE_CHUNK_CUT : 0, n, whole);
	return 0;
}

static __always_inline int fetch_array(struct trace_record *r, u64 from, u64 count)
{
	return fetch_part(r, from, (u16)count * sizeof(struct trace_iovec),
			  TRACE_ID(TRACE_VECTOR_ARG, PART_VECTOR));
}

static __always_inline bool is_message(u32 vector)
{
	return vector == VECTOR_SENT || vector == VECTOR_RECEIVED;
}

/*
 * With left bytes of data, or the array alone. has_array: that is there already. 0, or -EFAULT if
 * any of it could not be read.
 */
__noinline int fetch_vector(u32 vector, u64 left, bool has_array)
{
	struct trace_state *s = states_find(calling_task());
	struct trace_record *r;
	struct trace_message m;
	u64 from, count;
	int err = 0;

	if (!s || !s->r.value[TRACE_VECTOR_ARG])
		return 0;
	r = &s->r;
	from = r->value[TRACE_VECTOR_ARG];
	count = (u32)r->value[TRACE_VECTOR_COUNT];
	if (is_message(vector)) {
		if (bpf_probe_read_user(&m, sizeof(m), (void *)from) ||
		    fetch_part(r, from, sizeof(m), TRACE_ID(TRACE_VECTOR_ARG, PART_TARGET)))
			return -EFAULT;
		err = fetch_part(r, m.name, m.name_length, TRACE_ID(TRACE_VECTOR_ARG, PART_NAME));
		err |= fetch_part(r, m.control, m.control_length,
				  TRACE_ID(TRACE_VECTOR_ARG, PART_CONTROL));
		from = m.vector;
		count = m.count;
	}
	if (!has_array)
		err |= fetch_array(r, from, count);
	return left ? err | fetch_data(r, from, count, left) : err;
}

/* --- the course of a call --------------------------------------------------------------------- */

#define ARGV_MISSING (1U << TRACE_FETCHES)
#define VECTOR_MISSING (1U << (TRACE_FETCHES + 1))

/* Of what the call is to fill there is the array so far, if that is not in a msghdr. */
static __always_inline void fetch_vector_at_begin(struct trace_state *s, u32 vector)
{
	u32 used = s->r.used;

	if (vector == VECTOR_NONE || vector == VECTOR_RECEIVED ||
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
	for (i = 0; i < TRACE_FETCHES && i < call->fetches; i++)
		if (!call->fetch[i].out && fetch_one(&s->r, &call->fetch[i]))
			s->missing |= 1U << i;
	if (call->argv && fetch_argv(&s->r, call))
		s->missing |= ARGV_MISSING;
	fetch_vector_at_begin(s, call->vector);
}

/* What the call could not read itself is not lost. */
static __always_inline void count_fault(struct trace_record *r)
{
	if ((s64)r->value[TRACE_RESULT] != -EFAULT)
		count_lost(LOSS_READ_FAULT);
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
	else if (vector == VECTOR_RECEIVED ? result >= 0 : vector && missing)
		err = fetch_vector(vector,
				   vector == VECTOR_WRITTEN || vector == VECTOR_SENT ? ~0ULL :
										       there,
				   false);
	if (!err)
		return;
	/* Where there is something of it, the first chunk counts. */
	chunk_empty(&s->r, TRACE_ID(TRACE_VECTOR_ARG, PART_TARGET), TRACE_CHUNK_FAULT);
	count_fault(&s->r);
}

static __always_inline void fetch_at_end(struct trace_state *s, struct trace_call *call)
{
	bool failed = (s64)s->r.value[TRACE_RESULT] < 0;
	u32 i;

	for (i = 0; i < TRACE_FETCHES && i < call->fetches; i++) {
		if (call->fetch[i].out ? failed : !(s->missing & (1U << i)))
			continue;
		if (fetch_one(&s->r, &call->fetch[i]))
			fetch_failed(&s->r, call->fetch[i].arg);
	}
	/* After an exec that did not fail there is nothing left of them. */
	if (call->argv && s->missing & ARGV_MISSING && (!failed || fetch_argv(&s->r, call)))
		fetch_failed(&s->r, call->argv);
	fetch_vector_at_end(s, call->vector);
	if (fd_names)
		fetch_given_fds(&s->r, call);
}

#endif /* TALLY_FETCH_BPF_H */
