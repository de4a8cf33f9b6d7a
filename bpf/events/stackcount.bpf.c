// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events counted, or a value of theirs summed up, by the stack that led to them. The filter and the value are
 * compiled by the loader (probe.h has the contract; of the frame only the head is here).
 *
 * Programs on functions are kprobes: their context has the registers that the walk begins with, so that
 * no frame of the tracer is in it.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "probe.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "stackcount.h"
#include "syscall_event.bpf.h"
#include "task_key.bpf.h"
#include "verdict.bpf.h"

const volatile u32 take = STACK_KERNEL | STACK_USER;    /* enum stack_flags */
const volatile bool with_value = false;                 /* sums, not counts */

STACK_COUNTS(counts);

EVENT_BODY(event_filter, EVENT_FILTER, struct probe_frame)
EVENT_BODY(event_value, EVENT_VALUE, struct probe_frame)

/* Of a frame, what there is in front of the key. */
struct head {
	u8 byte[PROBE_HEAD];
} __attribute__((aligned(8)));

/* False: it does not count, and that is. */
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

/* Inline: the walk begins in this program, and each function of its own is one more frame to walk. */
static __always_inline int count_stack(void *ctx, u32 site, u32 regs, u64 n)
{
	struct stack_key key = {};
	u32 flags = take | regs;

	if (flags & STACK_USER && site & STACKCOUNT_AT_ENTRY)
		flags |= STACK_AT_ENTRY;
	if (flags & STACK_USER && site & STACKCOUNT_AT_EXIT)
		flags |= STACK_AT_EXIT;
	task_key_of(&key.task, NULL);
	key.task.event = site & STACKCOUNT_EVENT;
	stack_add(&counts, &key, ctx, flags, n);
	return 0;
}

/* record: what compiled functions look at; ctx: where the walk begins; regs: STACK_REGS if it has them. */
static __always_inline void count(void *record, u32 site, void *ctx, u32 regs)
{
	u64 n = 1;

	if (!armed || !in_scope(NULL))
		return;
	if (find_value(record, &n))
		count_stack(ctx, site, regs, n);
}

/* No function begins at a tracepoint, and the verifier need not look at what would be done there. */
static __always_inline void count_tracepoint(void *record, u32 site, void *ctx)
{
	count(record, site & STACKCOUNT_EVENT, ctx, 0);
}

SEC("tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_tracepoint, void *, ctx)
{
	count_tracepoint(ctx, event_slot(), ctx);
	return KEEP_EVENT;
}

/* The same by its arguments. */
SEC("raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_raw, void *, ctx)
{
	count_tracepoint(ctx, event_slot(), ctx);
	return 0;
}

SEC("kprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_probe, void *, ctx)
{
	count(ctx, event_slot(), ctx, STACK_REGS);
	return KEEP_EVENT;
}

/* kprobe.multi and uprobe.multi; there 1 would mean something else. */
SEC("kprobe")
int UNPREEMPTED(PREEMPT_GLOBAL, on_probes, void *, ctx)
{
	count(ctx, event_cookie(ctx), ctx, STACK_REGS);
	return 0;
}

/* The record is made there; the walk begins at the program itself. */
SYSCALL_SLOTS(syscall_slots)
ON_SYSCALL_ENTER(on_syscall_enter, syscall_slots, count_tracepoint, ctx)
ON_SYSCALL_EXIT(on_syscall_exit, syscall_slots, count_tracepoint, ctx)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
