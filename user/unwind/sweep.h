/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iterates over all processes in small steps, by descending CPU share over their lifetime: lists them all at once,
 * ranks them one by one, then returns them.
 */
#ifndef TALLY_UNWIND_SWEEP_H
#define TALLY_UNWIND_SWEEP_H

#include <stddef.h>

#include "base/types.h"

struct sweep_process {
	u32 pid;
	u64 share;              /* CPU time in millionths of its age; 0: unknown, or none */
};

struct sweep {
	struct sweep_process *process;
	size_t n;
	size_t ranked, given;
};

/* Lists the processes. The list is empty without /proc. Returns 0 or -ENOMEM. */
int sweep__begin(struct sweep *s);
void sweep__end(struct sweep *s);

/* Does one step. Returns false when all processes have been returned. *pid is 0 if the step returns none. */
bool sweep__step(struct sweep *s, u32 *pid);

#endif /* TALLY_UNWIND_SWEEP_H */
