/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What hardirqs, softirqs, workqueues and timers have in common, as programs (span.bpf.h) and
 * loaders (tools/irq/spans.h) share it: stretches of work that the kernel does on nobody's behalf,
 * by what is worked on.
 */
#ifndef TALLY_SPAN_H
#define TALLY_SPAN_H

#include "hist.h"
#include "task_key.h"

#define SPAN_NAME_LEN 32

/* Parts of keys, BY_OWN(0) and on. What they are called is the tool's. */
enum span_part {
	BY_SPAN_ID = 1 << BY_PARTS,
	BY_SPAN_DETAIL = 2 << BY_PARTS,         /* kind and name */
};

/* Only the parts asked for are in a key, the rest is zero. */
struct span_what {
	__u64 id;       /* hardirqs: the line; softirqs: the vector; else the function's address */
	__u64 kind;     /* timers: enum timer_kind */
	char name[SPAN_NAME_LEN];       /* hardirqs: of the action; workqueues: of the queue */
};

struct span_key {
	struct hist_slot slot;
	struct task_key task;           /* of which there is only the CPU */
	struct span_what what;
};

_Static_assert(sizeof(struct span_key) == 104, "span_key has padding");

/*
 * Interrupts of x86 that have no number: their lines in /proc/interrupts, where some have names of
 * three letters. Their ids are SPAN_VECTOR | one of these.
 */
#define SPAN_VECTOR (1ULL << 32)

enum vector_line {
	LINE_LOC,
	LINE_RES,
	LINE_CAL,
	LINE_IWI,
	LINE_PLT,
	LINE_TRM,
	LINE_THR,
	LINE_DFR,
	LINE_SPU,
	LINE_ERR,
	VECTOR_LINES,
};

/* include/linux/interrupt.h; the order has been the same for all kernels from 5.10 on. */
#define SOFTIRQS 10

enum timer_kind {
	TIMER_WHEEL,            /* struct timer_list, in softirq TIMER */
	TIMER_HIGH,             /* struct hrtimer, in the interrupt itself */
	TIMER_HIGH_SOFT,        /* struct hrtimer, in softirq HRTIMER */
	TIMER_KINDS,
};

#endif /* TALLY_SPAN_H */
