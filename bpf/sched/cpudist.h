/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by cpudist.bpf.c and tools/sched/cpudist.c. */
#ifndef TALLY_CPUDIST_H
#define TALLY_CPUDIST_H

#include "hist.h"
#include "task_key.h"

/* One segment of one key's histogram on one CPU. */
struct cpudist_key {
	struct hist_slot slot;
	struct task_key task;
};

/* The absences that are counted, by how the task left its CPU. */
enum cpudist_absence {
	ABSENCE_ANY,
	ABSENCE_BLOCKED,        /* by sleeping */
	ABSENCE_PREEMPTED,      /* while runnable: preempted or yielding */
};

_Static_assert(sizeof(struct cpudist_key) == 56, "cpudist_key has padding");

#endif /* TALLY_CPUDIST_H */
