/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tasks that records speak of, found by their ids, and what is known of each: what it had of
 * the CPUs, and its two letters on the map. Idle tasks are not among them.
 */
#ifndef TALLY_SCHED_TASKS_H
#define TALLY_SCHED_TASKS_H

#include "base/types.h"

#include "bpf/lib/switches.h"

#define TASK_CODE_SPACE 3

struct task_totals {
	u32 pid, tid;
	char comm[sizeof(((struct switches_task *)0)->comm) + 1];       /* the last one seen */
	char code[TASK_CODE_SPACE];     /* empty: none yet */
	u64 slices;                     /* times it left a CPU */
	u64 timed;                      /* those whose length is known: the following are theirs */
	u64 run_ns, run_min_ns, run_max_ns;
	u64 waits;                      /* likewise */
	u64 wait_ns, wait_max_ns;
	u64 migrations;
};

struct tasks {
	struct task_totals *task;
	size_t n, room;
	u32 *slot;                      /* index + 1; 0: free */
	size_t nslots;                  /* a power of two */
	u32 ncodes;                     /* given away so far */
};

/* The task, good until the next one is added; NULL without memory. A new name replaces the old. */
struct task_totals *tasks__get(struct tasks *t, const struct switches_task *which);

/* Adds a record to what its task had. Returns 0 or -ENOMEM. */
int tasks__add(struct tasks *t, const struct switches_record *r);

/*
 * Gives a task its code if it has none: a capital, and a digit or letter. Returns whether it is a
 * new one. There are 1612; then the first are given away again, and taken from whoever had them.
 */
bool tasks__give_code(struct tasks *t, struct task_totals *task);

void tasks__free(struct tasks *t);

#endif /* TALLY_SCHED_TASKS_H */
