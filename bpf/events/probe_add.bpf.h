/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores a probe's event: sums or histograms, with and without a key, or a record.
 *
 * Concurrency: programs on perf events of tracepoints exclude each other (bpf_prog_active, trace_call_bpf()). Programs
 * on fentry and uprobes only exclude themselves, interrupt others, and can be preempted. So adds are atomic unless all
 * programs are on tracepoints. Keys contain the CPU: an element has one writer, except for programs that interrupt each
 * other.
 */
#ifndef TALLY_PROBE_ADD_BPF_H
#define TALLY_PROBE_ADD_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "own_counters.bpf.h"
#include "probe.h"
#include "ring.bpf.h"
#include "site.h"
#include "stack.bpf.h"
#include "wide.bpf.h"
#include "writer.bpf.h"

const volatile u32 what = PROBE_COUNT;          /* enum probe_what */
const volatile bool keyed = false;
const volatile u64 bias = 0;                    /* for extremes; always 2^63 for bounds */
const volatile u32 named = PROBE_NAME_NONE;     /* enum probe_name */
const volatile u32 take = 0;                    /* PROBE_STREAM: enum stack_flags, parts of stacks to take; 0: none */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);                 /* set by the loader: one per event, or two */
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct probe_sum));   /* set by the loader: probe_sum__size() */
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);                 /* set by the loader */
	__uint(key_size, sizeof(struct hist_slot) + 8);         /* set by the loader, to include the key's size */
	__uint(value_size, sizeof(struct probe_sum));           /* set by the loader */
} keyed_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hist_whole);
} values SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);                 /* set by the loader */
	__uint(key_size, sizeof(struct hist_slot) + 8);         /* set by the loader */
	__uint(value_size, sizeof(struct hist_segment));
} keyed_values SEC(".maps");

/*
 * Not atomic, because 5.10 has no atomic maximum. If one program interrupts another at this point, on one CPU and with
 * one key, the value of the interrupted program may be stored although it is smaller.
 */
static __always_inline void add_extremes(u64 *max, u64 *min_inv, u64 value)
{
	value ^= bias;
	if (value > *max)
		*max = value;
	if (~value > *min_inv)
		*min_inv = ~value;
}

/* The stamp is in jiffies: any clock that is monotonic across CPUs is suitable, and this one is a single load. */
static __always_inline void put_name(char name[TASK_COMM_LEN], u64 *stamp)
{
	struct task_struct *t, *leader;

	if (!named)
		return;
	if (named == PROBE_NAME_PROCESS) {
		t = (struct task_struct *)bpf_get_current_task();
		leader = BPF_CORE_READ(t, group_leader);
		bpf_probe_read_kernel(name, TASK_COMM_LEN, leader->comm);
	} else {
		bpf_get_current_comm(name, TASK_COMM_LEN);
	}
	*stamp = bpf_jiffies64();
}

static const struct probe_sum no_sum = {};
static const struct hist_segment no_segment = {};

/*
 * Returns the element of the frame's key, which is created if it does not exist. Returns NULL after counting the loss.
 */
static __always_inline void *find_or_make(void *map, struct probe_frame *f, const void *fresh)
{
	void *element;
	long err;

	f->slot.writer = this_writer();
	element = bpf_map_lookup_elem(map, &f->slot);
	if (element)
		return element;
	err = bpf_map_update_elem(map, &f->slot, fresh, BPF_NOEXIST);
	element = bpf_map_lookup_elem(map, &f->slot);
	if (!element)
		count_failed_update(err);
	return element;
}

static __always_inline void add_counters(struct probe_sum *s, const struct probe_frame *f,
					 bool alone)
{
	u32 i;

#pragma unroll
	for (i = 0; i < PROBE_COUNTERS; i++)
		if (i < ncounters)
			add_to(&s->counter[i], f->counter[i], alone);
}

static __always_inline struct probe_sum *plain_sum(u32 event)
{
	if (probe_sum__in_turns(what, ncounters))
		event = 2 * event + (*(volatile u32 *)&writer_generation & 1);
	return bpf_map_lookup_elem(&sums, &event);
}

static __always_inline void add_sum(struct probe_frame *f, bool alone)
{
	struct probe_sum *s;

	if (keyed) {
		f->slot.segment = 0;
		s = find_or_make(&keyed_sums, f, &no_sum);
	} else {
		s = plain_sum(f->event);
	}
	if (!s)
		return;
	if (what == PROBE_SUM) {
		add_extremes(&s->max, &s->min_inv, f->value);
		wide_add(&s->sum, &s->sum_high, f->value, bias, alone);
	}
	add_counters(s, f, alone);
	add_to(&s->count, 1, alone);
	if (keyed)
		put_name(s->name, &s->name_stamp);
}

static __always_inline void add_totals(struct hist_totals *t, u64 value, bool alone)
{
	wide_add(&t->sum, &t->sum_high, value, bias, alone);
	add_extremes(&t->max, &t->min_inv, value);
}

static __always_inline void add_value(struct probe_frame *f, bool alone)
{
	u64 value = what == PROBE_BOUNDS ? f->order : f->value;
	u64 i = what == PROBE_BOUNDS ? f->value : hist_index(f->value);
	struct hist_segment *h;
	struct hist_whole *all;
	u32 zero = 0;

	/* The verifier of 5.10 knows the range only of the register that was compared, not of a shifted copy. */
	barrier_var(i);
	if (i >= HIST_BUCKETS)          /* never true, which the verifier does not know */
		return;
	if (!keyed) {
		all = bpf_map_lookup_elem(&values, &zero);
		if (!all)
			return;
		add_totals(&all->totals, value, alone);
		add_to(&all->bucket[i], 1, alone);
		return;
	}
	f->slot.segment = i >> HIST_SEGMENT_BITS;
	h = find_or_make(&keyed_values, f, &no_segment);
	if (!h)
		return;
	add_totals(&h->totals, value, alone);
	add_to(&h->bucket[i & (HIST_SEGMENT_BUCKETS - 1)], 1, alone);
	put_name(h->name, &h->name_stamp);
}

/* Adds the stack after the record's fields, at a multiple of 8 bytes. Returns the stack's flaw. */
static __always_inline u32 add_stack(struct probe_frame *f, u64 size, u32 site, void *ctx, u32 regs)
{
	struct stack_id *id = (void *)f->key + size;
	u32 flags = take | regs, flaw;

	if (flags & STACK_USER && site & SITE_AT_ENTRY)
		flags |= STACK_AT_ENTRY;
	if (flags & STACK_USER && site & SITE_AT_EXIT)
		flags |= STACK_AT_EXIT;
	flaw = stack_take(id, ctx, flags);
	if (id->tgid)
		stack_see();
	return flaw;
}

static __always_inline void add_record(struct probe_frame *f, u32 site, void *ctx, u32 regs)
{
	struct probe_record *r = (void *)f->key - sizeof(*r);
	u64 elapsed = f->elapsed, id = bpf_get_current_pid_tgid(), size = f->size;
	u32 event = f->event, flaw = 0;

	if (take)
		size = (size + 7) & ~7ULL;
	barrier_var(size);
	if (size > PROBE_KEY_MOST)      /* never true, as above */
		return;
	r->time_ns = bpf_ktime_get_ns();
	r->elapsed = elapsed;
	r->event = event;
	r->cpu = bpf_get_smp_processor_id();
	r->pid = id >> 32;
	r->tid = id;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	if (take) {
		flaw = add_stack(f, size, site, ctx, regs);
		size += sizeof(struct stack_id);
	}
	if (ring_output(r, sizeof(*r) + size))
		stack_count_flaw(flaw);
}

static __always_inline void add(struct probe_frame *f, bool alone)
{
	if (what == PROBE_COUNT || what == PROBE_SUM)
		add_sum(f, alone);
	else
		add_value(f, alone);
}

/*
 * Adds a frame that is in a buffer. ctx is the context from which the stack is walked; regs is STACK_REGS if it
 * contains registers.
 */
static __always_inline void add_large(struct probe_frame *f, bool alone, u32 site, void *ctx, u32 regs)
{
	if (what == PROBE_STREAM)
		add_record(f, site, ctx, regs);
	else
		add(f, alone);
}

static __always_inline bool has_value(void)
{
	return what == PROBE_SUM || what == PROBE_HIST || what == PROBE_BOUNDS;
}

#endif /* TALLY_PROBE_ADD_BPF_H */
