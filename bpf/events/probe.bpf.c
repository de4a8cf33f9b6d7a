// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Values of events and of spans between events: counts, sums, histograms, or single records. The filter, the value and
 * the key of an event are functions that the loader compiles from the user's expressions; they replace the functions in
 * probe_frame.bpf.h (probe.h has the contract).
 *
 * Programs have two contexts: the record, which compiled functions read, and the context in which a stack walk begins.
 * They differ for system calls, whose record the program builds itself.
 */
#define SCOPE_UNTYPED
#define PYTHON_SINCE 0
#include "compat.bpf.h"
#include "event.bpf.h"
#include "preempt.bpf.h"
#include "probe.h"
#include "probe_add.bpf.h"
#include "probe_frame.bpf.h"
#include "probe_span.bpf.h"
#include "scope.bpf.h"
#include "site.h"
#include "stack.bpf.h"
#include "syscall_event.bpf.h"

/* All attached programs are on perf events of tracepoints. */
const volatile bool only_tracepoints = false;
/* Bytes of the key, a multiple of 4. */
const volatile u32 key_size = PROBE_KEY_SMALL;
/* Frames are in a buffer: for streams, and if key_size exceeds PROBE_KEY_SMALL. */
const volatile bool large = false;

/* --- single events --------------------------------------------------------------------------- */

static __always_inline bool measure(void *record, struct probe_frame *f)
{
	return !(has_value() && !make_value(record, f)) && !((keyed || what == PROBE_STREAM) && !make_key(record, f));
}

/* The head of a frame, and a small key. */
struct small_frame {
	u8 head[PROBE_HEAD];
	u8 key[PROBE_KEY_SMALL];
} __attribute__((aligned(8)));

static __noinline int measure_small(void *record, u32 event, bool alone)
{
	struct small_frame small;
	struct probe_frame *f = (void *)&small;
	u32 i;

	f->value = f->order = f->elapsed = 0;
	f->event = event;
	f->size = 0;
	f->slot = (struct hist_slot){};
	/* The verifier does not know that event_key() writes everything that maps read. */
#pragma unroll
	for (i = 0; i < PROBE_KEY_SMALL; i += 8)
		if (keyed && i < key_size)
			*(volatile u64 *)&small.key[i] = 0;
	if (passes(record, f) && measure(record, f))
		add(f, alone);
	return 0;
}

static __noinline int measure_large(void *record, u32 site, bool alone, void *ctx, u32 regs)
{
	struct probe_frame *f;
	struct buffer *buffer;

	/* The filter of a single event reads only the event, so it may reject most events before they need a buffer. */
	if (!passes(record, NULL))
		return 0;
	f = take_frame(&buffer);
	if (!f)
		return 0;
	f->elapsed = 0;
	f->event = site & SITE_EVENT;
	f->size = 0;
	if (measure(record, f))
		add_large(f, alone, site, ctx, regs);
	give_back(buffer);
	return 0;
}

/* regs is STACK_REGS if ctx contains registers. */
static __always_inline void single(void *record, u32 site, bool alone, void *ctx, u32 regs)
{
	if (!armed || !in_scope(NULL))
		return;
	if (large)
		measure_large(record, site, alone, ctx, regs);
	else
		measure_small(record, site & SITE_EVENT, alone);
}

/* --- spans ----------------------------------------------------------------------------------- */

static __always_inline void begin(void *ctx, u32 event, bool alone)
{
	if (!scope_for_life(NULL) || (!counts_ends && !scope_now(NULL)))
		return;
	begin_span(ctx, event);
}

static __always_inline void end(void *record, u32 site, bool alone, void *ctx, u32 regs)
{
	end_span(record, site, alone, ctx, regs);
}

/* Walks call global functions. */
#define PREEMPT_PROBE (take ? PREEMPT_GLOBAL : PREEMPT_FUNCTION)

/* --- templates: what the loader attaches copies of ------------------------------------------- */

/* Attached to the perf event of a tracepoint. */
SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_tracepoint, void *, ctx)
{
	single(ctx, event_slot(), only_tracepoints, ctx, 0);
	return KEEP_EVENT;
}

/* Attached to a tracepoint, with access to its arguments. */
SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_raw, void *, ctx)
{
	single(ctx, event_slot(), false, ctx, 0);
	return 0;
}

/* Attached to the perf event of a kprobe or uprobe, at an entry or a return. */
SEC("?kprobe")
int UNPREEMPTED(PREEMPT_PROBE, on_probe, void *, ctx)
{
	single(ctx, event_slot(), false, ctx, STACK_REGS);
	return KEEP_EVENT;
}

/* For kprobe.multi and uprobe.multi, where a result of 1 has another meaning. */
SEC("?kprobe")
int UNPREEMPTED(PREEMPT_PROBE, on_probes, void *, ctx)
{
	single(ctx, event_cookie(ctx), false, ctx, STACK_REGS);
	return 0;
}

SEC("?fentry")
int UNPREEMPTED(PREEMPT_FUNCTION, on_entry, void *, ctx)
{
	single(ctx, event_slot(), false, ctx, 0);
	return 0;
}

SEC("?fexit")
int UNPREEMPTED(PREEMPT_FUNCTION, on_exit, void *, ctx)
{
	single(ctx, event_slot(), false, ctx, 0);
	return 0;
}

SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, begin_tracepoint, void *, ctx)
{
	begin(ctx, event_slot(), only_tracepoints);
	return KEEP_EVENT;
}

SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, begin_raw, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_probe, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_probes, void *, ctx)
{
	begin(ctx, event_cookie(ctx), false);
	return 0;
}

SEC("?fentry")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_entry, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("?fexit")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_exit, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, end_tracepoint, void *, ctx)
{
	end(ctx, event_slot(), only_tracepoints, ctx, 0);
	return KEEP_EVENT;
}

SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, end_raw, void *, ctx)
{
	end(ctx, event_slot(), false, ctx, 0);
	return 0;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_PROBE, end_probe, void *, ctx)
{
	end(ctx, event_slot(), false, ctx, STACK_REGS);
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_PROBE, end_probes, void *, ctx)
{
	end(ctx, event_cookie(ctx), false, ctx, STACK_REGS);
	return 0;
}

SEC("?fentry")
int UNPREEMPTED(PREEMPT_FUNCTION, end_entry, void *, ctx)
{
	end(ctx, event_slot(), false, ctx, 0);
	return 0;
}

SEC("?fexit")
int UNPREEMPTED(PREEMPT_FUNCTION, end_exit, void *, ctx)
{
	end(ctx, event_slot(), false, ctx, 0);
	return 0;
}

/* For all system calls: one map of slots for begins, and one for all other events. */
SYSCALL_SLOTS(syscall_slots)
SYSCALL_SLOTS(begin_syscall_slots)

ON_SYSCALL_ENTER(on_syscall_enter, syscall_slots, single, false, ctx, 0)
ON_SYSCALL_EXIT(on_syscall_exit, syscall_slots, single, false, ctx, 0)
ON_SYSCALL_ENTER(begin_syscall_enter, begin_syscall_slots, begin, false)
ON_SYSCALL_EXIT(begin_syscall_exit, begin_syscall_slots, begin, false)
ON_SYSCALL_ENTER(end_syscall_enter, syscall_slots, end, false, ctx, 0)
ON_SYSCALL_EXIT(end_syscall_exit, syscall_slots, end, false, ctx, 0)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
