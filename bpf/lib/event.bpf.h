/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the events a program was attached to has happened: its slot, a number the loader gave it.
 * Where the kernel hands a cookie to the program, that is the slot. Everywhere else one program per
 * event is loaded from the same template, with its slot written into the instruction below
 * (user/event/splice.h): no lookup, and the same on all kernels.
 */
#ifndef TALLY_EVENT_BPF_H
#define TALLY_EVENT_BPF_H

#include "compat.bpf.h"
#include "event.h"

/*
 * What a program on a tracepoint, kprobe or uprobe returns: with 0 the kernel would not show the
 * event to anybody else who counts or records it by perf (trace_call_bpf()).
 */
#define KEEP_EVENT 1

static __always_inline u32 event_slot(void)
{
	u64 slot;

	asm volatile("%0 = %1" : "=r"(slot) : "i"(EVENT_SLOT_MARK));
	return slot;
}

/*
 * A function that the loader replaces by one compiled from what was typed, mark and all. f is what
 * the two share; NULL where a filter of the context is all there is.
 */
#define EVENT_BODY(NAME, BODY, FRAME)                                                           \
	static __noinline int NAME(void *ctx, FRAME *f)                                         \
	{                                                                                       \
		u64 verdict;                                                                    \
                                                                                                \
		asm volatile("%0 = %1" : "=r"(verdict) : "i"(EVENT_BODY_MARK + BODY), "r"(ctx), \
			     "r"(f) : "memory");                                                \
		return verdict;                                                                 \
	}

static __always_inline u32 event_cookie(void *ctx)
{
	return bpf_get_attach_cookie(ctx);
}

#endif /* TALLY_EVENT_BPF_H */
