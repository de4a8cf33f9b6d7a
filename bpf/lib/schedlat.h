/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What schedlat.bpf.c and tools/sched/schedlat.c share. */
#ifndef TALLY_SCHEDLAT_H
#define TALLY_SCHEDLAT_H

#include "task_key.h"

/* An element belongs to one CPU, so it has one writer: plain adds are exact. */
struct schedlat_key {
	struct task_key task;
	__u32 writer;
	__u32 pad;
};

/*
 * The longest wait of an interval, which the loader numbers from 1 on: 0 means none. A maximum cannot
 * be had as a difference, so there are two, for intervals with even and odd numbers, each begun anew
 * with its interval; the loader reads that of the interval before while the other is written.
 */
struct schedlat_longest {
	__u64 interval;
	__u64 wait_ns;
	__u64 at_ns;            /* CLOCK_MONOTONIC, when it ended */
};

/* Totals are cumulative since the gate was opened. */
struct schedlat_task {
	__u64 run_ns;
	__u64 switches;         /* times switched in: each one ends a wait */
	__u64 wait_ns;
	struct schedlat_longest longest[2];
	__u64 name_stamp;       /* when the name was taken */
	char name[TASK_KEY_COMM_LEN];
};

/* What a task that is on a CPU has run of its slice so far, when last the kernel looked. */
struct schedlat_running {
	struct task_key task;
	__u64 run_ns;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct schedlat_running) == 72, "schedlat_running has padding");
_Static_assert(sizeof(struct schedlat_key) == 56, "schedlat_key has padding");
_Static_assert(sizeof(struct schedlat_task) == 96, "schedlat_task has padding");

#endif /* TALLY_SCHEDLAT_H */
