/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The common part of hardirqs, softirqs, workqueues and timers, shared by programs (span.bpf.h) and loaders
 * (tools/irq/spans.h): spans of work that the kernel does on behalf of no task, by the kind of work.
 */
#ifndef TALLY_SPAN_H
#define TALLY_SPAN_H

#include "hist.h"
#include "task_key.h"

#define SPAN_NAME_LEN 32

/* Key parts, BY_OWN(0) and up. Each tool has its own names for them. */
enum span_part {
	BY_SPAN_ID = 1 << BY_PARTS,
	BY_SPAN_DETAIL = 2 << BY_PARTS,         /* kind and name */
};

/* The key contains only the requested parts; the rest is zero. */
struct span_what {
	__u64 id;       /* hardirqs: IRQ number; softirqs: vector; others: address of the function */
	__u64 kind;     /* timers: enum timer_kind */
	char name[SPAN_NAME_LEN];       /* hardirqs: name of the action; workqueues: name of the workqueue */
};

struct span_key {
	struct hist_slot slot;
	struct task_key task;           /* only its CPU is used */
	struct span_what what;
};

_Static_assert(sizeof(struct span_key) == 104, "span_key has padding");

/*
 * x86 interrupts without a number: their lines in /proc/interrupts, some of which have a name of three letters. Their
 * ids are SPAN_VECTOR | one of these.
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

/* include/linux/interrupt.h; the order is the same in all kernels since 5.10. */
#define SOFTIRQS 10

enum timer_kind {
	TIMER_WHEEL,            /* struct timer_list, in softirq TIMER */
	TIMER_HIGH,             /* struct hrtimer, in the interrupt itself */
	TIMER_HIGH_SOFT,        /* struct hrtimer, in softirq HRTIMER */
	TIMER_KINDS,
};

#endif /* TALLY_SPAN_H */
