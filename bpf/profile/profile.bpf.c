// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where CPU time goes: a timer on each CPU looks many times a second at what runs there, and counts
 * by its stack. Or where another event comes from: every Nth one is looked at, and counts for N.
 * The subject is the task that is interrupted.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "profile.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"

const volatile u32 take = STACK_KERNEL | STACK_USER;    /* enum stack_flags */
const volatile bool with_idle = false;
const volatile u64 every = 1;           /* a sample stands for so many events; 0: by frequency */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct profile_samples);
} samples SEC(".maps");

STACK_COUNTS(counts);

static __always_inline struct profile_samples *samples_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&samples, &zero);
}

/*
 * The context of programs on perf events begins with the registers, as struct pt_regs of user space has
 * them (arch/x86/include/uapi/asm/ptrace.h): nothing that a kernel could have moved.
 */
struct sample_context {
	u64 before_cs[17];
	u64 cs;
};

/* Where a program was interrupted there is no kernel part, and not to look for it is cheaper. */
static __always_inline u32 parts_of_sample(const struct sample_context *c)
{
#if defined(__TARGET_ARCH_x86)
	if (c->cs & 3)
		return (take & ~STACK_KERNEL) | STACK_REGS;
#endif
	return take | STACK_REGS;
}

/* A sample that stands for n events. */
static __always_inline void count_sample(void *ctx, struct profile_samples *s, u64 n, u32 parts)
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
	stack_add(&counts, &key, ctx, parts, n);
}

/* Of the timer: each sample counts as one. */
SEC("perf_event")
int on_sample(void *ctx)
{
	struct profile_samples *s = samples_here();

	if (armed && s)
		count_sample(ctx, s, 1, parts_of_sample(ctx));
	return 0;
}

/*
 * With a frequency the kernel changes the period all the time, and the sample_period that it hands
 * out is that of another sample: of software events the one before (perf_swevent_set_period()). Its
 * count tells.
 */
static __always_inline u64 events_since_last(void *ctx, struct profile_samples *s)
{
	struct bpf_perf_event_value value = {};

	if (every)
		return every;
	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
		return 0;
	return value.counter - s->events;
}

/*
 * Of another event: what came before the gate opened is known, too, for the kernel's count has it.
 */
SEC("perf_event")
int on_event(void *ctx)
{
	struct profile_samples *s = samples_here();
	u64 n;

	if (!s)
		return 0;
	n = events_since_last(ctx, s);
	s->events += n;
	if (armed)
		count_sample(ctx, s, n, parts_of_sample(ctx));
	return 0;
}

SEC("tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_tracepoint, void *, ctx)
{
	struct profile_samples *s = samples_here();

	if (!armed || !s || ++s->events % (every ?: 1))
		return KEEP_EVENT;
	count_sample(ctx, s, every, take);
	return KEEP_EVENT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
