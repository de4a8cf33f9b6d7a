/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time of function calls, by cause: shared by whyspan.bpf.c and tools/calls/why/slow.c. A call counts when it ends,
 * in the class of its length, so that slow calls can be compared with the others.
 */
#ifndef TALLY_WHYSPAN_H
#define TALLY_WHYSPAN_H

#include "why.h"

/*
 * Maximum number of causes distinguished in one call, each with its object. The time of further causes is unknown, or
 * has no object if the cause is known.
 */
#define SPAN_CAUSES 16

/*
 * Rows of the report are by cause, and some causes have several phases (enum why_cause of tools/calls/why/cause.h). The
 * loader sets a number for each cause of a wait, by phase, slot and kind.
 */
enum span_wait {
	SPAN_SLEEP, /* WHY_SLEEP, and so on */
	SPAN_DISK,
	SPAN_LOCK,
	SPAN_WAITS,
};

#define SPAN_SLOTS (WHY_ANYWHERE + 1)

/* --from and --to: the role of an event. */
#define SPAN_BEGINS 1
#define SPAN_ENDS 2

/*
 * phase, kind and slot are as in struct why_key; phase WHY_PHASES represents whole calls. With a limit, class is 1 for
 * calls that take at least that long and 0 for others; without a limit, it is hist_index() of the length. The name of
 * the object is in an element of "objects" (why_objects.bpf.h) whose key contains only the object.
 */
struct span_key {
	__u32 writer;
	__u32 slot;
	__u16 phase, kind;
	__u32 class;
	struct why_object object;
};

struct span_sums {
	__u64 ns;
	__u64 calls;	    /* calls that had such phases */
	__u64 count;	    /* number of phases */
	__u64 user, system; /* WHY_ON_CPU: time charged by the kernel to the two modes, by its own clock */
};

/* Calls in progress when the run ended. */
struct span_open {
	__u64 calls;
	__u64 longest_ns;
};

_Static_assert(sizeof(struct span_key) == 40, "span_key has padding");

#endif /* TALLY_WHYSPAN_H */
