// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Values of events and of spans between events: how many, sums, histograms, or each of them. What
 * is asked of an event, the filter, the value, the key, is in functions that the loader compiles
 * from what was typed and puts in the place of those in probe_frame.bpf.h (probe.h has the
 * contract).
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "event.bpf.h"
#include "preempt.bpf.h"
#include "probe.h"
#include "probe_add.bpf.h"
#include "probe_frame.bpf.h"
#include "probe_span.bpf.h"
#include "scope.bpf.h"
#include "syscall_event.bpf.h"

/* Every program that is attached is one on the perf event of a tracepoint. */
const volatile bool only_tracepoints = false;
/* Bytes of the key, a multiple of 4. */
const volatile u32 key_size = PROBE_KEY_SMALL;
/* Frames are in a buffer: for streams, and where key_size is above PROBE_KEY_SMALL. */
const volatile bool large = false;

/* --- single events --------------------------------------------------------------------------- */

static __always_inline void measure(void *ctx, struct probe_frame *f, bool alone)
{
	if (has_value() && !make_value(ctx, f))
		return;
	if ((keyed || what == PROBE_STREAM) && !make_key(ctx, f))
		return;
	add(f, alone);
}

/* The head of a frame, and a small key. */
struct small_frame {
	u8 head[PROBE_HEAD];
	u8 key[PROBE_KEY_SMALL];
} __attribute__((aligned(8)));

static __noinline int measure_small(void *ctx, u32 event, bool alone)
{
	struct small_frame small;
	struct probe_frame *f = (void *)&small;
	u32 i;

	f->value = f->order = f->elapsed = 0;
	f->event = event;
	f->size = 0;
	f->slot = (struct hist_slot){};
	/* The verifier does not know that event_key() writes all that maps then read. */
#pragma unroll
	for (i = 0; i < PROBE_KEY_SMALL; i += 8)
		if (keyed && i < key_size)
			*(volatile u64 *)&small.key[i] = 0;
	if (passes(ctx, f))
		measure(ctx, f, alone);
	return 0;
}

static __noinline int measure_large(void *ctx, u32 event, bool alone)
{
	struct probe_frame *f;
	struct buffer *buffer;

	/*
	 * The filter of a single event asks the event alone: most may be left out, and need no
	 * buffer.
	 */
	if (!passes(ctx, NULL))
		return 0;
	f = take_frame(&buffer);
	if (!f)
		return 0;
	f->elapsed = 0;
	f->event = event;
	f->size = 0;
	measure(ctx, f, alone);
	give_back(buffer);
	return 0;
}

static __always_inline void single(void *ctx, u32 event, bool alone)
{
	if (!armed || !in_scope(NULL))
		return;
	if (large)
		measure_large(ctx, event, alone);
	else
		measure_small(ctx, event, alone);
}

/* --- spans ----------------------------------------------------------------------------------- */

static __always_inline void begin(void *ctx, u32 event, bool alone)
{
	if (!scope_for_life(NULL) || !scope_now(NULL))
		return;
	begin_span(ctx, event);
}

static __always_inline void end(void *ctx, u32 event, bool alone)
{
	end_span(ctx, event, alone);
}

/* --- templates: what the loader attaches copies of ------------------------------------------- */

/* On the perf event of a tracepoint. */
SEC("tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_tracepoint, void *, ctx)
{
	single(ctx, event_slot(), only_tracepoints);
	return KEEP_EVENT;
}

/* On a tracepoint, by its arguments. */
SEC("raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_raw, void *, ctx)
{
	single(ctx, event_slot(), false);
	return 0;
}

/* On the perf event of a kprobe or uprobe, of an entry or a return. */
SEC("kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_probe, void *, ctx)
{
	single(ctx, event_slot(), false);
	return KEEP_EVENT;
}

/* kprobe.multi and uprobe.multi; there 1 would mean something else. */
SEC("kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_probes, void *, ctx)
{
	single(ctx, event_cookie(ctx), false);
	return 0;
}

SEC("fentry")
int UNPREEMPTED(PREEMPT_FUNCTION, on_entry, void *, ctx)
{
	single(ctx, event_slot(), false);
	return 0;
}

SEC("fexit")
int UNPREEMPTED(PREEMPT_FUNCTION, on_exit, void *, ctx)
{
	single(ctx, event_slot(), false);
	return 0;
}

SEC("tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, begin_tracepoint, void *, ctx)
{
	begin(ctx, event_slot(), only_tracepoints);
	return KEEP_EVENT;
}

SEC("raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, begin_raw, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_probe, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return KEEP_EVENT;
}

SEC("kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_probes, void *, ctx)
{
	begin(ctx, event_cookie(ctx), false);
	return 0;
}

SEC("fentry")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_entry, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("fexit")
int UNPREEMPTED(PREEMPT_FUNCTION, begin_exit, void *, ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, end_tracepoint, void *, ctx)
{
	end(ctx, event_slot(), only_tracepoints);
	return KEEP_EVENT;
}

SEC("raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, end_raw, void *, ctx)
{
	end(ctx, event_slot(), false);
	return 0;
}

SEC("kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, end_probe, void *, ctx)
{
	end(ctx, event_slot(), false);
	return KEEP_EVENT;
}

SEC("kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, end_probes, void *, ctx)
{
	end(ctx, event_cookie(ctx), false);
	return 0;
}

SEC("fentry")
int UNPREEMPTED(PREEMPT_FUNCTION, end_entry, void *, ctx)
{
	end(ctx, event_slot(), false);
	return 0;
}

SEC("fexit")
int UNPREEMPTED(PREEMPT_FUNCTION, end_exit, void *, ctx)
{
	end(ctx, event_slot(), false);
	return 0;
}

/* On all system calls; with one map of slots for begins, and one for the others. */
SYSCALL_SLOTS(syscall_slots)
SYSCALL_SLOTS(begin_syscall_slots)

ON_SYSCALL_ENTER(on_syscall_enter, syscall_slots, single, false)
ON_SYSCALL_EXIT(on_syscall_exit, syscall_slots, single, false)
ON_SYSCALL_ENTER(begin_syscall_enter, begin_syscall_slots, begin, false)
ON_SYSCALL_EXIT(begin_syscall_exit, begin_syscall_slots, begin, false)
ON_SYSCALL_ENTER(end_syscall_enter, syscall_slots, end, false)
ON_SYSCALL_EXIT(end_syscall_exit, syscall_slots, end, false)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
