/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stretches of work on one CPU, from a hook at their begin to one at their end, as histograms by
 * what is worked on (span.h). They belong to no task: who is current was interrupted by them. So
 * the only scope is the CPU.
 *
 *   span_begin(token, ...)    the begin; token is what its end is known by, never 0
 *   span_end(token, &span)    the end: false if its begin was not seen, which is counted
 *   span_add(&what, ns)       a value
 *
 * Work on a CPU is interrupted by other work that ends before it goes on (a timer's function in a
 * softirq, by one in an interrupt), so a few open ones are kept, and found by token and not by
 * order: with PREEMPT_RT softirqs run in tasks that may be preempted.
 *
 * hist_add_key() wants one writer of an element at a time. What can interrupt each other must
 * differ in their keys (timers: in the kind), or run with interrupts off.
 */
#ifndef TALLY_SPAN_BPF_H
#define TALLY_SPAN_BPF_H

#include "compat.bpf.h"
#include "hist.bpf.h"
#include "scope.bpf.h"
#include "span.h"
#include "task_key.bpf.h"

/* Nested on one CPU: task, softirq, interrupt, and one to spare. */
#define SPAN_DEPTH 4

struct span {
	u64 token;              /* 0: free */
	u64 start_ns;
	u64 id;
	u64 kind;
};

struct open_spans {
	struct span span[SPAN_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct open_spans);
} open_spans SEC(".maps");

/* What measure.h has for a run without keys; here there always are some. */
HIST_MAPS(times, struct span_key);

/*
 * Takes a free place, or the oldest: its end was missed. Whatever interrupts this here frees what
 * it takes before this goes on.
 */
static __always_inline void span_begin(u64 token, u64 id, u64 kind)
{
	struct span *s, *to;
	struct open_spans *open;
	u32 zero = 0;
	int i;

	open = bpf_map_lookup_elem(&open_spans, &zero);
	if (!open)
		return;
	to = &open->span[0];
#pragma unroll
	for (i = 0; i < SPAN_DEPTH; i++) {
		s = &open->span[i];
		if (!s->token || s->token == token) {
			to = s;
			break;
		}
		if (s->start_ns < to->start_ns)
			to = s;
	}
	to->token = token;
	to->id = id;
	to->kind = kind;
	to->start_ns = bpf_ktime_get_ns();
}

static __always_inline bool span_end(u64 token, struct span *ended)
{
	struct open_spans *open;
	struct span *s;
	u32 zero = 0;
	int i;

	open = bpf_map_lookup_elem(&open_spans, &zero);
	if (!open)
		return false;
#pragma unroll
	for (i = 0; i < SPAN_DEPTH; i++) {
		s = &open->span[i];
		if (s->token == token) {
			*ended = *s;
			s->token = 0;
			return true;
		}
	}
	count_lost(LOSS_UNMATCHED);
	return false;
}

/* Of what, the parts that are asked for are taken. */
static __always_inline void span_add(const struct span_what *what, u64 ns)
{
	struct span_key key = {};

	if (!armed)
		return;
	if (!scope_has_this_cpu()) {
		count_filtered();
		return;
	}
	if (by & BY_CPU)
		key.task.cpu = bpf_get_smp_processor_id();
	if (by & BY_SPAN_ID)
		key.what.id = what->id;
	if (by & BY_SPAN_DETAIL) {
		key.what.kind = what->kind;
		__builtin_memcpy(key.what.name, what->name, SPAN_NAME_LEN);
	}
	hist_add_key(&keyed_times, &key.slot, ns);
}

#endif /* TALLY_SPAN_BPF_H */
