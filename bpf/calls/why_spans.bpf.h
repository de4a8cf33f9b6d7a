/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The begin and end of a thread's spans: entries and ends of function calls or, with between_events, any two events.
 * For `why --slow` and `why --from EVENT --to EVENT`.
 *
 * A span begins and ends on a CPU, in the same thread. Nested calls are part of it.
 *
 * Include this header after the definitions of u64 began_ns and ended_ns: spans that begin before the first time, or
 * end after the second, do not count. The including file keeps a struct open_span in the state of each thread, and
 * defines the functions declared below. The loader's side is tools/calls/why/spans.h.
 */
#ifndef TALLY_WHY_SPANS_BPF_H
#define TALLY_WHY_SPANS_BPF_H

#include "compat.bpf.h"

#include "call_order.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"
#include "whyspan.h"

/* Spans are between two events, instead of a function's entry and end. */
const volatile bool between_events = false;

/* Flags of SPAN_BEGINS and SPAN_ENDS for the entry and the exit of each system call. */
const volatile u8 enter_sides[SYSCALL_NUMBERS] = {};
const volatile u8 exit_sides[SYSCALL_NUMBERS] = {};

/* Set by show_open_span(). */
struct span_open open_spans = {};

struct open_span {
	u64 began;     /* 0 if none is open */
	u64 order;     /* its position on the stack */
	u64 outermost; /* ~order of the outermost call that began during the run */
	u64 execs;     /* self_exec_id when it began */
	u32 site;      /* site of its begin */
	u16 busy;      /* a program is changing this: any other program has interrupted it */
	u16 is_torn;   /* during such a change a switch was missed */
};

/* --- of the includer ----------------------------------------------------------------------------- */

/* Returns the span of a thread; NULL if the thread has no state. */
static __always_inline struct open_span *span_of(struct task_struct *t);

/* Returns the span of the current thread, and creates its state if it has none; NULL if there is no room. */
static __always_inline struct open_span *new_span_of(struct task_struct *t);

/* Called when a span begins. Sets began. */
static __always_inline void begin_phases(struct task_struct *t, struct open_span *span);

/* Called when the span ends, even if it does not count. */
static __always_inline void end_phases(struct task_struct *t, struct open_span *span, u64 now);

/* Called when a span that counts has ended. */
static __always_inline void count_span(struct open_span *span, u64 began, u64 now);

/* The current thread, in the form that the scope test expects (scope.bpf.h). */
static __always_inline struct task_struct *subject_of(struct task_struct *t)
{
#ifdef SCOPE_UNTYPED
	return NULL;
#else
	return t;
#endif
}

/* --- states -------------------------------------------------------------------------------------- */

static __always_inline bool is_open(const struct open_span *span)
{
	return span && span->began;
}

/* Called when the thread ends. */
static __always_inline void forget_span(struct open_span *span)
{
	if (!is_open(span))
		return;
	count_lost(between_events ? LOSS_NO_END : LOSS_UNWOUND);
	span->began = 0;
}

/* Called by an iterator over all tasks at the end of the run. */
static __always_inline void show_open_span(const struct open_span *span)
{
	if (!is_open(span) || ended_ns < span->began)
		return;
	open_spans.calls++;
	if (ended_ns - span->began > open_spans.longest_ns)
		open_spans.longest_ns = ended_ns - span->began;
}

/* --- entries and ends of functions ----------------------------------------------------------------- */

static __always_inline u64 execs_of(struct task_struct *t)
{
	return BPF_CORE_READ(t, self_exec_id);
}

/* True if the open call is the caller of a call that begins there. If not, the open call was left without a return. */
static __always_inline bool goes_on(const struct open_span *span, struct task_struct *t, u64 order, u32 site)
{
	if (order_is_left(span->order, order) || span->execs != execs_of(t))
		return false;
	return span->order != order ||
	       (span->site & CALL_JUMPS && (span->site & CALL_FUNCTION) != (site & CALL_FUNCTION));
}

static __always_inline void start_call(struct task_struct *t, struct open_span *span, u64 order, u32 site)
{
	span->order = order;
	span->site = site;
	span->execs = execs_of(t);
	if (~order > span->outermost)
		span->outermost = ~order;
	span->is_torn = false;
	begin_phases(t, span);
}

/* Returns the span of the current thread, t, for a new begin; NULL if that begin does not count. */
static __always_inline struct open_span *span_to_begin(struct task_struct *t)
{
	struct open_span *span;

	if (!*(volatile u64 *)&began_ns || *(volatile u64 *)&ended_ns || !scope_for_life(subject_of(t)))
		return NULL;
	span = new_span_of(t);
	if (!span)
		count_lost(LOSS_NO_STORAGE);
	else if (span->busy)
		count_lost(LOSS_NO_BUFFER);
	return span && !span->busy ? span : NULL;
}

/* lost is the reason for which a call that is still open is counted as lost. */
static __always_inline void begin_call(struct task_struct *t, struct open_span *span, u64 order, u32 site,
				       enum loss_reason lost)
{
	*(volatile u16 *)&span->busy = 1;
	if (span->began)
		count_lost(lost);
	start_call(t, span, order, site);
	*(volatile u16 *)&span->busy = 0;
}

static __noinline int enter_call(u64 sp, u32 site)
{
	struct task_struct *t = calling_task();
	struct open_span *span = span_to_begin(t);
	u64 order = order_of(sp);

	if (span && !(span->began && goes_on(span, t, order, site)))
		begin_call(t, span, order, site, LOSS_UNWOUND);
	return 0;
}

/* Counts the end of a call whose entry was not seen. */
static __always_inline void count_unmatched(struct task_struct *t, const struct open_span *span, u64 order, u32 site)
{
	if (!*(volatile u64 *)&began_ns || site & CALL_IS_SHARED)
		return;
	if (!scope_now(subject_of(t)))
		count_filtered();
	else if (is_older_than(t, *(volatile u64 *)&began_ns) && (!span || ~order > span->outermost))
		count_begun_before();
	else
		count_lost(LOSS_UNMATCHED);
}

static __noinline int end_call(struct task_struct *t, struct open_span *span, u64 now)
{
	u64 began = span->began;

	*(volatile u16 *)&span->busy = 1;
	end_phases(t, span, now);
	span->began = 0;
	if (*(volatile u16 *)&span->is_torn)
		count_lost(LOSS_MISSED);
	else if (!scope_now(subject_of(t)))
		count_filtered();
	else
		count_span(span, began, now);
	*(volatile u16 *)&span->busy = 0;
	return 0;
}

static __noinline int leave_call(u64 sp, u32 site)
{
	u64 now = bpf_ktime_get_ns(), order = order_at_end(sp, site);
	struct task_struct *t = calling_task();
	struct open_span *span;

	if (*(volatile u64 *)&ended_ns)
		return 0;
	if (!scope_for_life(subject_of(t))) {
		if (!(site & CALL_IS_SHARED))
			count_filtered();
		return 0;
	}
	span = span_of(t);
	if (span && span->busy)
		return 0;
	if (is_open(span) && order_is_left(span->order, order)) {
		count_lost(LOSS_UNWOUND);
		span->began = 0;
	}
	if (!is_open(span))
		count_unmatched(t, span, order, site);
	else if (span->order == order && (span->site & CALL_FUNCTION) == (site & CALL_FUNCTION))
		end_call(t, span, now);
	return 0;
}

/* --- events ---------------------------------------------------------------------------------------- */

/* The newest begin counts. */
static __noinline int begin_span(void)
{
	struct task_struct *t = calling_task();
	struct open_span *span = span_to_begin(t);

	if (span)
		begin_call(t, span, 0, 0, LOSS_NO_END);
	return 0;
}

/*
 * An end without a begin may be common and is not a loss. An end that interrupts a begin or end in its own thread also
 * has no begin.
 */
static __noinline int end_span(void)
{
	u64 now = bpf_ktime_get_ns();
	struct task_struct *t = calling_task();
	struct open_span *span;

	if (*(volatile u64 *)&ended_ns || !*(volatile u64 *)&began_ns)
		return 0;
	span = scope_for_life(subject_of(t)) ? span_of(t) : NULL;
	if (!is_open(span) || span->busy)
		count_filtered();
	else
		end_call(t, span, now);
	return 0;
}

/* --- programs -------------------------------------------------------------------------------------- */

/* The loader attaches copies of these programs: to one site each, or to all sites if the kernel supports cookies. */
SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, entry_probe, struct pt_regs *, ctx)
{
	enter_call(stack_pointer(ctx), event_slot());
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, entry_probes, struct pt_regs *, ctx)
{
	enter_call(stack_pointer(ctx), event_cookie(ctx));
	return 0;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, return_probe, struct pt_regs *, ctx)
{
	leave_call(stack_pointer(ctx), event_slot());
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, return_probes, struct pt_regs *, ctx)
{
	leave_call(stack_pointer(ctx), event_cookie(ctx));
	return 0;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, from_probe, void *, ctx)
{
	begin_span();
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, from_probes, void *, ctx)
{
	begin_span();
	return 0;
}

SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, from_tracepoint, void *, ctx)
{
	begin_span();
	return KEEP_EVENT;
}

SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, from_raw, void *, ctx)
{
	begin_span();
	return 0;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, to_probe, void *, ctx)
{
	end_span();
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, to_probes, void *, ctx)
{
	end_span();
	return 0;
}

SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, to_tracepoint, void *, ctx)
{
	end_span();
	return KEEP_EVENT;
}

SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, to_raw, void *, ctx)
{
	end_span();
	return 0;
}

static __always_inline bool is_side(const volatile u8 *sides, u64 nr, u8 side)
{
	return nr < SYSCALL_NUMBERS && sides[nr] & side && in_native_syscall();
}

SEC("?raw_tp/sys_enter")
int UNPREEMPTED(PREEMPT_TRACEPOINT, from_sys_enter, struct bpf_raw_tracepoint_args *, ctx)
{
	if (is_side(enter_sides, ctx->args[1], SPAN_BEGINS))
		begin_span();
	return 0;
}

SEC("?raw_tp/sys_exit")
int UNPREEMPTED(PREEMPT_TRACEPOINT, from_sys_exit, struct bpf_raw_tracepoint_args *, ctx)
{
	if (is_side(exit_sides, syscall_of((struct pt_regs *)ctx->args[0]), SPAN_BEGINS))
		begin_span();
	return 0;
}

SEC("?raw_tp/sys_enter")
int UNPREEMPTED(PREEMPT_TRACEPOINT, to_sys_enter, struct bpf_raw_tracepoint_args *, ctx)
{
	if (is_side(enter_sides, ctx->args[1], SPAN_ENDS))
		end_span();
	return 0;
}

SEC("?raw_tp/sys_exit")
int UNPREEMPTED(PREEMPT_TRACEPOINT, to_sys_exit, struct bpf_raw_tracepoint_args *, ctx)
{
	if (is_side(exit_sides, syscall_of((struct pt_regs *)ctx->args[0]), SPAN_ENDS))
		end_span();
	return 0;
}

#endif /* TALLY_WHY_SPANS_BPF_H */
