// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Run time of softirqs, or their latency: from raise to run, on the CPU that raised them. If a softirq is raised
 * several times before it runs, its latency counts from the first raise.
 *
 * The kernel takes all pending softirqs at once and then runs them in turn. A softirq that is raised again before its
 * turn runs twice, although the raise seems to belong to the first run. So the last of several raises is kept for a run
 * to which no raise seems to belong. (If yet another raise precedes that run, the latency counts only from that raise.)
 */
#include "span.bpf.h"

struct raised {
	u64 first_ns;           /* first raise since the last run; 0 if not raised */
	u64 last_ns;
	u64 spare_ns;           /* a raise after the first one of the last run, or 0 */
};

struct raised_vectors {
	struct raised vector[SOFTIRQS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct raised_vectors);
} raised SEC(".maps");

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_entry, unsigned int vector)
{
	span_begin(vector + 1ULL, 0, 0);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_exit, unsigned int vector)
{
	struct span_what what = { .id = vector };
	struct span span;

	if (span_end(vector + 1ULL, &span))
		span_add(&what, bpf_ktime_get_ns() - span.start_ns);
	return 0;
}

static __always_inline struct raised *raised_of(u64 vector)
{
	struct raised_vectors *v;
	u32 zero = 0;

	v = bpf_map_lookup_elem(&raised, &zero);
	/* The verifier of 5.10 knows the range only of the register that was compared. */
	barrier_var(vector);
	if (!v || vector >= SOFTIRQS)
		return NULL;
	return &v->vector[vector];
}

/* Runs with interrupts off. */
SEC("tp_btf/softirq_raise")
int BPF_PROG(on_raise, unsigned int vector)
{
	struct raised *r = raised_of(vector);
	u64 now = bpf_ktime_get_ns();

	if (!r)
		return 0;
	if (!r->first_ns)
		r->first_ns = now;
	r->last_ns = now;
	return 0;
}

/* Runs with interrupts on, so on_raise() may interrupt it at any point. */
SEC("tp_btf/softirq_entry")
int BPF_PROG(on_late_entry, unsigned int vector)
{
	struct span_what what = { .id = vector };
	volatile struct raised *r = raised_of(vector);
	u64 now = bpf_ktime_get_ns(), since, last;

	if (!r)
		return 0;
	since = r->first_ns;
	r->first_ns = 0;
	last = r->last_ns;
	if (since) {
		r->spare_ns = last != since ? last : 0;
	} else {
		since = r->spare_ns;
		r->spare_ns = 0;
	}
	if (since)
		span_add(&what, now > since ? now - since : 0);
	else if (!last)
		count_begun_before();
	else
		count_lost(LOSS_UNMATCHED);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
