// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP round-trip times as histograms: for each segment that arrives on an established connection, the kernel's current
 * estimate (smoothed: seven eighths of it come from older samples), or the recent minimum.
 */
#include "alone.bpf.h"
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "preempt.bpf.h"
#include "task_key.bpf.h"
#include "tcp.bpf.h"
#include "tcprtt.h"

const volatile bool minimum = false;

/* include/linux/win_minmax.h, net/ipv4/tcp.c: no minimum yet. */
#define NO_MINIMUM (~0U)

HIST_MAPS(rtts, struct tcprtt_key);

static __always_inline void add(u64 ns, struct tcp_flow *flow)
{
	struct tcprtt_key key = {};

	if (!by) {
		hist_add(&rtts, ns);
		return;
	}
	if (by & BY_CPU)
		key.task.cpu = bpf_get_smp_processor_id();
	flow_reduce(flow, by);
	key.flow = *flow;
	hist_add_key(&keyed_rtts, &key.slot, ns);
}

static __always_inline void sample(struct sock *sk)
{
	struct tcp_sock *tp = (void *)bpf_skc_to_tcp_sock(sk);
	struct tcp_flow flow = {};
	u32 us;

	if (!tp)
		return;
	us = minimum ? tp->rtt_min.s[0].v : tp->srtt_us >> 3;
	if (!us || us == NO_MINIMUM)
		return;                 /* not measured yet */
	if (by || ports.nlocal || ports.nremote) {
		flow_of(&flow, sk);
		if (!ports_wanted(&flow))
			return;
	}
	add(us * 1000ULL, &flow);
}

/*
 * The task that held the socket processes the segments that arrived in the meantime; a softirq with the next segment
 * may interrupt it.
 */
SEC("tp_btf/tcp_probe")
int UNPREEMPTED_PROG(on_segment, struct sock *sk)
{
	if (!armed || !alone_begin())
		return 0;
	sample(sk);
	alone_end();
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
