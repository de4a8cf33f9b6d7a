/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --budget: limits the share of the machine's CPU time that our BPF programs take, checked once per
 * window. When a run of several measurements exceeds it, the measurement whose programs took the most
 * in that window is stopped, window after window. When only one is left, the run ends.
 */
#ifndef TALLY_RUN_BUDGET_H
#define TALLY_RUN_BUDGET_H

#include <stdbool.h>

#include "base/types.h"

struct run;

/* Total run time of our programs, and the time of that reading. */
struct budget {
	u64 program_ns, time_ns;
};

/* Begins a window. No-op without --budget. */
void budget__begin(struct budget *b, struct run *run);

/*
 * Ends the window and begins the next one. If the budget was exceeded, warns and stops one measurement: sets its
 * ended_ns; its next report is its last. Returns true if none can be stopped and the run must end instead.
 */
bool budget__is_over(struct budget *b, struct run *run);

/* Removes stopped measurements from the run once their last report is written. Returns true if it removed any. */
bool budget__take_out(struct run *run);

#endif /* TALLY_RUN_BUDGET_H */
