/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the counting programs and their loader. */
#ifndef TALLY_COUNTING_H
#define TALLY_COUNTING_H

#include "task_key.h"

#define COUNTING_COUNTERS 16        /* maximum number of counters that one run can charge to tasks */

/*
 * An element of a keyed map belongs to one CPU. (This is not a per-CPU hash: for programs that may not sleep, the
 * kernel preallocates only a few elements of such maps, and a burst of new keys would be lost.)
 */
struct counting_key {
	struct task_key task;
	__u32 slot;             /* of the event; 0 for charges */
	__u32 writer;
};

struct counting_count {
	__u64 count;
	__u64 name_stamp;       /* time name was written */
	char name[TASK_KEY_COMM_LEN];
};

/* Counters charged to tasks: their increase while the task was on a CPU. */
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
