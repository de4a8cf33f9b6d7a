/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by runqlen.bpf.c and tools/sched/runqlen.c. */
#ifndef TALLY_RUNQLEN_H
#define TALLY_RUNQLEN_H

#include "hist.h"
#include "task_key.h"

/* One segment of the histogram of one CPU. */
struct runqlen_key {
	struct hist_slot slot;
	struct task_key task;           /* only the CPU, if results are by CPU */
};

/* Samples that the program took on one CPU, recorded or lost. */
struct runqlen_samples {
	__u64 taken;
	__u64 idle;                     /* those taken while the CPU was idle */
};

_Static_assert(sizeof(struct runqlen_key) == 56, "runqlen_key has padding");

#endif /* TALLY_RUNQLEN_H */
