/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Identifies which of a program's events happened, by its slot: a number that the loader assigned. If the kernel passes
 * a cookie to the program, the cookie is the slot. Otherwise the loader loads one program per event from the same
 * template and writes the slot into the instruction below (user/event/splice.h): this needs no lookup, and works the
 * same on all kernels. Templates are SEC("?..."), so that only the templates that an event needs are loaded.
 */
#ifndef TALLY_EVENT_BPF_H
#define TALLY_EVENT_BPF_H

#include "compat.bpf.h"
#include "event.h"

/*
 * The return value of programs on tracepoints, kprobes and uprobes. If they returned 0, the kernel would hide the event
 * from all other users that count or record it through perf (trace_call_bpf()).
 */
#define KEEP_EVENT 1

static __always_inline u32 event_slot(void)
{
	u64 slot;

	asm volatile("%0 = %1" : "=r"(slot) : "i"(EVENT_SLOT_MARK));
	return slot;
}

/*
 * A function that the loader replaces, including the marker, by one compiled from the user's expression. f is the frame
 * that caller and function share; NULL for a filter that needs only the context.
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
