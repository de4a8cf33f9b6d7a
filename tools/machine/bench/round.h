/* SPDX-License-Identifier: BSD-2-Clause */
/* A load, done once and measured. */
#ifndef TALLY_BENCH_ROUND_H
#define TALLY_BENCH_ROUND_H

#include "machine/bench/child.h"
#include "machine/bench/load.h"

struct round {
	u64 operations;
	u64 elapsed_ns;         /* from the first task's begin to the last one's end */
	u64 user_ns, system_ns; /* CPU time of all tasks in between */
	u64 switches;           /* and their context switches */
};

/*
 * Returns 0 or a negative errno: -EINTR if a signal came, after which nothing of the load is left;
 * -EIO if it failed, which has been said.
 */
int round__run(struct round *round, const struct load *load, const struct load_options *o,
	       u64 loops, const struct child_signals *signals);

/*
 * How many loops take about target_ns, found by runs that become longer; they warm the machine up,
 * too. Returns as round__run().
 */
int round__find_loops(u64 *loops, u64 target_ns, const struct load *load,
		      const struct load_options *o, const struct child_signals *signals);

#endif /* TALLY_BENCH_ROUND_H */
