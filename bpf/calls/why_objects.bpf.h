/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The object that a blocked thread waits for (why.h), and the time of the waits for each object. The object is
 * determined at the switch-out. Its name is read when its element is created: at that time the thread is still in the
 * call, so the file is still open.
 */
#ifndef TALLY_WHY_OBJECTS_BPF_H
#define TALLY_WHY_OBJECTS_BPF_H

#include "compat.bpf.h"
#include "file_name.bpf.h"
#include "socket.bpf.h"
#include "task_key.bpf.h"
#include "why.h"
#include "why_blocked.bpf.h"
#include "writer.bpf.h"

/* Calls that wait for the futex at their first argument. Set by the loader. */
const volatile u8 futexes[TRACE_SLOTS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, struct why_object_key);
	__type(value, struct why_object_sums);
} objects SEC(".maps");

/* An element under construction, with room for a whole name. The map and the loader use the first part of it. */
struct object_room {
	struct why_object_key key;
	u64 ns;
	u32 device, zero;
	struct file_name name;
};

_Static_assert(sizeof(struct why_object_element) - sizeof(struct why_object_name) ==
		       __builtin_offsetof(struct object_room, name),
	       "an object_room does not begin with a why_object_element");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct object_room);
} object_rooms SEC(".maps");

/* --- which object it is -------------------------------------------------------------------------- */

/* Finds the remote end of an inet socket, or the local end if it has no remote one. */
static __always_inline void find_end(struct why_object *o, struct sock *sk, u32 family)
{
	u16 port = swapped(BPF_CORE_READ(sk, __sk_common.skc_dport));
	bool is_remote = port;

	o->port = port ?: BPF_CORE_READ(sk, __sk_common.skc_num);
	o->family = family;
	o->type = is_remote ? OBJECT_REMOTE : OBJECT_LOCAL;
	if (family == AF_INET)
		bpf_probe_read_kernel(o->id, 4,
				      is_remote ? &sk->__sk_common.skc_daddr : &sk->__sk_common.skc_rcv_saddr);
	else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
		bpf_probe_read_kernel(o->id, sizeof(o->id),
				      is_remote ? &sk->__sk_common.skc_v6_daddr : &sk->__sk_common.skc_v6_rcv_saddr);
}

static __always_inline void find_inode(struct why_object *o, struct inode *inode)
{
	o->type = OBJECT_FILE;
	o->id[0] = BPF_CORE_READ(inode, i_ino);
	o->id[1] = (u64)BPF_CORE_READ(inode, i_sb, s_dev) << 32 | BPF_CORE_READ(inode, i_generation);
}

static __always_inline void find_socket(struct why_object *o, struct file *f)
{
	struct socket *socket = BPF_CORE_READ(f, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (family == AF_INET || family == AF_INET6)
		find_end(o, sk, family);
}

/* Anonymous files share one inode, so their file operations identify them. */
static __always_inline void find_file(struct why_object *o, struct file *f, u32 kind)
{
	switch (kind) {
	case KIND_TCP:
	case KIND_UDP:
	case KIND_SOCKET:
		find_socket(o, f);
		return;
	case KIND_ANONYMOUS:
		o->type = OBJECT_FILE;
		o->id[0] = (u64)BPF_CORE_READ(f, f_op);
		return;
	case KIND_UNIX:
		find_inode(o, BPF_CORE_READ(f, f_inode));
		o->type = OBJECT_UNIX;
		return;
	default:
		find_inode(o, BPF_CORE_READ(f, f_inode));
	}
}

static __always_inline void find_lock(struct why_object *o, struct task_struct *t, u64 lock)
{
	u64 mm = (u64)t->mm;
	bool is_mmap = mm && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock);

	o->type = is_mmap ? OBJECT_MMAP_LOCK : OBJECT_LOCK;
	o->id[0] = lock;
}

static __always_inline void find_futex(struct why_object *o, struct task_struct *t, u32 slot)
{
	struct pt_regs *regs = task_user_regs(t);

	o->type = OBJECT_FUTEX;
	o->id[0] = slot < SYSCALL_NUMBERS ? syscall_argument(regs, 0) : compat_syscall_argument(regs, 0);
	o->id[1] = t->tgid;
}

static __always_inline bool is_futex_call(u32 slot)
{
	u64 at = slot;

	barrier_var(at);
	return at < TRACE_SLOTS && futexes[at];
}

/*
 * Determines the object of a thread that leaves its CPU in that phase, in that call. f is the file of the call's
 * descriptor, or NULL. lock is the kernel lock that the thread waits for, or 0.
 */
static __always_inline void find_object(struct why_object *o, struct task_struct *t, u32 phase,
					const struct blocked_call *call, struct file *f, u64 lock)
{
	*o = (struct why_object){};
	if (phase != WHY_SLEEP && phase != WHY_DISK && phase != WHY_IO && phase != WHY_LOCK)
		return;
	if (phase != WHY_IO && is_futex_call(call->slot))
		find_futex(o, t, call->slot);
	else if (phase == WHY_LOCK)
		find_lock(o, t, lock);
	else if (f)
		find_file(o, f, call->kind);
}

/* --- its name ------------------------------------------------------------------------------------ */

/* Reads the path that the socket is bound to, or else the path of its peer. */
static __always_inline void name_unix(struct file_name *n, struct file *f)
{
	struct socket_address *a = (struct socket_address *)n->names;
	struct socket *socket = BPF_CORE_READ(f, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);

	read_unix(a, sk);
	if (!a->length)
		read_unix(a, BPF_CORE_READ((struct unix_sock *)sk, peer));
	n->size = a->length ? sizeof(*a) : 0;
}

/* Returns true if the call's descriptor still refers to that object; the object is then named. */
static __always_inline bool name_file(struct object_room *room, struct task_struct *t)
{
	struct blocked_call call = no_call;
	struct file *f = find_call(t, &call);
	struct why_object o = {};

	if (!f)
		return false;
	find_file(&o, f, call.kind);
	if (o.type != room->key.object.type || o.id[0] != room->key.object.id[0] || o.id[1] != room->key.object.id[1])
		return false;
	if (room->key.object.type == OBJECT_UNIX) {
		name_unix(&room->name, f);
		return true;
	}
	if (call.kind == KIND_BLOCK)
		room->device = BPF_CORE_READ(f, f_inode, i_rdev);
	file_name_of(&room->name, f);
	return true;
}

/* Names the object of the key, which the caller has filled in. Returns whether the object can be shown. */
static __noinline int name_object(struct object_room *room, struct task_struct *t)
{
	room->device = 0;
	room->name.size = 0;
	if (room->key.object.type == OBJECT_FILE || room->key.object.type == OBJECT_UNIX)
		return name_file(room, t);
	return true;
}

/* --- its time ------------------------------------------------------------------------------------ */

static __always_inline void object_key_of(struct why_object_key *key, struct task_struct *t, u32 phase,
					  const struct blocked_call *call, const struct why_object *o)
{
	key->slot = call->slot;
	key->phase = phase;
	key->kind = call->kind;
	key->object = *o;
	task_key_of(&key->task, t);
}

/* The generation in which the map was full (shared_writer()). Until it ends, names of further objects are not read. */
static u32 full_in = ~0U;

/* If there is no room, the object is not named, and its time remains in its row only. */
static __noinline int add_object(const struct why_object_key *key, struct task_struct *t, u64 ns)
{
	struct object_room *room;
	u32 zero = 0;

	room = bpf_map_lookup_elem(&object_rooms, &zero);
	if (!room || full_in == shared_writer())
		return 0;
	room->key = *key;
	if (!name_object(room, t))
		return 0;
	room->ns = ns;
	if (bpf_map_update_elem(&objects, key, &room->ns, BPF_NOEXIST) == -E2BIG)
		full_in = shared_writer();
	return 0;
}

/* Called when a wait of the thread for that object ends. */
static __noinline int charge_object(struct task_struct *t, u32 phase, const struct blocked_call *call,
				    const struct why_object *o, u64 ns)
{
	struct why_object_key key = { .writer = this_writer() };
	struct why_object_sums *sums;

	object_key_of(&key, t, phase, call, o);
	sums = bpf_map_lookup_elem(&objects, &key);
	if (sums)
		sums->ns += ns;
	else
		add_object(&key, t, ns);
	return 0;
}

#endif /* TALLY_WHY_OBJECTS_BPF_H */
