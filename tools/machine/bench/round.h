/* SPDX-License-Identifier: BSD-2-Clause */
/* A load, run once and measured. */
#ifndef TALLY_BENCH_ROUND_H
#define TALLY_BENCH_ROUND_H

#include "machine/bench/child.h"
#include "machine/bench/load.h"

struct round {
	u64 operations;
	u64 elapsed_ns;         /* from the start of the first task to the end of the last */
	u64 user_ns, system_ns; /* CPU time of all tasks in this period */
	u64 switches;           /* context switches of the tasks */
};

/*
 * Returns 0 or a negative errno: -EINTR after a signal, with all processes of the load ended; -EIO
 * after reporting that the load failed.
 */
int round__run(struct round *round, const struct load *load, const struct load_options *o,
	       u64 loops, const struct child_signals *signals);

/*
 * Finds the number of loops that take about target_ns, by runs of growing length, which also warm
 * up the machine. Returns the same values as round__run().
 */
int round__find_loops(u64 *loops, u64 target_ns, const struct load *load,
		      const struct load_options *o, const struct child_signals *signals);

#endif /* TALLY_BENCH_ROUND_H */
