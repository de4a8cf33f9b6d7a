/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All processes there are, the one that has used the most CPU time first, in small steps: listed at once, then
 * ranked one by one, then given out.
 */
#ifndef TALLY_UNWIND_SWEEP_H
#define TALLY_UNWIND_SWEEP_H

#include <stddef.h>

#include "base/types.h"

struct sweep_process {
	u32 pid;
	u64 ticks;              /* of CPU time; 0: not known, or none */
};

struct sweep {
	struct sweep_process *process;
	size_t n, room;
	size_t ranked, given;
};

/* Lists them. 0 or -ENOMEM; where there is no /proc, there are none. */
int sweep__begin(struct sweep *s);
void sweep__end(struct sweep *s);

/* One step. False: all have been given out. *pid 0: there is none to give out yet. */
bool sweep__step(struct sweep *s, u32 *pid);

#endif /* TALLY_UNWIND_SWEEP_H */
