/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by schedlat.bpf.c and tools/sched/schedlat.c. */
#ifndef TALLY_SCHEDLAT_H
#define TALLY_SCHEDLAT_H

#include "maximum.h"
#include "task_key.h"

/* Each element belongs to one CPU, so it has one writer: plain adds are exact. */
struct schedlat_key {
	struct task_key task;
	__u32 writer;
	__u32 pad;
};

/* Totals are cumulative since the gate was opened. */
struct schedlat_sums {
	__u64 run_ns;
	__u64 switches;         /* number of switch-ins, each of which ends a wait */
	__u64 wait_ns;
	struct timed_maximum longest[MAXIMUM_SLOTS];    /* longest wait, and when it ended */
	__u64 name_stamp;       /* time name was written */
	char name[TASK_KEY_COMM_LEN];
};

/* An element; for a task on a CPU: its run time in the current slice, as of the kernel's last update. */
struct schedlat_element {
	struct schedlat_key key;
	struct schedlat_sums sums;
};

_Static_assert(sizeof(struct schedlat_key) == 56, "schedlat_key has padding");
_Static_assert(sizeof(struct schedlat_sums) == 96, "schedlat_sums has padding");

#endif /* TALLY_SCHEDLAT_H */
