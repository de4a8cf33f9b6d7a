/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the counting programs and their loader share. */
#ifndef TALLY_COUNTING_H
#define TALLY_COUNTING_H

#include "task_key.h"

#define COUNTING_COUNTERS 16        /* counters that can be charged to tasks in one run */

/*
 * An element of a keyed map belongs to one CPU. (Not a per-CPU hash: the kernel keeps few of those
 * elements ready for programs that may not sleep, and new keys in a burst would be lost.)
 */
struct counting_key {
	struct task_key task;
	__u32 slot;             /* of the event; 0 for charges */
	__u32 writer;
};

struct counting_count {
	__u64 count;
	__u64 name_stamp;       /* when the name was taken */
	char name[TASK_KEY_COMM_LEN];
};

/* Counters charged to tasks: what they advanced by while the task was on a CPU. */
struct counting_charge {
	struct {
		__u64 value;
		__u64 enabled_ns;
		__u64 running_ns;
	} counter[COUNTING_COUNTERS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

#endif /* TALLY_COUNTING_H */
