/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by schedlat.bpf.c and tools/sched/schedlat.c. */
#ifndef TALLY_SCHEDLAT_H
#define TALLY_SCHEDLAT_H

#include "task_key.h"

/* Each element belongs to one CPU, so it has one writer: plain adds are exact. */
struct schedlat_key {
	struct task_key task;
	__u32 writer;
	__u32 pad;
};

/*
 * The longest wait of an interval; the loader numbers intervals from 1, 0 means none. A maximum cannot be computed as
 * a difference of snapshots, so there are two, for even and odd intervals, each reset when its interval begins. The
 * loader reads the previous interval's while programs write the other.
 */
struct schedlat_longest {
	__u64 interval;
	__u64 wait_ns;
	__u64 at_ns;            /* CLOCK_MONOTONIC: end of the wait */
};

/* Totals are cumulative since the gate was opened. */
struct schedlat_task {
	__u64 run_ns;
	__u64 switches;         /* number of switch-ins; each ends a wait */
	__u64 wait_ns;
	struct schedlat_longest longest[2];
	__u64 name_stamp;       /* time name was written */
	char name[TASK_KEY_COMM_LEN];
};

/* A task on a CPU: its run time in the current slice, as of the kernel's last update. */
struct schedlat_running {
	struct task_key task;
	__u64 run_ns;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct schedlat_running) == 72, "schedlat_running has padding");
_Static_assert(sizeof(struct schedlat_key) == 56, "schedlat_key has padding");
_Static_assert(sizeof(struct schedlat_task) == 96, "schedlat_task has padding");

#endif /* TALLY_SCHEDLAT_H */
