// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CPU time by stack: a timer on each CPU samples the running code many times a second and counts it by stack. Other
 * events are sampled at every Nth event, which counts as N. The subject is the interrupted task.
 *
 * One run can sample several events: the loader loads a copy of a program for each further event, with the event's slot
 * built in. The first event uses the program itself.
 */
#define SCOPE_UNTYPED
#define PYTHON_SINCE 0
#include "compat.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "profile.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"

/* By slot: enum stack_flags, and the number of frames. */
const volatile u32 take[PROFILE_EVENTS] = { STACK_KERNEL | STACK_USER };
const volatile bool with_idle = false;
const volatile u64 every[PROFILE_EVENTS] = { 1 };       /* events per sample, by slot; 0: by frequency */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROFILE_EVENTS);
	__type(key, u32);
	__type(value, struct profile_samples);
} samples SEC(".maps");

STACK_COUNTS(counts);

static __always_inline u32 slot_here(void)
{
	u32 slot = event_slot();

	return slot < PROFILE_EVENTS ? slot : 0;        /* the program itself still has the mark */
}

static __always_inline struct profile_samples *samples_of(u32 slot)
{
	return bpf_map_lookup_elem(&samples, &slot);
}

/* Samples that interrupted user code have no kernel stack: skip the walk. */
static __always_inline u32 parts_of_sample(const struct saved_regs *c, u32 slot)
{
	if (context_is_user(c))
		return (take[slot] & ~STACK_KERNEL) | STACK_REGS;
	return take[slot] | STACK_REGS;
}

/* Counts a sample that represents n events. */
static __always_inline void count_sample(void *ctx, u32 slot, struct profile_samples *s, u64 n, u32 parts)
{
	bool idle = !(u32)bpf_get_current_pid_tgid();
	struct stack_key key = {};

	s->taken++;
	if (idle)
		s->idle++;
	if (idle && !with_idle)
		return;
	if (!in_scope(NULL)) {
		s->filtered += n;
		return;
	}
	task_key_of(&key.task, NULL);
	key.task.event = slot;
	stack_add(&counts, &key, ctx, parts, n);
}

/* For the timer: each sample counts as one. */
SEC("?perf_event")
int on_sample(void *ctx)
{
	u32 slot = slot_here();
	struct profile_samples *s = samples_of(slot);

	if (armed && s)
		count_sample(ctx, slot, s, 1, parts_of_sample(ctx, slot));
	return 0;
}

/*
 * With a frequency the kernel keeps changing the period, and the sample_period in the context belongs to another
 * sample: with software events, to the previous one (perf_swevent_set_period()). So this uses the event's count.
 */
static __always_inline u64 events_since_last(void *ctx, u32 slot, struct profile_samples *s)
{
	struct bpf_perf_event_value value = {};

	if (every[slot])
		return every[slot];
	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
		return 0;
	return value.counter - s->events;
}

/*
 * For other events. Events from before the gate was opened are also added to s->events, because they are in the
 * kernel's count.
 */
SEC("?perf_event")
int on_event(void *ctx)
{
	u32 slot = slot_here();
	struct profile_samples *s = samples_of(slot);
	u64 n;

	if (!s)
		return 0;
	n = events_since_last(ctx, slot, s);
	s->events += n;
	if (armed)
		count_sample(ctx, slot, s, n, parts_of_sample(ctx, slot));
	return 0;
}

SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_tracepoint, void *, ctx)
{
	u32 slot = slot_here();
	struct profile_samples *s = samples_of(slot);

	if (!armed || !s || ++s->events % (every[slot] ?: 1))
		return KEEP_EVENT;
	count_sample(ctx, slot, s, every[slot], take[slot]);
	return KEEP_EVENT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
