/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replays a recorded schedule as a load: a thread for each task repeats its steps. It computes for
 * a given CPU time, sleeps, wakes other threads, and waits to be woken by them.
 */
#ifndef TALLY_SCHED_REPLAY_H
#define TALLY_SCHED_REPLAY_H

#include "sched/schedule.h"

/*
 * All threads start at the same time: this long after their creation, plus a little for each
 * thread.
 */
#define REPLAY_AHEAD_NS (20 * NSEC_PER_MSEC)
#define REPLAY_AHEAD_EACH_NS 20000

/* More threads than this are refused. */
#define REPLAY_MOST_TASKS 20000

/* Results of a task in the replay. */
struct replayed {
	u64 run_ns;             /* CLOCK_THREAD_CPUTIME_ID */
	u64 switches;           /* getrusage(RUSAGE_THREAD) */
	u64 wakeups;            /* wakeups of other tasks */
	u64 end_ns;             /* since the common start */
};

/*
 * Does all steps of all tasks that are not left out. out has an element for each task of the
 * schedule. Returns 0 or a negative errno, -EAGAIN if there are too many threads for the system.
 */
int replay__run(const struct schedule *s, struct replayed *out);

/* The number of wakeups by a task that a replay repeats: those between tasks that are not left out. */
u64 replay__wakeups(const struct schedule *s, size_t task);

#endif /* TALLY_SCHED_REPLAY_H */
