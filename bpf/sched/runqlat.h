/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by runqlat.bpf.c and tools/sched/runqlat.c. */
#ifndef TALLY_RUNQLAT_H
#define TALLY_RUNQLAT_H

#include "hist.h"
#include "task_key.h"

/* One segment of one key's histogram on one CPU. */
struct runqlat_key {
	struct hist_slot slot;
	struct task_key task;
};

_Static_assert(sizeof(struct runqlat_key) == 56, "runqlat_key has padding");

#endif /* TALLY_RUNQLAT_H */
