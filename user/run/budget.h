/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --budget: the share of the machine that our BPF programs may take. It is checked once a window. A
 * run of several measurements that exceeds it goes on without the one whose programs took most in
 * that window, and so on; the last one ends the run.
 */
#ifndef TALLY_RUN_BUDGET_H
#define TALLY_RUN_BUDGET_H

#include <stdbool.h>

#include "base/types.h"

struct run;

/* The run time of all our programs, and when it was read. */
struct budget {
	u64 program_ns, time_ns;
};

/* Begins a window. Without --budget it does nothing. */
void budget__begin(struct budget *b, struct run *run);

/*
 * Ends the window and begins the next one. Over the budget, it warns, and stops a measurement: its
 * ended_ns is set, and its next report is its last. Returns whether the run ends instead.
 */
bool budget__is_over(struct budget *b, struct run *run);

/* Takes measurements out of the run that were stopped and have reported since. Returns whether there were any. */
bool budget__take_out(struct run *run);

#endif /* TALLY_RUN_BUDGET_H */
