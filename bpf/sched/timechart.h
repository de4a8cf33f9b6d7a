/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What timechart.bpf.c and tools/sched/chart.h share. */
#ifndef TALLY_TIMECHART_H
#define TALLY_TIMECHART_H

enum timechart_state {
	TIMECHART_RUN,
	TIMECHART_WAIT,         /* for a CPU */
	TIMECHART_SLEEP,
	TIMECHART_BLOCK,        /* uninterruptible: disks, locks of the kernel */
	TIMECHART_STATES,
	TIMECHART_GONE = TIMECHART_STATES,      /* ended: this is its last record */
	TIMECHART_NONE,                         /* not known, or not in this record */
};

/*
 * What a task did in one slot of time, as far as all of it lies in there, and then from since to
 * until, in one state, over as many slots as that is. A task has a record for each slot in which
 * its state changed, and one more when it ends or begins to run on another CPU.
 */
struct timechart_record {
	__u64 slot_end;         /* CLOCK_MONOTONIC; 0: no slot */
	__u64 ns[TIMECHART_STATES];
	__u64 since, until;     /* CLOCK_MONOTONIC */
	__u32 state;            /* in between: enum timechart_state */
	__u32 cpu;              /* of all that ran */
	__u32 pid, tid;
	__u8 comm[16];          /* hostile */
};

_Static_assert(sizeof(struct timechart_record) == 88, "no hidden padding");

#endif /* TALLY_TIMECHART_H */
