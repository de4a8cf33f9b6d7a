/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans of probe: each begins with one event and ends with another. Both make the same bytes, its
 * match, which are the key of its begin in starts. Every end is counted once: as an event, as
 * filtered (it began as one that is out of scope or filtered), or as lost.
 */
#ifndef TALLY_PROBE_SPAN_BPF_H
#define TALLY_PROBE_SPAN_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "own_counters.bpf.h"
#include "probe_add.bpf.h"
#include "probe_frame.bpf.h"
#include "scope.bpf.h"

/* Of spans: what begins carry to their ends, from the start of the key; and the value. */
const volatile u32 begin_key = 0;
const volatile bool begin_value = false;
const volatile u32 begin_counters = 0;  /* where they stand behind it, a multiple of 8 */
const volatile bool span_in_thread = false;     /* a span ends in the thread in which it began */
/* Begins and ends without the other are losses: nothing but their absence can be the reason. */
const volatile bool count_unmatched = false;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);                 /* set by the loader */
	__uint(key_size, 8);                    /* likewise: bytes of the match */
	__uint(value_size, sizeof(struct probe_begin));         /* likewise: and what is behind */
} starts SEC(".maps");

static __always_inline u64 start_of_thread(void)
{
	struct task_struct *t;

	if (!span_in_thread)
		return 0;
	/* A typed pointer to the current task: a load instead of a call. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
		t = bpf_get_current_task_btf();
		return t->start_time;
	}
	t = (struct task_struct *)bpf_get_current_task();
	return BPF_CORE_READ(t, start_time);
}

/*
 * The newest begin is the one that counts: the one before it never ended where a function was left
 * by an exception, longjmp(), or an exec.
 */
static __always_inline void put_begin(struct probe_frame *f, bool lost)
{
	struct probe_begin *b = (void *)f->key - sizeof(*b);
	u64 value = f->value, order = f->order;
	bool is_new = count_unmatched || span_in_thread;
	long err;

	b->task_start = start_of_thread();
	b->value = value;
	b->order = order;
	b->tid = bpf_get_current_pid_tgid();
	/* Made now: that takes longer than to read. */
	if (ncounters)
		own_counters_get(calling_task(), NULL);
	b->time_ns = bpf_ktime_get_ns();
	/* Within the time: what a task did cannot take longer. */
	if (!lost && ncounters && !read_own_counters((void *)f->key + begin_counters)) {
		count_lost(LOSS_READ_FAULT);
		lost = true;
	}
	b->lost = lost;
	err = bpf_map_update_elem(&starts, f->match, b, is_new ? BPF_NOEXIST : BPF_ANY);
	if (is_new && (int)err == -EEXIST) {
		count_lost(span_in_thread ? LOSS_UNWOUND : LOSS_NO_END);
		err = bpf_map_update_elem(&starts, f->match, b, BPF_ANY);
	}
	if (err)
		count_failed_update(err);
}

/*
 * Before the gate is open, too: ends that come after that find their begin. What is out of scope or
 * filtered here is counted at its end; what is lost here is not counted there again.
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

/* False: it is counted why not. */
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

/* Takes the begin out of starts, what it carries into the frame. */
static __always_inline enum begun take_begin(struct probe_frame *f, u64 now)
{
	struct probe_begin *b = bpf_map_lookup_elem(&starts, f->match);
	enum begun found;

	if (!b)
		return BEGUN_NOT;
	found = b->task_start != start_of_thread() ? BEGUN_NOT : b->lost ? BEGUN_LOST : BEGUN;
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

static __always_inline void end_frame(void *ctx, struct probe_frame *f, u64 now, bool alone)
{
	bool were_read = false, is_shared;
	enum begun begun;

	if (ncounters) {
		were_read = read_own_counters(f->counter);
		now = bpf_ktime_get_ns();
	}
	if (!make_match(ctx, f, &is_shared))
		return;
	begun = take_begin(f, now);
	if (begun == BEGUN_LOST || (begun == BEGUN_NOT && is_shared))
		return;
	if (begun == BEGUN_NOT) {
		/* The tool's own calls did not begin for us; in_scope() counts them as filtered. */
		if (!count_unmatched)
			count_filtered();
		else if (in_scope(NULL))
			count_lost(LOSS_UNMATCHED);
		return;
	}
	if (!armed || !passes(ctx, f))
		return;
	if (!has_counters(f, were_read))
		return;
	if (has_value() && !begin_value && !make_value(ctx, f))
		return;
	if ((keyed || what == PROBE_STREAM) && !make_key(ctx, f))
		return;
	add(f, alone);
}

static __noinline int end_span(void *ctx, u32 event, bool alone)
{
	u64 now = bpf_ktime_get_ns();
	struct probe_frame *f;
	struct buffer *buffer;

	f = take_frame(&buffer);
	if (!f)
		return 0;
	f->event = event;
	f->size = 0;
	end_frame(ctx, f, now, alone);
	give_back(buffer);
	return 0;
}

#endif /* TALLY_PROBE_SPAN_BPF_H */
