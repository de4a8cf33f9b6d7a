/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probe's spans, each of which begins with one event and ends with another. Both events compute the same bytes, the
 * match, which are the begin's key in starts. Every end is counted once: as an event, as filtered (its begin was out of
 * scope or filtered), or as lost.
 */
#ifndef TALLY_PROBE_SPAN_BPF_H
#define TALLY_PROBE_SPAN_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "own_counters.bpf.h"
#include "probe_add.bpf.h"
#include "probe_frame.bpf.h"
#include "scope.bpf.h"
#include "site.h"

/* A begin passes to its end: bytes from the start of the key, the value, and counters. */
const volatile u32 begin_key = 0;
const volatile bool begin_value = false;
const volatile u32 begin_counters = 0;  /* offset of the counters after the key, a multiple of 8 */
const volatile bool span_in_thread = false;     /* a span ends in the thread in which it began */
const volatile bool span_in_process = false;    /* or only in the same process: calls of goroutines */
/* Unmatched begins and ends are losses, because only a missed event can explain them. */
const volatile bool count_unmatched = false;
/* Ends are single events that need data from their begins: the scope is that of the end. */
const volatile bool counts_ends = false;
/* Begins that remain without an end are not losses. */
const volatile bool ignores_left = false;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);                 /* set by the loader */
	__uint(key_size, 8);                    /* set by the loader: bytes of the match */
	__uint(value_size, sizeof(struct probe_begin));         /* set by the loader: with the data after it */
} starts SEC(".maps");

/* The start time of the thread or process; 0 if spans are bound to neither. */
static __always_inline u64 start_of_task(void)
{
	struct task_struct *t;

	if (!span_in_thread && !span_in_process)
		return 0;
	/* The current task as a typed pointer, obtained by a load instead of a helper call. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
		t = bpf_get_current_task_btf();
		return span_in_process ? t->group_leader->start_time : t->start_time;
	}
	t = (struct task_struct *)bpf_get_current_task();
	return span_in_process ? BPF_CORE_READ(t, group_leader, start_time) : BPF_CORE_READ(t, start_time);
}

/* The newest begin counts: the earlier one never ended, because an exception, longjmp() or exec left the function. */
static __always_inline void put_begin(struct probe_frame *f, bool lost)
{
	struct probe_begin *b = (void *)f->key - sizeof(*b);
	u64 value = f->value, order = f->order;
	const bool is_call = span_in_thread || span_in_process, is_new = (count_unmatched || is_call) && !ignores_left;
	long err;

	b->task_start = start_of_task();
	b->value = value;
	b->order = order;
	b->tid = bpf_get_current_pid_tgid();
	/* Create the state before taking the time, because that takes longer than reading it. */
	if (ncounters)
		own_counters_get(calling_task(), NULL);
	b->time_ns = bpf_ktime_get_ns();
	/* Read the counters within the span, so that the task's counts cannot exceed the elapsed time. */
	if (!lost && ncounters && !read_own_counters((void *)f->key + begin_counters)) {
		count_lost(LOSS_READ_FAULT);
		lost = true;
	}
	b->lost = lost;
	err = bpf_map_update_elem(&starts, f->match, b, is_new ? BPF_NOEXIST : BPF_ANY);
	if (is_new && (int)err == -EEXIST) {
		count_lost(is_call ? LOSS_UNWOUND : LOSS_NO_END);
		err = bpf_map_update_elem(&starts, f->match, b, BPF_ANY);
	}
	if (err)
		count_failed_update(err);
}

/*
 * Also runs before the gate is open, so that later ends find their begin. Begins that are out of scope or filtered are
 * counted at their end; a begin that is lost here is not counted again there.
 */
static __always_inline void begin_frame(void *ctx, struct probe_frame *f)
{
	int verdict = event_filter(ctx, f);
	bool lost = verdict < 0, is_shared;

	if (lost)
		count_undecided(verdict);
	if (!verdict || !make_match(ctx, f, &is_shared))
		return;
	if (!lost && begin_value)
		lost = !make_value(ctx, f);
	if (!lost && begin_key)
		lost = !make_key(ctx, f);
	put_begin(f, lost);
}

static __noinline int begin_span(void *ctx, u32 event)
{
	struct probe_frame *f;
	struct buffer *buffer;

	f = take_frame(&buffer);
	if (!f)
		return 0;
	f->elapsed = 0;
	f->event = event;
	begin_frame(ctx, f);
	give_back(buffer);
	return 0;
}

enum begun { BEGUN_NOT, BEGUN, BEGUN_LOST };

static __always_inline void since_begin(struct probe_frame *f, const struct probe_begin *b)
{
	const u64 *counter = (void *)b->key + begin_counters;
	u32 i;

#pragma unroll
	for (i = 0; i <= PROBE_COUNTERS; i++)
		if (ncounters && i <= ncounters)
			f->counter[i] -= counter[i];
}

/* Returns false after counting the event as lost. */
static __always_inline bool has_counters(const struct probe_frame *f, bool were_read)
{
	if (!ncounters)
		return true;
	if (!were_read)
		count_lost(LOSS_READ_FAULT);
	else if (f->counter[ncounters])
		count_lost(LOSS_MISSED);
	return were_read && !f->counter[ncounters];
}

/* Removes the begin from starts and copies its data into the frame. */
static __always_inline enum begun take_begin(struct probe_frame *f, u64 now)
{
	struct probe_begin *b = bpf_map_lookup_elem(&starts, f->match);
	enum begun found;

	if (!b)
		return BEGUN_NOT;
	found = b->task_start != start_of_task() ? BEGUN_NOT : b->lost ? BEGUN_LOST : BEGUN;
	f->elapsed = now - b->time_ns;
	if (begin_value) {
		f->value = b->value;
		f->order = b->order;
	}
	if (begin_key)
		bpf_probe_read_kernel(f->key, begin_key, b->key);
	since_begin(f, b);
	bpf_map_delete_elem(&starts, f->match);
	return found;
}

/* Returns false if the event does not count, or has been counted as lost. */
static __always_inline bool end_frame(void *record, struct probe_frame *f, u64 now)
{
	bool were_read = false, is_shared;
	enum begun begun;

	if (ncounters) {
		were_read = read_own_counters(f->counter);
		now = bpf_ktime_get_ns();
	}
	if (!make_match(record, f, &is_shared))
		return false;
	begun = take_begin(f, now);
	if (begun == BEGUN_LOST || (begun == BEGUN_NOT && is_shared))
		return false;
	if (begun == BEGUN_NOT) {
		/* Begins of the tool's own calls are not recorded; in_scope() counts them as filtered. */
		if (!count_unmatched)
			count_filtered();
		else if (in_scope(NULL))
			count_lost(LOSS_UNMATCHED);
		return false;
	}
	if (!armed || (counts_ends && !in_scope(NULL)) || !passes(record, f))
		return false;
	if (!has_counters(f, were_read))
		return false;
	if (has_value() && !begin_value && !make_value(record, f))
		return false;
	return !(keyed || what == PROBE_STREAM) || make_key(record, f);
}

static __noinline int end_span(void *record, u32 site, bool alone, void *ctx, u32 regs)
{
	u64 now = bpf_ktime_get_ns();
	struct probe_frame *f;
	struct buffer *buffer;

	f = take_frame(&buffer);
	if (!f)
		return 0;
	f->event = site & SITE_EVENT;
	f->size = 0;
	if (end_frame(record, f, now))
		add_large(f, alone, site, ctx, regs);
	give_back(buffer);
	return 0;
}

#endif /* TALLY_PROBE_SPAN_BPF_H */
