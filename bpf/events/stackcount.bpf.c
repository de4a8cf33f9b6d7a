// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts events, or sums their values, by stack. The loader compiles the filter and the value (probe.h has the
 * contract; only the head of the frame is used here).
 *
 * Programs on functions are kprobes: their context contains the registers from which the walk begins, so the walk
 * contains no frame of the tracer.
 */
#define SCOPE_UNTYPED
#define PYTHON_SINCE 0
#include "compat.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "probe.h"
#include "scope.bpf.h"
#include "site.h"
#include "stack.bpf.h"
#include "syscall_event.bpf.h"
#include "task_key.bpf.h"
#include "verdict.bpf.h"

const volatile u32 take = STACK_KERNEL | STACK_USER;    /* enum stack_flags */
const volatile bool with_value = false;                 /* sums, not counts */
const volatile u64 every = 1;                           /* only every Nth of an event on a CPU counts, as N */
const volatile u64 most_for_every = ~0ULL;              /* 2^64 - 1, divided by every */

STACK_COUNTS(counts);

/* Number of events that passed all tests, counted or not, by event number. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u32);
	__type(value, u64);
} turns SEC(".maps");

EVENT_BODY(event_filter, EVENT_FILTER, struct probe_frame)
EVENT_BODY(event_value, EVENT_VALUE, struct probe_frame)

/* The part of a frame before the key. */
struct head {
	u8 byte[PROBE_HEAD];
} __attribute__((aligned(8)));

/* Returns false, after counting the reason, if the event does not count. */
static __noinline bool find_value(void *record, u64 *n)
{
	struct head head = {};
	struct probe_frame *f = (void *)&head;
	int verdict = event_filter(record, f);

	if (verdict < 0)
		count_undecided(verdict);
	if (verdict == 0)
		count_filtered();
	if (verdict <= 0)
		return false;
	*n = 1;
	if (!with_value)
		return true;
	verdict = event_value(record, f);
	if (verdict < 0)
		count_undecided(verdict);
	if (verdict > 0)
		count_lost(LOSS_NEGATIVE);
	*n = f->value;
	if (!verdict)
		count_summed();
	return !verdict;
}

/* True if this event is the one that counts. *n is then set to the amount that it represents, at most 2^64 - 1. */
static __always_inline bool is_due(u32 event, u64 *n)
{
	u64 *turn;

	if (every <= 1)
		return true;
	turn = bpf_map_lookup_elem(&turns, &event);
	if (!turn || ++*turn % every)
		return false;
	*n = *n > most_for_every ? ~0ULL : *n * every;
	return true;
}

/* Inlined: the walk begins in this program, and each called function would add a frame to walk. */
static __always_inline int count_stack(void *ctx, u32 site, u32 regs, u64 n)
{
	struct stack_key key = {};
	u32 flags = take | regs;

	if (flags & STACK_USER && site & SITE_AT_ENTRY)
		flags |= STACK_AT_ENTRY;
	if (flags & STACK_USER && site & SITE_AT_EXIT)
		flags |= STACK_AT_EXIT;
	task_key_of(&key.task, NULL);
	key.task.event = site & SITE_EVENT;
	stack_add(&counts, &key, ctx, flags, n);
	return 0;
}

/*
 * record is read by compiled functions; ctx is the context from which the walk begins; regs is STACK_REGS if ctx
 * contains registers.
 */
static __always_inline void count(void *record, u32 site, void *ctx, u32 regs)
{
	u64 n = 1;

	if (!armed || !in_scope(NULL))
		return;
	if (find_value(record, &n) && is_due(site & SITE_EVENT, &n))
		count_stack(ctx, site, regs, n);
}

/* A tracepoint is never at a function's entry; this saves the verifier a path. */
static __always_inline void count_tracepoint(void *record, u32 site, void *ctx)
{
	count(record, site & SITE_EVENT, ctx, 0);
}

SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_tracepoint, void *, ctx)
{
	count_tracepoint(ctx, event_slot(), ctx);
	return KEEP_EVENT;
}

/* Attached to a tracepoint, with access to its arguments. */
SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_raw, void *, ctx)
{
	count_tracepoint(ctx, event_slot(), ctx);
	return 0;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_probe, void *, ctx)
{
	count(ctx, event_slot(), ctx, STACK_REGS);
	return KEEP_EVENT;
}

/* For kprobe.multi and uprobe.multi, where a result of 1 has another meaning. */
SEC("?kprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_probes, void *, ctx)
{
	count(ctx, event_cookie(ctx), ctx, STACK_REGS);
	return 0;
}

/* The macros build the record; the walk begins at the program itself. */
SYSCALL_SLOTS(syscall_slots)
ON_SYSCALL_ENTER(on_syscall_enter, syscall_slots, count_tracepoint, ctx)
ON_SYSCALL_EXIT(on_syscall_exit, syscall_slots, count_tracepoint, ctx)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
