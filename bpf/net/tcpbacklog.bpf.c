// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long TCP connections wait in the accept queues of their listeners, and how full these are.
 *
 * The socket of a new connection begins as a copy of the listener, with the length and the limit of its queue. The
 * kernel then reports the change of state from LISTEN to SYN_RECV (inet_csk_clone_lock()), puts the socket into the
 * queue, and reports the change to ESTABLISHED; a connection by TCP Fast Open may be accepted before that. The wait
 * ends when accept(2) returns the socket, or when the socket is closed.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"

#include "alone.bpf.h"
#include "call.bpf.h"
#include "loss.bpf.h"
#include "maximum.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "socket.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "tcp.bpf.h"
#include "tcpbacklog.h"
#include "writer.bpf.h"

const volatile bool picks_tasks = false; /* connections that nobody accepts are out of scope */

/* Keyed by address of the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct backlog_waiting);
} waiting SEC(".maps");

SUMS(struct backlog_key, struct backlog_sums)

/* Returns the element, or NULL if the ports are not wanted or there is no room. */
static __always_inline struct backlog_sums *sums_of_socket(struct sock *sk, struct backlog_key *key)
{
	struct tcp_flow flow = {};

	flow_of(&flow, sk);
	if (!ports_wanted(&flow))
		return NULL;
	flow_reduce(&flow, by);
	key->flow = flow;
	key->writer = this_writer();
	return sums_of(key);
}

static __always_inline void keep(struct backlog_sums *s, const struct backlog_waiting *w, u64 now)
{
	maximum_keep(s->wait, now - w->since_ns);
	maximum_keep(s->queue, w->queue);
	maximum_keep(s->backlog, w->backlog);
}

static __always_inline void begin(const struct sock *sk)
{
	struct backlog_waiting w = {
		.since_ns = bpf_ktime_get_ns(),
		.queue = sk->sk_ack_backlog + 1,
		.backlog = sk->sk_max_ack_backlog,
	};
	u64 key = (u64)sk;
	long err;

	if (!armed)
		return;
	err = bpf_map_update_elem(&waiting, &key, &w, BPF_ANY);
	if (err)
		count_failed_update(err);
}

static __always_inline void end_unaccepted(struct sock *sk)
{
	struct backlog_waiting *found, w;
	struct backlog_key key = {};
	struct backlog_sums *s;
	u64 address = (u64)sk;

	found = bpf_map_lookup_elem(&waiting, &address);
	if (!found)
		return;
	w = *found;
	bpf_map_delete_elem(&waiting, &address);
	if (picks_tasks || !armed || !alone_begin())
		return;
	s = sums_of_socket(sk, &key);
	if (s) {
		s->closed++;
		keep(s, &w, bpf_ktime_get_ns());
	}
	alone_end();
}

SEC("tp_btf/inet_sock_set_state")
int UNPREEMPTED_PROG(on_state, const struct sock *sk, int old, int state)
{
	struct backlog_waiting *w;
	u64 key = (u64)sk;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (old == TCP_LISTEN && state == TCP_SYN_RECV) {
		begin(sk);
	} else if (old == TCP_SYN_RECV && state == TCP_ESTABLISHED) {
		w = bpf_map_lookup_elem(&waiting, &key);
		if (w) {
			flow_of(&w->flow, sk);
			w->since_ns = bpf_ktime_get_ns();
		}
	} else if (state == TCP_CLOSE) {
		end_unaccepted((struct sock *)sk);
	}
	return 0;
}

static __always_inline void add_accepted(struct sock *sk, const struct backlog_waiting *w)
{
	struct backlog_key key = {};
	struct backlog_sums *s;
	u64 now = bpf_ktime_get_ns();

	task_key_of(&key.task, NULL);
	s = sums_of_socket(sk, &key);
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
	struct backlog_waiting *found, w;
	struct sock *sk;
	struct call c;
	u64 key;

	if (!armed || !call_of(&c, regs) || ret < 0)
		return 0;
	sk = tcp_socket_of(socket_of(ret));
	key = (u64)sk;
	found = bpf_map_lookup_elem(&waiting, &key);
	if (!sk || !found)
		return 0;
	w = *found;
	bpf_map_delete_elem(&waiting, &key);
	if (!in_scope(NULL) || !alone_begin())
		return 0;
	add_accepted(sk, &w);
	alone_end();
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
