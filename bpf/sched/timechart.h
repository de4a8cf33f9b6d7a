/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by timechart.bpf.c and tools/sched/chart.h. */
#ifndef TALLY_TIMECHART_H
#define TALLY_TIMECHART_H

enum timechart_state {
	TIMECHART_RUN,
	TIMECHART_WAIT,         /* for a CPU */
	TIMECHART_SLEEP,
	TIMECHART_BLOCK,        /* uninterruptible: disk I/O, kernel locks */
	TIMECHART_STATES,
	TIMECHART_GONE = TIMECHART_STATES,      /* exited: this is its last record */
	TIMECHART_NONE,                         /* unknown, or not in this record */
};

/*
 * Time in each state within one slot, followed by one state from since to until, which may span many slots. A task has
 * a record for each slot in which its state changed, and another one when it ends or begins to run on another CPU.
 */
struct timechart_record {
	__u64 slot_end;         /* CLOCK_MONOTONIC; 0: no slot */
	__u64 ns[TIMECHART_STATES];
	__u64 since, until;     /* CLOCK_MONOTONIC */
	__u32 state;            /* from since to until: enum timechart_state */
	__u32 cpu;              /* of all its run time */
	__u32 pid, tid;
	__u8 comm[16];          /* untrusted */
};

_Static_assert(sizeof(struct timechart_record) == 88, "no hidden padding");

#endif /* TALLY_TIMECHART_H */
