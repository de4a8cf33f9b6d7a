/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completed waits and their wakers: shared by whypath.bpf.c and tools/calls/why/path.c.
 *
 * A thread is on a CPU from "until" of a record to "since" of its next record, so its records cover its whole lifetime.
 * A missing sequence number is a hole. All times are CLOCK_MONOTONIC.
 */
#ifndef TALLY_WHYPATH_H
#define TALLY_WHYPATH_H

#include "task_key.h"

enum whypath_kind {
	WHYPATH_WAIT,  /* since: its switch-out; woken: its wakeup; until: its switch-in */
	WHYPATH_BIRTH, /* the wait of a new thread; since: its creation; waker: its parent */
	WHYPATH_NAME,  /* its name changes at until; since and woken are equal */
	WHYPATH_HOLE,  /* unknown from since to until: a switch was missed */
	WHYPATH_END,   /* the thread left its CPU for the last time; waker: its process */
	WHYPATH_OPEN,  /* its state when the run ended; woken: 0 if it was still waiting; until: 0 */
	WHYPATH_SPAN,  /* a span from since to until; not numbered */
};

/* The waker of the thread. */
enum whypath_by {
	WHYPATH_BY_NOBODY,  /* it was preempted, or its wakeup was missed */
	WHYPATH_BY_THREAD,  /* a thread in scope: waker */
	WHYPATH_BY_OUTSIDE, /* another thread: comm */
	WHYPATH_BY_INTERRUPT,
	WHYPATH_BY_SOFTIRQ,
	WHYPATH_BYS,
};

struct whypath_record {
	__u64 since, woken, until;
	__u32 tid;
	__u32 waker;
	__u32 number; /* sequence number of this record in its thread, from 0 */
	__u32 slot;   /* slot and phase: as in struct why_key */
	__u16 phase;
	__u16 code; /* enum why_kind, plus 16 times enum whypath_by */
	__u32 kind; /* enum whypath_kind */
	/* WHYPATH_WAIT and WHYPATH_HOLE: name of an outside waker. Other kinds: name of the thread itself. */
	char comm[TASK_KEY_COMM_LEN];
};

#define WHYPATH_CODE(file, by) ((file) | (by) << 4)
#define WHYPATH_FILE(code) ((code)&15)
#define WHYPATH_BY(code) ((code) >> 4)

_Static_assert(sizeof(struct whypath_record) == 64, "a record has grown");

#endif /* TALLY_WHYPATH_H */
