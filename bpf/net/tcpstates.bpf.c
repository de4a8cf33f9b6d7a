// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long TCP sockets stay in each state, and which are in it now.
 *
 * The kernel reports each change of state (inet_sock_set_state). Packets cause most of them, in the context of any
 * task, so a socket belongs to the task that connected, accepted or listened; sockets from before the run belong to the
 * first process that holds them.
 *
 * The kernel keeps handshakes of servers (most of SYN-RECV) and TIME-WAIT in smaller structures, which have no such
 * changes: a server's socket begins when the handshake ends, and ends when TIME-WAIT begins.
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
#include "tcpstates.h"
#include "writer.bpf.h"

const volatile bool picks_tasks = false; /* sockets without an owner are out of scope */

struct socket_look look = {};

/* Of the sockets that are shown: the parts of --by. */
struct tcp_flow look_flow[SOCKET_LOOK_MOST] = {};

/* Some sockets from before the run had no room. */
u32 too_many = 0;

/* Keyed by address of the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, u64);
	__type(value, struct tcpstates_socket);
} sockets SEC(".maps");

SUMS(struct tcpstates_key, struct tcpstates_sums)

/* Copies the parts of --by. Returns false if the ports are not wanted. */
static __always_inline bool copy_flow(struct tcp_flow *to, const struct sock *sk)
{
	struct tcp_flow flow = {};

	flow_of(&flow, sk);
	if (!ports_match(&flow))
		return false;
	flow_reduce(&flow, by);
	*to = flow;
	return true;
}

static __always_inline void set_owner(struct tcpstates_socket *s, struct task_struct *t)
{
	u64 unused;

	task_key_of(&s->task, t);
	task_key_name(s->comm, &unused, t, 0);
	s->has_owner = 1;
	s->is_wanted = scope_for_life(t) && scope_now(t);
}

/*
 * --- changes -----------------------------------------------------------------------------------
 */

static __always_inline void add(const struct sock *sk, const struct tcpstates_socket *s, u64 now)
{
	struct tcpstates_key key = { .task = s->task };
	struct tcpstates_sums *to;

	if (!s->is_wanted || !copy_flow(&key.flow, sk)) {
		count_filtered();
		return;
	}
	if (s->is_earlier) {
		count_begun_before();
		return;
	}
	if (!alone_begin())
		return;
	if (by & BY_STATE)
		key.state = s->state;
	key.writer = this_writer();
	to = sums_of(&key);
	if (to) {
		to->left++;
		to->ns += now - s->since_ns;
		maximum_keep(to->longest, now - s->since_ns);
		if (task_key_has_name()) {
			__builtin_memcpy(to->name, s->comm, sizeof(to->name));
			to->name_stamp = now;
		}
	}
	alone_end();
}

/* A socket without an element is new, or from before the run and held by no process at its start. */
static __always_inline void begin(u64 key, int old, int state)
{
	struct tcpstates_socket s = {
		.since_ns = bpf_ktime_get_ns(),
		.state = state,
		.is_wanted = !picks_tasks,
	};
	long err;

	if (old != TCP_CLOSE && old != TCP_LISTEN && !picks_tasks)
		count_begun_before();
	if (old == TCP_CLOSE)
		set_owner(&s, NULL);
	err = bpf_map_update_elem(&sockets, &key, &s, BPF_ANY);
	if (err)
		count_failed_update(err);
}

/*
 * The kernel skips this program if a packet interrupts it on its CPU, and reports that. A state whose begin was missed
 * has no time, and a socket whose end was missed leaves its element to the next one at its address.
 */
static __always_inline bool is_another(const struct tcpstates_socket *s, int old)
{
	return s->state != old && (old == TCP_CLOSE || old == TCP_LISTEN);
}

SEC("tp_btf/inet_sock_set_state")
int UNPREEMPTED_PROG(on_state, const struct sock *sk, int old, int state)
{
	struct tcpstates_socket *s;
	u64 key = (u64)sk, now;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	s = bpf_map_lookup_elem(&sockets, &key);
	if (!s || is_another(s, old)) {
		if (state != TCP_CLOSE)
			begin(key, old, state);
		else
			bpf_map_delete_elem(&sockets, &key);
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (armed && s->state == old)
		add(sk, s, now);
	if (state == TCP_CLOSE) {
		bpf_map_delete_elem(&sockets, &key);
		return 0;
	}
	s->state = state;
	s->since_ns = now;
	s->is_earlier = 0;
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct tcpstates_socket *s;
	struct call c;
	u64 key;

	if (!call_of(&c, regs) || ret < 0)
		return 0;
	key = (u64)tcp_socket_of(socket_of(ret));
	s = bpf_map_lookup_elem(&sockets, &key);
	if (s && !s->has_owner)
		set_owner(s, NULL);
	return 0;
}

/*
 * --- sockets from before the run ---------------------------------------------------------------
 */

/* Several processes may hold a socket: it belongs to the first one in scope. */
static __always_inline void share(u64 key, const struct tcpstates_socket *s)
{
	struct tcpstates_socket *found = bpf_map_lookup_elem(&sockets, &key);

	if (!found || !found->is_earlier || found->is_wanted || !s->is_wanted)
		return;
	found->task = s->task;
	__builtin_memcpy(found->comm, s->comm, sizeof(found->comm));
	found->is_wanted = 1;
}

/* Checks the state again afterwards, because it may have changed before the hook knew the socket. */
SEC("iter/task_file")
int seed_sockets(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct tcpstates_socket s = { .is_earlier = 1 };
	struct file *file = ctx->file;
	struct sock *sk;
	u64 key;
	long err;

	if (!t || !file)
		return 0;
	sk = tcp_socket_of(socket_of_file(file));
	if (!sk)
		return 0;
	s.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (s.state == TCP_CLOSE)
		return 0;
	s.since_ns = bpf_ktime_get_ns();
	set_owner(&s, t);
	key = (u64)sk;
	err = bpf_map_update_elem(&sockets, &key, &s, BPF_NOEXIST);
	if ((int)err == -EEXIST)
		share(key, &s);
	else if (err)
		too_many = 1;
	else if (BPF_CORE_READ(sk, __sk_common.skc_state) != s.state)
		bpf_map_delete_elem(&sockets, &key);
	return 0;
}

/*
 * --- looking at all of them --------------------------------------------------------------------
 */

static __always_inline bool is_shown(const struct tcpstates_socket *s, const struct sock *sk, u64 since_ns)
{
	return s->since_ns == since_ns && s->is_wanted && BPF_CORE_READ(sk, __sk_common.skc_state) == s->state;
}

SEC(BY_LOADER)
int look_at_sockets(void *ctx)
{
	struct tcpstates_socket *s;
	const struct sock *sk;
	u32 i;

	for (i = 0; i < SOCKET_LOOK_MOST && i < look.n; i++) {
		s = bpf_map_lookup_elem(&sockets, &look.socket[i]);
		sk = (const struct sock *)look.socket[i];
		look.is_shown[i] = s && is_shown(s, sk, look.since_ns[i]) && copy_flow(&look_flow[i], sk);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
