/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tasks that occur in records, by id, with their totals: CPU time, waits, and their two-letter
 * codes on the map. Idle tasks are not included.
 */
#ifndef TALLY_SCHED_TASKS_H
#define TALLY_SCHED_TASKS_H

#include "base/types.h"

#include "bpf/lib/switches.h"

#define TASK_CODE_SPACE 3

struct task_totals {
	u32 pid, tid;
	char comm[sizeof(((struct switches_task *)0)->comm) + 1];       /* name in the last record */
	char code[TASK_CODE_SPACE];     /* empty if none was assigned yet */
	u64 slices;                     /* number of times it left a CPU */
	u64 timed;                      /* number of slices of known length, which the next members cover */
	u64 run_ns, run_min_ns, run_max_ns;
	u64 waits;                      /* number of waits of known length, which the next members cover */
	u64 wait_ns, wait_max_ns;
	u64 migrations;
};

struct tasks {
	struct task_totals *task;
	size_t n, room;
	u32 *slot;                      /* index + 1; 0: free */
	size_t nslots;                  /* a power of two */
	u32 ncodes;                     /* number of codes assigned so far */
};

/* Returns the task, valid until the next one is added, or NULL without memory. Updates its name. */
struct task_totals *tasks__get(struct tasks *t, const struct switches_task *which);

/* Adds a record to the totals of its task. Returns 0 or -ENOMEM. */
int tasks__add(struct tasks *t, const struct switches_record *r);

/*
 * Assigns a code to a task that has none: a capital letter, and a digit or letter. Returns whether
 * the code is new. After 1612 codes, the first ones are reused, and removed from the tasks that had
 * them.
 */
bool tasks__give_code(struct tasks *t, struct task_totals *task);

void tasks__free(struct tasks *t);

#endif /* TALLY_SCHED_TASKS_H */
