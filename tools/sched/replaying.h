/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recorded schedule as a load: a thread for each task, which does its steps again. It computes
 * until it has used so much CPU time, sleeps, wakes others, and waits to be woken by them.
 */
#ifndef TALLY_SCHED_REPLAY_H
#define TALLY_SCHED_REPLAY_H

#include "sched/schedule.h"

/* All threads begin at one moment, so long after they were made, and a little more for each. */
#define REPLAY_AHEAD_NS (20 * NSEC_PER_MSEC)
#define REPLAY_AHEAD_EACH_NS 20000

/* More threads than this are refused. */
#define REPLAY_MOST_TASKS 20000

/* What a task did in the replay. */
struct replayed {
	u64 run_ns;             /* CLOCK_THREAD_CPUTIME_ID */
	u64 switches;           /* getrusage(RUSAGE_THREAD) */
	u64 wakeups;            /* of others */
	u64 end_ns;             /* since the common begin */
};

/*
 * Does all steps of all tasks that are not left out; out has an element for each task of the
 * schedule. Returns 0, or a negative errno (-EAGAIN: so many threads cannot be made).
 */
int replay__run(const struct schedule *s, struct replayed *out);

/* How often tasks that are not left out wake one another, of each task: what a replay repeats. */
u64 replay__wakeups(const struct schedule *s, size_t task);

#endif /* TALLY_SCHED_REPLAY_H */
