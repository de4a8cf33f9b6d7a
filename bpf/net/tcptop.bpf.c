// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP bytes, by connection and by the process that owns it.
 *
 * No program runs when bytes are sent or received: TCP itself counts them for each socket, and these counters are read
 * at the end of an interval and when the connection ends. So the sums are exact no matter which path the bytes took
 * (read, sendfile, splice, io_uring, users in the kernel), in all network namespaces, and cost the same at any rate.
 * The hooks exist in every kernel since 5.10, and no kprobes are needed:
 *
 *   inet_sock_set_state   a connection begins, ends, or its last user closes it
 *   sys_exit              accept(2) returns: the accepting process
 *   iter/task_file        at the start, and at each interval: which process holds which socket
 *   raw_tp, test-run      at each interval: the counters of all connections
 *
 * A connection belongs to the process that connected or accepted it, as long as that process holds the socket. After
 * that it belongs to another holder: the one that closes it last, shuts it down, or is found holding it. So the bytes
 * are attributed to a child that a server has forked for a connection, not to the server.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "call.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "socket.bpf.h"
#include "task_key.bpf.h"
#include "tcp.bpf.h"
#include "tcptop.h"

const volatile bool picks_tasks = false;        /* connections without an owner are out of scope */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u64);
	__type(value, struct tcptop_connection);
} connections SEC(".maps");

/* Connections in scope that found no room, each counted as lost once. Beyond this many, one may count again. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, u8);
} unkept SEC(".maps");

/* Written by the loader before each walk over all files. */
u32 walk = 0;

/* Set if a walk has found a connection held by a process that is not its owner: see adopt_connections. */
u32 strays = 0;

struct tcptop_look look = {};

/* --- owners ----------------------------------------------------------------------------------- */

/* t is NULL for the current task. */
static __always_inline void set_owner(struct tcptop_connection *c, struct task_struct *t)
{
	u64 stamp = 0;

	__builtin_memset(&c->owner, 0, sizeof(c->owner));
	task_key_of(&c->owner.task, t);
	task_key_name(c->owner.name, &stamp, t, 1);
	c->pid = scope_tgid(t);
	c->wanted = scope_for_life(t) && scope_now(t);
}

/* Replaces the whole element, because it may be read at any time. */
static __always_inline void pass_on(u64 sk, const struct tcptop_connection *from,
				    struct task_struct *t)
{
	struct tcptop_connection c = *from;

	set_owner(&c, t);
	c.seen = walk;
	bpf_map_update_elem(&connections, &sk, &c, BPF_EXIST);
}

static __always_inline void count_unkept(u64 sk, long err, u64 flags)
{
	u8 counted = 1;

	if (armed && (int)bpf_map_update_elem(&unkept, &sk, &counted, flags) != -EEXIST)
		count_failed_update(err);
}

/* With BPF_NOEXIST, the connection may have been counted as lost before: when it began, or by an earlier walk. */
static __always_inline void keep(u64 sk, const struct tcptop_connection *c, u64 flags)
{
	long err = bpf_map_update_elem(&connections, &sk, c, flags);

	if (err && (int)err != -EEXIST && c->wanted)
		count_unkept(sk, err, flags);
}

/* --- figures ---------------------------------------------------------------------------------- */

/*
 * The socket may change between the reads of two counters, or of a counter and a flag, so a figure can be slightly less
 * than a previously read one.
 */
static __always_inline u64 growth(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

/*
 * Payload: without retransmitted bytes, and without the byte that represents a FIN. Both counters grow, so the one to
 * subtract is read first.
 */
static __always_inline void read_figures(u64 sk, u64 *sent, u64 *received)
{
	struct tcp_sock *tp = (void *)sk;
	u64 resent = BPF_CORE_READ(tp, bytes_retrans);

	*sent = growth(resent, BPF_CORE_READ(tp, bytes_sent));
	*received = tcp_payload_received(BPF_CORE_READ(tp, bytes_received),
					 sock_got_fin((struct sock *)sk));
}

static __always_inline void fill(struct tcptop_record *r, u64 sk, const struct tcptop_connection *c)
{
	u64 sent, received;

	read_figures(sk, &sent, &received);
	r->socket = sk;
	r->serial = c->serial;
	r->sent = growth(c->sent, sent);
	r->received = growth(c->received, received);
	r->owner = c->owner;
	flow_of(&r->flow, (struct sock *)sk);
}

/* Adds a connection that existed before it was discovered: the bytes transferred so far do not count. */
static __always_inline void find(u64 sk, struct task_struct *t)
{
	struct tcptop_connection c = { .serial = bpf_ktime_get_ns(), .seen = walk };

	read_figures(sk, &c.sent, &c.received);
	set_owner(&c, t);
	keep(sk, &c, BPF_NOEXIST);
}

/* --- connections as they come and go ---------------------------------------------------------- */

static __always_inline void begin(u64 sk, bool connects)
{
	struct tcptop_connection c = { .serial = bpf_ktime_get_ns(), .wanted = !picks_tasks };

	if (connects)
		set_owner(&c, NULL);
	keep(sk, &c, BPF_ANY);
}

/*
 * The element is removed from the map before its record can be read. If a reader still finds the element in the map
 * after reading its counters, the record continues from the values that the reader has seen.
 */
static __always_inline void tell_end(u64 sk, const struct tcptop_connection *c)
{
	struct tcptop_record *r = ring_reserve(struct tcptop_record);

	if (!r) {
		bpf_map_delete_elem(&connections, &sk);
		return;
	}
	fill(r, sk, c);
	bpf_map_delete_elem(&connections, &sk);
	if (ports_wanted(&r->flow) && (r->sent || r->received))
		ring_submit(r);
	else
		bpf_ringbuf_discard(r, 0);
}

static __always_inline void end(u64 sk)
{
	struct tcptop_connection *c = bpf_map_lookup_elem(&connections, &sk);

	if (!c) {
		bpf_map_delete_elem(&unkept, &sk);
		return;
	}
	if (armed && c->wanted) {
		tell_end(sk, c);
		return;
	}
	count_filtered();
	bpf_map_delete_elem(&connections, &sk);
}

/*
 * Called at close(2) of the last descriptor, or shutdown(2): the caller has used the connection, though another process
 * may have accepted it. Kernel threads that close files later do not change the owner.
 */
static __always_inline void let_go(u64 sk)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct tcptop_connection *c = bpf_map_lookup_elem(&connections, &sk);
	u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (c && c->pid != pid && !(BPF_CORE_READ(t, flags) & PF_KTHREAD))
		pass_on(sk, c, NULL);
}

SEC("tp_btf/inet_sock_set_state")
int UNPREEMPTED_PROG(on_state, const struct sock *sk, int old, int state)
{
	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (state == TCP_SYN_SENT)
		begin((u64)sk, true);
	else if (state == TCP_SYN_RECV && old == TCP_LISTEN)
		begin((u64)sk, false);
	else if (state == TCP_FIN_WAIT1 || state == TCP_LAST_ACK)
		let_go((u64)sk);
	else if (state == TCP_CLOSE)
		end((u64)sk);
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct tcptop_connection *c;
	struct sock *sk;
	struct call call;
	u64 key;

	if (!call_of(&call, regs) || ret < 0)
		return 0;
	sk = tcp_socket_of(socket_of(ret));
	if (!sk)
		return 0;
	key = (u64)sk;
	c = bpf_map_lookup_elem(&connections, &key);
	if (!c)
		find(key, NULL);        /* accept(2) has been waiting since before the run */
	else if (!c->pid)
		pass_on(key, c, NULL);
	return 0;
}

/* --- all files -------------------------------------------------------------------------------- */

static __always_inline bool is_connection(const struct sock *sk)
{
	u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);

	return BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP && state != TCP_CLOSE &&
	       state != TCP_LISTEN;
}

/* Returns the connection behind a file, or 0 if there is none. */
static __always_inline u64 connection_of(struct file *file)
{
	struct sock *sk = tcp_socket_of(socket_of_file(file));

	return sk && is_connection(sk) ? (u64)sk : 0;
}

/* Finds connections from before the run, and later the owners that still hold theirs. */
SEC("iter/task_file")
int walk_files(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *file = ctx->file;
	struct tcptop_connection *c;
	u64 sk;

	if (!t || !file)
		return 0;
	sk = connection_of(file);
	if (!sk)
		return 0;
	c = bpf_map_lookup_elem(&connections, &sk);
	if (!c)
		find(sk, t);
	else if (c->pid == (u32)t->tgid)
		c->seen = walk;
	else if (c->seen != walk)
		strays = 1;
	return 0;
}

/* Runs next if there were strays: connections that their owners no longer hold pass to the first holder. */
SEC("iter/task_file")
int adopt_connections(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *file = ctx->file;
	struct tcptop_connection *c;
	u64 sk;

	if (!t || !file)
		return 0;
	sk = connection_of(file);
	if (!sk)
		return 0;
	c = bpf_map_lookup_elem(&connections, &sk);
	if (c && c->seen != walk)
		pass_on(sk, c, t);
	return 0;
}

/* --- all connections -------------------------------------------------------------------------- */

/*
 * Sockets are read by address and may be freed during the read: the connection has then left the map, or another one is
 * there. A connection whose end was missed is closed.
 */
static __always_inline bool look_at(struct tcptop_record *r, u64 sk)
{
	struct tcptop_connection *c = bpf_map_lookup_elem(&connections, &sk);

	if (!c || !c->wanted || !is_connection((struct sock *)sk))
		return false;
	fill(r, sk, c);
	c = bpf_map_lookup_elem(&connections, &sk);
	return c && c->serial == r->serial && ports_match(&r->flow);
}

/*
 * The loader has read the addresses from the map, because some kernels reject iter/bpf_map_elem programs. Preemption is
 * off during this program, so the batches are small.
 */
SEC(BY_LOADER)
int look_at_connections(void *ctx)
{
	u32 i;

	for (i = 0; i < TCPTOP_LOOK && i < look.n; i++) {
		struct tcptop_record *r = &look.record[i];

		__builtin_memset(r, 0, sizeof(*r));
		if (!look_at(r, look.socket[i]))
			r->socket = 0;
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
