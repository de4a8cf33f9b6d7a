/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the counting programs and their loader share. */
#ifndef TALLY_COUNTING_H
#define TALLY_COUNTING_H

#include "task_key.h"

#define COUNTING_COUNTERS 16        /* counters that can be charged to tasks in one run */
#define COUNTING_SYSCALLS 1024      /* numbers of system calls; the highest is below 600 (7.2) */

/* Events counted by programs, by task: a per-CPU value for each key. */
struct counting_key {
	struct task_key task;
	__u32 slot;             /* of the event */
	__u32 pad;
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
