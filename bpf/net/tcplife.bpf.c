// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP sessions, reported as they end. A session begins when its socket sends the handshake (connect) or receives it
 * (from a listening socket), and ends when the socket becomes closed; at most a TIME_WAIT follows, which is not a
 * session. The owner is recorded as soon as it is known: the connecting task immediately, the accepting task when its
 * call returns. Packets cause most state changes, in the context of any task.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "call.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "socket.bpf.h"
#include "tcp.bpf.h"
#include "tcplife.h"

const volatile bool picks_tasks = false;        /* sessions without an owner are out of scope */

/* Keyed by the address of the socket, which is not reused before it is closed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 262144);
	__type(key, u64);
	__type(value, struct tcplife_session);
} sessions SEC(".maps");

static __always_inline void set_owner(struct tcplife_session *s, u8 role)
{
	u64 id = bpf_get_current_pid_tgid();

	s->owner.pid = id >> 32;
	s->owner.tid = id;
	bpf_get_current_comm(s->owner.comm, sizeof(s->owner.comm));
	s->role = role;
	s->wanted = scope_for_life(NULL) && scope_now(NULL);
}

static __always_inline void keep(u64 sk, const struct tcplife_session *s, u64 flags)
{
	long err = bpf_map_update_elem(&sessions, &sk, s, flags);

	if (err && (int)err != -EEXIST)
		count_lost(LOSS_INCOMPLETE);    /* the session will be shown as begun before the run */
}

static __always_inline void begin(u64 sk, bool connects)
{
	struct tcplife_session s = { .start_ns = bpf_ktime_get_ns(), .wanted = !picks_tasks };

	if (connects)
		set_owner(&s, TCPLIFE_CONNECT);
	keep(sk, &s, BPF_ANY);
}

/* A handshake that began before the run has no element yet. */
static __always_inline void establish(u64 sk)
{
	struct tcplife_session before = { .wanted = !picks_tasks, .established = true };
	struct tcplife_session *s = bpf_map_lookup_elem(&sessions, &sk);

	if (s)
		s->established = true;
	else
		keep(sk, &before, BPF_NOEXIST);
}

static __always_inline void fill(struct tcplife_record *r, const struct tcplife_session *s,
				 const struct tcp_sock *tp)
{
	r->time_ns = bpf_ktime_get_ns();
	r->cpu = bpf_get_smp_processor_id();
	if (s) {
		r->start_ns = s->start_ns;
		r->owner = s->owner;
		r->role = s->role;
	}
	r->received = tp->bytes_received;
	r->acked = tp->bytes_acked;
	r->sent = tp->bytes_sent;
	r->resent = tp->bytes_retrans;
	r->retransmits = tp->total_retrans;
	r->srtt_us = tp->srtt_us >> 3;
	r->min_rtt_us = tp->rtt_min.s[0].v;
}

static __always_inline void tell(const struct sock *sk, const struct tcplife_session *s)
{
	struct tcp_sock *tp = (void *)bpf_skc_to_tcp_sock((void *)sk);
	struct tcp_flow flow = {};
	struct tcplife_record *r;

	if (!tp)
		return;
	flow_of(&flow, sk);
	if (!ports_wanted(&flow))
		return;
	r = ring_reserve(struct tcplife_record);
	if (!r)
		return;
	fill(r, s, tp);
	r->flow = flow;
	r->error = sk->sk_err;
	r->got_fin = sock_got_fin(sk);
	ring_submit(r);
}

/* old is the state before the socket was closed. A session without an element began before the run. */
static __always_inline void end(const struct sock *sk, int old)
{
	u64 key = (u64)sk;
	struct tcplife_session *s = bpf_map_lookup_elem(&sessions, &key);
	bool established = old != TCP_SYN_SENT && old != TCP_SYN_RECV && old != TCP_LISTEN &&
			   old != TCP_CLOSE;

	if (armed && established) {
		if (s ? s->wanted : !picks_tasks)
			tell(sk, s);
		else
			count_filtered();
	}
	if (s)
		bpf_map_delete_elem(&sessions, &key);
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
	else if (state == TCP_ESTABLISHED)
		establish((u64)sk);
	else if (state == TCP_CLOSE)
		end(sk, old);
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct tcplife_session *s;
	struct call c;
	u64 key;

	if (!call_of(&c, regs) || ret < 0)
		return 0;
	key = (u64)tcp_socket_of(socket_of(ret));
	s = bpf_map_lookup_elem(&sessions, &key);
	if (s && s->role == TCPLIFE_UNKNOWN)
		set_owner(s, TCPLIFE_ACCEPTED);
	return 0;
}

/* Adds sessions that exist at the start: the holder of the socket is assumed to be the owner. */
SEC("iter/task_file")
int seed_sessions(struct bpf_iter__task_file *ctx)
{
	struct tcplife_session s = {};
	struct task_struct *t = ctx->task;
	struct file *file = ctx->file;
	struct sock *sk;
	u8 state;

	if (!t || !file)
		return 0;
	sk = tcp_socket_of(socket_of_file(file));
	if (!sk)
		return 0;
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (state == TCP_CLOSE || state == TCP_LISTEN)
		return 0;
	s.owner.pid = t->tgid;
	s.owner.tid = t->pid;
	bpf_probe_read_kernel(s.owner.comm, sizeof(s.owner.comm), t->comm);
	s.wanted = scope_for_life(t) && scope_now(t);
	s.established = state != TCP_SYN_SENT && state != TCP_SYN_RECV;
	keep((u64)sk, &s, BPF_NOEXIST);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
