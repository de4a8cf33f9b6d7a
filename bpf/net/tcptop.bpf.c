// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Bytes of TCP, by connection and by the process that has it.
 *
 * Nothing runs when bytes are sent or received: TCP itself counts them, for each socket, and those counters are
 * read at the end of an interval and when the connection ends. So the sums are exact whatever the bytes
 * went through (read, sendfile, splice, io_uring, the kernel's own users), in all network
 * namespaces, and cost the same at any rate. What programs run at is in each kernel from 5.10 on, and
 * needs no kprobes:
 *
 *   inet_sock_set_state   a connection begins, ends, or its last user lets go of it
 *   sys_exit              accept(2) returns: who has accepted
 *   iter/task_file        at the start, and at each interval: who holds which socket
 *   iter/bpf_map_elem     at each interval: the counters of all connections
 *
 * A connection belongs to the process that connected or accepted, as long as that holds it; then to one
 * that does: whoever closes it last or shuts it down, or is found holding it. So the child that a server has
 * made for a connection gets what it moves, and not the server.
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

/* include/net/tcp_states.h */
#define TCP_FIN_WAIT1 4
#define TCP_LAST_ACK 9

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u64);
	__type(value, struct tcptop_connection);
} connections SEC(".maps");

/* Written by the loader before each walk over all files. */
u32 walk = 0;

/* A walk has found one that a process holds which is not its owner: see adopt_connections. */
u32 strays = 0;

/* --- owners ----------------------------------------------------------------------------------- */

/* t: NULL is the current task. */
static __always_inline void set_owner(struct tcptop_connection *c, struct task_struct *t)
{
	u64 stamp = 0;

	__builtin_memset(&c->owner, 0, sizeof(c->owner));
	task_key_of(&c->owner.task, t);
	task_key_name(c->owner.name, &stamp, t, 1);
	c->pid = scope_tgid(t);
	c->wanted = scope_for_life(t) && scope_now(t);
}

/* A whole element takes the place of the one before: it may be read at any time. */
static __always_inline void pass_on(u64 sk, const struct tcptop_connection *from,
				    struct task_struct *t)
{
	struct tcptop_connection c = *from;

	set_owner(&c, t);
	c.seen = walk;
	bpf_map_update_elem(&connections, &sk, &c, BPF_EXIST);
}

static __always_inline void keep(u64 sk, const struct tcptop_connection *c, u64 flags)
{
	long err = bpf_map_update_elem(&connections, &sk, c, flags);

	if (err && (int)err != -EEXIST)
		count_failed_update(err);
}

/* --- figures ---------------------------------------------------------------------------------- */

/*
 * Payload: without what was sent again, and without the one that a FIN counts for. Of two counters that grow,
 * the one that is taken off is read first.
 */
static __always_inline void read_figures(u64 sk, u64 *sent, u64 *received)
{
	struct tcp_sock *tp = (void *)sk;
	u64 resent = BPF_CORE_READ(tp, bytes_retrans);

	*sent = BPF_CORE_READ(tp, bytes_sent) - resent;
	*received = tcp_payload_received(BPF_CORE_READ(tp, bytes_received),
					 sock_got_fin((struct sock *)sk));
}

static __always_inline void fill(struct tcptop_record *r, u64 sk, const struct tcptop_connection *c)
{
	u64 sent, received;

	read_figures(sk, &sent, &received);
	r->socket = sk;
	r->serial = c->serial;
	r->sent = sent - c->sent;
	r->received = received - c->received;
	r->owner = c->owner;
	flow_of(&r->flow, (struct sock *)sk);
}

/* One that was there before it was seen: what it has moved up to now is not counted. */
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
 * It leaves the map before its record can be read, so that whoever finds it in the map after he has read its
 * counters has read something the record will go on from.
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

	if (!c)
		return;
	if (armed && c->wanted) {
		tell_end(sk, c);
		return;
	}
	count_filtered();
	bpf_map_delete_elem(&connections, &sk);
}

/*
 * close(2) of the last descriptor, or shutdown(2): by who has used it, though he may not be the one who
 * accepted. Files that the kernel closes later, on a thread of its own, tell nothing.
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
	sk = socket_of(ret);
	if (!sk || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	key = (u64)sk;
	c = bpf_map_lookup_elem(&connections, &key);
	if (!c)
		find(key, NULL);        /* it had waited for this since before the run */
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

/* The connection that a file is; 0: none. */
static __always_inline u64 connection_of(struct file *file)
{
	struct sock *sk = socket_of_file(file);

	return sk && is_connection(sk) ? (u64)sk : 0;
}

/* Finds those from before the run, and later which owners hold theirs still. */
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

/* After that, if there were any: those whose owners do not hold them go to the first process that does. */
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
 * Sockets are read by their address, which may go meanwhile: their connection has left the map then, or
 * is another one. One whose end was hidden from us is closed.
 */
SEC("iter/bpf_map_elem")
int show_connections(struct bpf_iter__bpf_map_elem *ctx)
{
	const u64 *key = ctx->key;
	struct tcptop_record r = {};
	struct tcptop_connection *c;
	u64 sk;

	if (!key)
		return 0;
	sk = *key;
	c = bpf_map_lookup_elem(&connections, &sk);
	if (!c || !c->wanted || !is_connection((struct sock *)sk))
		return 0;
	fill(&r, sk, c);
	c = bpf_map_lookup_elem(&connections, &sk);
	if (c && c->serial == r.serial && ports_match(&r.flow))
		bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
