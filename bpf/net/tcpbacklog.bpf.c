// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long TCP connections wait in the accept queues of their listeners, and how full these are.
 *
 * The socket of a new connection begins as a copy of the listener, with the length and the limit of its queue. The
 * kernel then reports the change of state from LISTEN to SYN_RECV (inet_csk_clone_lock()), puts the socket into the
 * queue, and reports the change to ESTABLISHED; a connection by TCP Fast Open may be accepted before that. The wait
 * ends when accept(2) returns the socket, or when the socket is closed. A socket in the queue has no owner (sk_socket),
 * and is ESTABLISHED, or CLOSE_WAIT once the peer has closed its end.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"

#include "alone.bpf.h"
#include "by_loader.h"
#include "call.bpf.h"
#include "loss.bpf.h"
#include "maximum.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "socket.bpf.h"
#include "socket_look.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "tcp.bpf.h"
#include "tcpbacklog.h"
#include "writer.bpf.h"

const volatile bool picks_tasks = false; /* connections that nobody accepts are out of scope */

struct socket_look look = {};
u8 is_last = 0; /* look of the run */

/* Connections that were accepted, but not by accept(2). */
u64 unseen = 0;

/* Some connections from before the run had no room. */
u32 too_many = 0;

/* Keyed by address of the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, u64);
	__type(value, struct backlog_waiting);
} waiting SEC(".maps");

/* With connections from before the run; keyed by address of the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u8);
} listeners SEC(".maps");

struct backlog_walk walk = {};

SUMS(struct backlog_key, struct backlog_sums)

/*
 * --- the queue ---------------------------------------------------------------------------------
 */

static __always_inline void begin(const struct sock *sk)
{
	struct backlog_waiting w = {
		.since_ns = bpf_ktime_get_ns(),
		.queue = sk->sk_ack_backlog + 1,
		.backlog = sk->sk_max_ack_backlog,
	};
	u64 key = (u64)sk;
	long err;

	err = bpf_map_update_elem(&waiting, &key, &w, BPF_ANY);
	if (err)
		count_failed_update(err);
}

/* Returns false if the ports are not wanted. */
static __always_inline bool add_flow(struct backlog_waiting *w, const struct sock *sk)
{
	struct tcp_flow flow = {};

	flow_of(&flow, sk);
	if (!ports_wanted(&flow))
		return false;
	flow_reduce(&flow, by);
	w->flow = flow;
	return true;
}

static __always_inline void queue(const struct sock *sk)
{
	u64 key = (u64)sk;
	struct backlog_waiting *w = bpf_map_lookup_elem(&waiting, &key);

	if (!w)
		return;
	w->since_ns = bpf_ktime_get_ns();
	if (add_flow(w, sk))
		w->is_queued = 1;
	else
		bpf_map_delete_elem(&waiting, &key);
}

static __always_inline bool take_out(struct backlog_waiting *w, u64 key)
{
	struct backlog_waiting *found = bpf_map_lookup_elem(&waiting, &key);

	if (!found)
		return false;
	*w = *found;
	bpf_map_delete_elem(&waiting, &key);
	return true;
}

/*
 * --- its end -----------------------------------------------------------------------------------
 */

static __always_inline struct backlog_sums *sums_of_queue(struct backlog_key *key, const struct backlog_waiting *w)
{
	key->flow = w->flow;
	key->writer = this_writer();
	return sums_of(key);
}

static __always_inline void keep(struct backlog_sums *s, const struct backlog_waiting *w, u64 now)
{
	if (!w->is_earlier)
		maximum_keep(s->wait, now - w->since_ns);
	maximum_keep(s->queue, w->queue);
	maximum_keep(s->backlog, w->backlog);
}

static __always_inline void add_closed(const struct backlog_waiting *w)
{
	struct backlog_key key = {};
	struct backlog_sums *s;

	if (picks_tasks || !alone_begin())
		return;
	s = sums_of_queue(&key, w);
	if (s) {
		s->closed++;
		keep(s, w, bpf_ktime_get_ns());
	}
	alone_end();
}

/* state: a state that only the owner of a socket can cause, or CLOSE, which any reset causes. */
static __always_inline void end_unaccepted(const struct sock *sk, int state)
{
	struct backlog_waiting w;

	if (!take_out(&w, (u64)sk) || !armed || !w.is_queued)
		return;
	if (state != TCP_CLOSE || sk->sk_socket)
		__sync_fetch_and_add(&unseen, 1);
	else
		add_closed(&w);
}

SEC("tp_btf/inet_sock_set_state")
int UNPREEMPTED_PROG(on_state, const struct sock *sk, int old, int state)
{
	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (old == TCP_LISTEN && state == TCP_SYN_RECV)
		begin(sk);
	else if (old == TCP_SYN_RECV && state == TCP_ESTABLISHED)
		queue(sk);
	else if (state == TCP_CLOSE || state == TCP_FIN_WAIT1 || state == TCP_LAST_ACK)
		end_unaccepted(sk, state);
	return 0;
}

static __always_inline void add_accepted(const struct backlog_waiting *w)
{
	struct backlog_key key = {};
	struct backlog_sums *s;
	u64 now = bpf_ktime_get_ns();

	task_key_of(&key.task, NULL);
	s = sums_of_queue(&key, w);
	if (!s)
		return;
	s->accepted++;
	s->ns += now - w->since_ns;
	keep(s, w, now);
	task_key_name(s->name, &s->name_stamp, NULL, now);
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct backlog_waiting w;
	struct sock *sk;
	struct call c;

	if (!call_of(&c, regs) || ret < 0)
		return 0;
	sk = tcp_socket_of(socket_of(ret));
	if (!sk || !take_out(&w, (u64)sk) || !armed || !in_scope(NULL))
		return 0;
	/* TCP Fast Open: accepted before the handshake has ended. */
	if (!w.is_queued && !add_flow(&w, sk))
		return 0;
	if (w.is_earlier) {
		count_begun_before();
	} else if (alone_begin()) {
		add_accepted(&w);
		alone_end();
	}
	return 0;
}

/*
 * --- connections from before the run -----------------------------------------------------------
 */

static __always_inline struct request_sock *queue_of(const struct sock *sk)
{
	return BPF_CORE_READ((const struct inet_connection_sock *)sk, icsk_accept_queue.rskq_accept_head);
}

/* Whether a socket is in an accept queue; it may be freed during the read. Its owner may have closed it again. */
static __always_inline bool is_in_queue(const struct sock *sk)
{
	u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);

	return (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT) && !BPF_CORE_READ(sk, sk_socket);
}

/* Checks again afterwards, because the hooks that remove the element may have run in between. */
static __always_inline void add_earlier(const struct sock *sk, struct backlog_waiting *w)
{
	u64 key = (u64)sk;
	long err;

	if (!sk || !is_in_queue(sk) || !add_flow(w, sk))
		return;
	err = bpf_map_update_elem(&waiting, &key, w, BPF_NOEXIST);
	if (err && (int)err != -EEXIST)
		too_many = 1;
	else if (!err && !is_in_queue(sk))
		bpf_map_delete_elem(&waiting, &key);
}

/* Finds the listeners with connections. Several files may have the same one. */
SEC("iter/task_file")
int seed_listeners(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *file = ctx->file;
	struct sock *sk;
	u8 found = 1;
	u64 key;

	if (!t || !file)
		return 0;
	sk = tcp_socket_of(socket_of_file(file));
	if (!sk || BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_LISTEN || !queue_of(sk))
		return 0;
	key = (u64)sk;
	if (bpf_map_update_elem(&listeners, &key, &found, BPF_ANY))
		too_many = 1;
	return 0;
}

/*
 * Adds the next connections of a queue, which others use meanwhile. Not all of them at once: this would be too complex
 * for the verifier, and preemption is off.
 */
SEC(BY_LOADER)
int walk_queue(void *ctx)
{
	const struct sock *sk = (const struct sock *)walk.listener;
	struct request_sock *request = (struct request_sock *)walk.request;
	struct backlog_waiting w = { .is_queued = 1, .is_earlier = 1, .since_ns = bpf_ktime_get_ns() };
	u32 i;

	w.queue = BPF_CORE_READ(sk, sk_ack_backlog);
	w.backlog = BPF_CORE_READ(sk, sk_max_ack_backlog);
	if (!request)
		request = queue_of(sk);
	for (i = 0; i < BACKLOG_STEP && request; i++) {
		add_earlier(BPF_CORE_READ(request, sk), &w);
		request = BPF_CORE_READ(request, dl_next);
	}
	walk.request = (u64)request;
	return 0;
}

/*
 * --- looking at all of them --------------------------------------------------------------------
 */

/*
 * io_uring and the kernel itself accept connections without accept(2). A socket with an owner may still be on its way
 * out of accept(2), so it counts as unseen only at the second look, or after the end.
 */
static __always_inline bool waits(u64 key, u64 since_ns)
{
	struct backlog_waiting *w = bpf_map_lookup_elem(&waiting, &key);

	if (!w || w->since_ns != since_ns)
		return false;
	if (!w->is_queued || is_in_queue((const struct sock *)key))
		return w->is_queued;
	if (!w->is_owned && !is_last) {
		w->is_owned = 1;
		return false;
	}
	bpf_map_delete_elem(&waiting, &key);
	__sync_fetch_and_add(&unseen, 1);
	return false;
}

SEC(BY_LOADER)
int look_at_sockets(void *ctx)
{
	u32 i;

	for (i = 0; i < SOCKET_LOOK_MOST && i < look.n; i++)
		look.is_shown[i] = waits(look.socket[i], look.since_ns[i]);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
