/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans of work on one CPU, from a hook at their begin to a hook at their end, as histograms by the kind of work
 * (span.h). They belong to no task: the current task was only interrupted. So the CPU is the only scope.
 *
 *   span_begin(token, ...)    begins a span; token identifies its end, and is never 0
 *   span_end(token, &span)    ends a span; false if its begin was not seen, which is counted, or was in another slice
 *   span_add(&what, ns)       adds a value
 *
 * Work on a CPU is interrupted by other work that ends first (a timer function in a softirq is interrupted by one in an
 * interrupt), so several spans may be open. They are found by token, not by order, because with PREEMPT_RT softirqs run
 * in preemptible tasks.
 *
 * hist_add_key() requires one writer per element at a time. Work that can interrupt other work must have a different
 * key (timers: a different kind), or run with interrupts off.
 */
#ifndef TALLY_SPAN_BPF_H
#define TALLY_SPAN_BPF_H

#include "compat.bpf.h"
#include "hist.bpf.h"
#include "scope.bpf.h"
#include "span.h"
#include "task_key.bpf.h"

/* Number of open spans per CPU: task, softirq, interrupt, and a spare one. */
#define SPAN_DEPTH 4

struct span {
	u64 token;              /* 0 if free */
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

/* --slices: time at which the programs were attached; earlier begins and ends were not seen. 0 if always attached. */
u64 slice_ns = 0;

/* True between slices, when programs that stay attached do nothing. */
static __always_inline bool span_is_unseen(void)
{
	return slice_ns == ~0ULL;
}

/* The unkeyed map that measure.h expects remains empty: these tools always have keys. */
HIST_MAPS(times, struct span_key);

/*
 * Uses a free entry, or the oldest one, whose end was missed. An interrupting program frees its entry before this
 * program continues.
 */
static __always_inline void span_begin(u64 token, u64 id, u64 kind)
{
	struct span *s, *to;
	struct open_spans *open;
	u32 zero = 0;
	int i;

	if (span_is_unseen())
		return;
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

/*
 * True if work has begun on this CPU in this slice. Before that, an end may belong to work that began before the slice.
 * Entries keep their last begin.
 */
static __always_inline bool span_began_in_slice(const struct open_spans *open)
{
	bool any = false;
	int i;

#pragma unroll
	for (i = 0; i < SPAN_DEPTH; i++)
		any |= open->span[i].start_ns >= slice_ns;
	return any;
}

static __always_inline bool span_end(u64 token, struct span *ended)
{
	struct open_spans *open;
	struct span *s;
	u32 zero = 0;
	int i;

	if (span_is_unseen())
		return false;
	open = bpf_map_lookup_elem(&open_spans, &zero);
	if (!open)
		return false;
#pragma unroll
	for (i = 0; i < SPAN_DEPTH; i++) {
		s = &open->span[i];
		if (s->token == token) {
			*ended = *s;
			s->token = 0;
			return ended->start_ns >= slice_ns;
		}
	}
	if (span_began_in_slice(open))
		count_lost(LOSS_UNMATCHED);
	return false;
}

/* Adds a value under the requested parts of *what. */
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
