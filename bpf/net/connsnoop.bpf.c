// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reports each connect(2), with its final result, and each accept(2). A nonblocking TCP connect returns before a result
 * exists. The result comes later, with the state change of its socket, in the context of any task; the record names the
 * caller.
 *
 * A server makes few connects and many other system calls, each of which pays for the hooks of connect(2). by_state
 * needs no such hooks: it reports only TCP connects, whose sockets show everything except errors that occur before the
 * first packet.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "call.bpf.h"
#include "callers.bpf.h"
#include "connsnoop.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "socket.bpf.h"
#include "task_state.bpf.h"

const volatile bool only_failed = false;
/* --tcp: only on_state is loaded. The first state of a connect shows its caller, the last one its result. */
const volatile bool by_state = false;

/* Kernel ABI: errno.h, include/linux/errno.h, in.h. */
#define EAGAIN 11
#define EINTR 4
#define EINPROGRESS 115
#define ERESTARTSYS 512

/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_CLOSE 7

/* The connect(2) that a task is in. */
struct conn_start {
	u64 ns;                 /* 0 if none */
	u64 sock;               /* the socket whose handshake it started (MPTCP: that of a subflow); 0 if none */
	u64 interrupted;        /* the socket of an interrupted call that the kernel may restart */
	u64 seen;               /* a connect of this task was seen */
};

TASK_STATE(conn_starts, struct conn_start);

/* A TCP handshake, by socket: kept until its call has returned and its result is known. */
struct handshake {
	u64 start_ns;
	u64 end_ns;
	s64 result;
	u64 there;              /* number of the two that have happened */
	struct conn_record record;      /* valid once the call has returned */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct handshake);
} handshakes SEC(".maps");

/* For on_exit, which never runs nested on a CPU: see files/opensnoop.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct conn_record);
} scratch SEC(".maps");

/* For on_state, which packets may interrupt, but not at the first state of a connect. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct handshake);
} new_handshake SEC(".maps");

/* --- addresses -------------------------------------------------------------------------------- */

static __noinline u32 read_user_path(char *to, u64 length, const void *from)
{
	barrier_var(length);
	if (length > SOCKET_PATH_MOST || bpf_probe_read_user(to, length, from))
		return 0;
	return length;
}

/* Reads the address that the caller passed. */
static __always_inline void read_given(struct socket_address *a, u64 from, u64 length)
{
	u16 port = 0;

	a->length = 0;
	a->port = 0;
	a->family = 0;
	bpf_probe_read_user(&a->family, sizeof(a->family), (void *)from);
	if (a->family == AF_UNIX) {
		a->length = read_user_path(a->path, length - sizeof(a->family),
					   (void *)(from + sizeof(a->family)));
		return;
	}
	bpf_probe_read_user(&port, sizeof(port), (void *)(from + 2));
	a->port = swapped(port);
	if (a->family == AF_INET)
		bpf_probe_read_user(a->ip, 4, (void *)(from + 4));
	else
		bpf_probe_read_user(a->ip, sizeof(a->ip), (void *)(from + 8));
}

/* --- results ---------------------------------------------------------------------------------- */

static __always_inline void tell(struct conn_record *r)
{
	if (only_failed && r->result >= 0 && r->result != CONN_CLOSED)
		count_filtered();
	else
		ring_output(r, sizeof(*r));
}

/* Both sides may get here at the same time: the one that deletes the handshake sends the record. */
static __always_inline void tell_handshake(struct handshake *h, u64 key)
{
	struct conn_record *r;

	if (only_failed && !h->result) {
		if (!bpf_map_delete_elem(&handshakes, &key))
			count_filtered();
		return;
	}
	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		if (!bpf_map_delete_elem(&handshakes, &key))
			count_lost(LOSS_RING_FULL);
		return;
	}
	bpf_probe_read_kernel(r, sizeof(*r), &h->record);
	r->time_ns = h->end_ns;
	r->latency_ns = h->end_ns - h->start_ns;
	r->result = h->result;
	if (bpf_map_delete_elem(&handshakes, &key))
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
	else
		ring_submit(r);
}

/* The locked addition is a full barrier for both sides. */
static __always_inline bool both_there(struct handshake *h)
{
	__sync_fetch_and_add(&h->there, 1);
	return *(volatile u64 *)&h->there >= 2;
}

/* --- sockets of TCP --------------------------------------------------------------------------- */

static __always_inline void begin_handshake(u64 key)
{
	struct conn_start *start = conn_starts_get(calling_task(), NULL);
	struct handshake *h;
	u32 zero = 0;
	long err;

	if (!start || !start->ns)
		return;                 /* not made by connect(2) */
	h = bpf_map_lookup_elem(&new_handshake, &zero);
	if (!h)
		return;
	h->start_ns = start->ns;
	h->there = 0;
	err = bpf_map_update_elem(&handshakes, &key, h, BPF_ANY);
	if (err)
		count_failed_update(err);
	else
		start->sock = key;
}

/* Returns the descriptor of connect(2), or -1 if the connect was made in another way, such as io_uring or sendto(2). */
static __always_inline s32 connecting_fd(void)
{
	struct call c = {};

	if (!call_now(&c) || c.which != CONN_CONNECT)
		return -1;
	return c.arg[0];
}

/*
 * Takes no stack if the call succeeded and --failed excludes it. The result of other calls is known later, from the
 * socket.
 */
static __always_inline void fill_caller(struct conn_record *r, void *ctx, bool is_left_out)
{
	u64 id = bpf_get_current_pid_tgid();

	r->stack = (struct stack_id){};
	if (take && !is_left_out)
		stack_count_flaw(callers_take(ctx, &r->stack));
	r->pid = id >> 32;
	r->tid = id;
	r->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(r->comm, sizeof(r->comm));
}

/* The kernel's own connects, such as those of NFS, are not reported. */
static __always_inline void begin_by_state(void *ctx, struct sock *sk)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct handshake *h;
	u64 key = (u64)sk;
	u32 zero = 0;
	long err;

	h = bpf_map_lookup_elem(&new_handshake, &zero);
	if (!h || !armed || BPF_CORE_READ(t, flags) & PF_KTHREAD || !in_scope(NULL))
		return;
	h->start_ns = bpf_ktime_get_ns();
	h->there = 1;
	fill_caller(&h->record, ctx, false);
	h->record.fd = connecting_fd();
	h->record.call = CONN_CONNECT;
	h->record.protocol = IPPROTO_TCP;
	read_remote(&h->record.remote, sk);
	err = bpf_map_update_elem(&handshakes, &key, h, BPF_ANY);
	if (err)
		count_failed_update(err);
}

SEC("tp_btf/inet_sock_set_state")
int UNPREEMPTED_PROG(on_state, const struct sock *sk, int old, int state)
{
	u64 key = (u64)sk;
	struct handshake *h;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (state == TCP_SYN_SENT) {
		if (by_state)
			begin_by_state(ctx, (struct sock *)sk);
		else
			begin_handshake(key);
		return 0;
	}
	/*
	 * A new socket of a listening one: an earlier connect at this address no longer exists, perhaps because its
	 * thread ended.
	 */
	if (state == TCP_SYN_RECV && old != TCP_SYN_SENT)
		bpf_map_delete_elem(&handshakes, &key);
	if ((old != TCP_SYN_SENT && old != TCP_SYN_RECV) || state == TCP_SYN_RECV)
		return 0;
	h = bpf_map_lookup_elem(&handshakes, &key);
	if (!h)
		return 0;
	h->end_ns = bpf_ktime_get_ns();
	if (state == TCP_CLOSE)
		h->result = sk->sk_err ? -sk->sk_err : CONN_CLOSED;
	else
		h->result = 0;
	if (by_state)
		read_local(&h->record.local, (struct sock *)sk);
	if (both_there(h))
		tell_handshake(h, key);
	return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(on_enter, struct pt_regs *regs, long nr)
{
	struct conn_start *start;
	struct call c;

	if (!call_of(&c, regs) || c.which != CONN_CONNECT || !scope_for_life(NULL))
		return 0;
	start = conn_starts_get(calling_task(), NULL);
	if (start) {
		start->ns = bpf_ktime_get_ns();
		start->sock = 0;
		start->seen = 1;
	}
	return 0;
}

static __always_inline struct conn_record *new_record(void *ctx, const struct call *c, long ret)
{
	u32 zero = 0;
	struct conn_record *r = bpf_map_lookup_elem(&scratch, &zero);

	if (!r)
		return NULL;
	fill_caller(r, ctx, only_failed && ret >= 0);
	r->time_ns = bpf_ktime_get_ns();
	r->latency_ns = 0;
	r->result = ret;
	r->call = c->which;
	r->local.family = 0;
	r->remote.family = 0;
	r->protocol = 0;
	r->type = 0;
	return r;
}

static __always_inline void read_socket(struct conn_record *r, struct sock *sk)
{
	r->protocol = BPF_CORE_READ(sk, sk_protocol);
	r->type = BPF_CORE_READ(sk, sk_type);
	read_local(&r->local, sk);
}

/*
 * True if the call has returned, but the handshake continues. The kernel may restart an interrupted call; the handshake
 * already has its record at that time, or will have it.
 */
static __always_inline bool is_left_to_socket(long ret)
{
	return ret == -EINPROGRESS || ret == -ERESTARTSYS || ret == -EINTR;
}

/*
 * Handles a connect whose entry was not seen. A call that the kernel restarts is reported when the restarted call
 * returns.
 */
static __always_inline void connected_without_entry(struct conn_start *start, struct conn_record *r)
{
	bool is_first = !start->seen;

	start->seen = 1;
	if (r->result != -ERESTARTSYS && call_without_entry(is_first) != CALL_LOST)
		tell(r);
}

static __always_inline void connected(struct conn_record *r, struct sock *sk, long ret)
{
	struct conn_start *start = conn_starts_get(calling_task(), NULL);
	u64 key = (u64)sk, began, sock;
	struct handshake *h;

	if (!start) {
		count_lost(LOSS_NO_STORAGE);
		return;
	}
	if (!start->ns) {
		connected_without_entry(start, r);
		return;
	}
	began = start->ns;
	sock = start->sock;
	start->ns = 0;
	if (key && start->interrupted == key) {
		start->interrupted = ret == -ERESTARTSYS ? key : 0;
		return;
	}
	h = bpf_map_lookup_elem(&handshakes, &sock);
	if (h && sock == key && is_left_to_socket(ret)) {
		start->interrupted = ret == -ERESTARTSYS ? key : 0;
		bpf_probe_read_kernel(&h->record, sizeof(h->record), r);
		if (both_there(h))
			tell_handshake(h, key);
		return;
	}
	r->latency_ns = (h && h->there ? h->end_ns : r->time_ns) - began;
	if (h)
		bpf_map_delete_elem(&handshakes, &sock);
	tell(r);
}

/* Removes all state of a connect that is not reported, because the address of its socket will be reused. */
static __always_inline int forget_connect(const struct call *c)
{
	struct conn_start *start = c->which == CONN_CONNECT ? conn_starts_find(calling_task()) : NULL;
	u64 sock;

	if (!start || !start->ns)
		return 0;
	sock = start->sock;
	start->ns = 0;
	start->interrupted = 0;
	if (sock)
		bpf_map_delete_elem(&handshakes, &sock);
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct conn_record *r;
	struct sock *sk;
	struct call c;

	if (!call_of(&c, regs))
		return 0;
	if (!armed)
		return forget_connect(&c);
	if (c.which == CONN_ACCEPT && (ret == -EAGAIN || ret == -ERESTARTSYS))
		return 0;               /* no connection was waiting */
	if (!in_scope(NULL))
		return forget_connect(&c);
	r = new_record(ctx, &c, ret);
	/*
	 * The verifier follows the stack walk for each path that leads to it, and the rest for each path out of it.
	 * These paths are the same to the verifier if nothing known about the call before the walk is used after it.
	 */
	if (!r || !call_of(&c, regs))
		return 0;
	ret = r->result;
	call_arguments(&c, regs);
	r->fd = c.arg[0];
	sk = socket_of(c.which == CONN_ACCEPT && ret >= 0 ? ret : c.arg[0]);
	if (sk)
		read_socket(r, sk);
	if (c.which == CONN_CONNECT) {
		read_given(&r->remote, c.arg[1], c.arg[2]);
		connected(r, sk, ret);
		return 0;
	}
	if (sk && ret >= 0)
		read_remote(&r->remote, sk);
	tell(r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
