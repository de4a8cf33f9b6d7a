// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP retransmissions, single or summed by connection. A retransmission may consist of several segments, which the
 * device splits; the kernel's own counter, RetransSegs, counts segments.
 */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "tcp.bpf.h"
#include "tcpretrans.h"
#include "writer.bpf.h"

const volatile bool summed = false;
const volatile bool have_error = false; /* has an error argument: also reports unsent packets */

/* include/net/inet_connection_sock.h, include/uapi/linux/tcp.h */
#define ICSK_TIME_LOSS_PROBE 5
#define TCP_CA_RECOVERY 3
#define TCP_CA_LOSS 4

SUMS(struct retrans_key, struct retrans_sums)

/*
 * Derives the reason from the state of the socket. The timer of a loss probe is pending until the probe has been sent,
 * while the retransmission timer is cleared before that; a probe's timer may also be pending at a fast retransmit.
 */
static __always_inline u8 why_of(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = (const struct inet_connection_sock *)sk;
	u64 ca = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);

	if (BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_SYN_SENT)
		return RETRANS_SYN;
	if (ca == TCP_CA_LOSS)
		return RETRANS_TIMEOUT;
	if (ca == TCP_CA_RECOVERY)
		return RETRANS_RECOVERY;
	if (BPF_CORE_READ(icsk, icsk_pending) == ICSK_TIME_LOSS_PROBE)
		return RETRANS_PROBE;
	return RETRANS_OTHER;
}

static __always_inline void add(struct retrans_record *r)
{
	struct retrans_key key = { .flow = r->flow, .writer = shared_writer() };
	struct retrans_sums *s;
	u32 why = r->why;

	flow_reduce(&key.flow, by);
	s = sums_of(&key);
	barrier_var(why);
	if (!s || why >= RETRANS_WHYS)
		return;
	__sync_fetch_and_add(&s->retransmits, 1);
	__sync_fetch_and_add(&s->segments, r->segments);
	__sync_fetch_and_add(&s->bytes, r->bytes);
	__sync_fetch_and_add(&s->why[why], 1);
}

static __always_inline void take(struct retrans_record *r)
{
	if (!ports_wanted(&r->flow))
		return;
	if (summed) {
		add(r);
		return;
	}
	r->time_ns = bpf_ktime_get_ns();
	r->cpu = bpf_get_smp_processor_id();
	ring_output(r, sizeof(*r));
}

SEC("tp_btf/tcp_retransmit_skb")
int UNPREEMPTED_PROG(on_retransmit, const struct sock *sk, const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = (const void *)&skb->cb;
	struct retrans_record r = {};

	if (!armed)
		return 0;
	flow_of(&r.flow, sk);
	r.bytes = BPF_CORE_READ(skb, len);
	r.segments = BPF_CORE_READ(cb, tcp_gso_segs);
	r.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	r.why = why_of(sk);
	if (have_error)
		r.error = (int)ctx[2];
	take(&r);
	return 0;
}

/* A request is not a full socket yet, but begins with the same members. */
SEC("tp_btf/tcp_retransmit_synack")
int UNPREEMPTED_PROG(on_synack, const struct sock *sk, const struct request_sock *req)
{
	const struct sock_common *c = &req->__req_common;
	struct retrans_record r = { .segments = 1, .why = RETRANS_SYNACK, .state = TCP_SYN_RECV };

	if (!armed)
		return 0;
	flow_addresses(&r.flow, c);
	r.flow.lport = BPF_CORE_READ(c, skc_num);
	r.flow.rport = swapped(BPF_CORE_READ(c, skc_dport));
	take(&r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
