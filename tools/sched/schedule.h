/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The actions of each task of a recording (sched/file.h), as a sequence of repeatable steps: run
 * for a time, sleep for a time, wake a task, wait for a wakeup by another task.
 *
 * Steps are derived only from the file, in its order: a wakeup counts if the woken task was off its
 * CPU at the time and came back later. Therefore a replay always terminates, whatever the file
 * contains: the steps can be done in the file's order, and each task waits only for its own
 * wakeups.
 */
#ifndef TALLY_SCHED_SCHEDULE_H
#define TALLY_SCHED_SCHEDULE_H

#include "sched/tasks.h"
#include "base/types.h"

#include "bpf/lib/switches.h"

enum step_kind {
	STEP_RUN,
	STEP_SLEEP,
	STEP_WAKE,              /* wakes the task that `wake` names, if the wakeup counts */
	STEP_WAIT,              /* waits for `wake`; sleeps for ns if the waker is left out */
};

struct step {
	u64 ns;
	u32 kind;
	u32 wake;               /* index of the wakeup */
};

/* A recorded wakeup. */
struct wake {
	u32 from, to;           /* indexes of tasks */
	bool counts;            /* task `to` waits for it */
};

struct schedule_task {
	bool left_out;
	struct step *step;
	size_t n;
	u64 run_ns;             /* sum of all its steps */
	u64 switches;           /* number of switch-outs */
	u64 begin_ns, end_ns;   /* first arrival and last departure, since the recording began */

	/* Used while records are read. */
	bool seen, known;       /* an arrival or departure was seen, so `on` is valid */
	bool on, came_seen;
	bool hid;               /* it has left the CPU on which it arrived, but its departure was not seen */
	u64 came_ns, left_ns;
	u32 waker, came_waker;  /* 1 + the wakeup that ended this absence; 0: none */
	bool early;             /* waker woke it at early_ns, while it was still on its CPU */
	u64 early_ns;
	struct pending {
		u64 time_ns;
		u32 wake;
	} *pending;             /* wakeups of other tasks in this slice */
	size_t npending;
};

struct schedule {
	struct tasks ids;       /* names and ids, with the same indexes */
	struct schedule_task *task;
	size_t room;
	struct wake *wake;
	size_t nwakes;
	bool begun;
	u64 first_ns, last_ns;
	size_t hidden;          /* slices whose end was not seen, and whose run time is unknown */
	u32 *on_cpu;            /* used while records are read: 1 + the last task that arrived; 0: unknown */
	size_t cpus_room;
};

/* Adds a record, in the order of the file. Returns 0 or -ENOMEM. */
int schedule__take(struct schedule *s, const struct switches_record *r);

/* To be called after the last record: ends the current slices at its time. Returns 0 or -ENOMEM. */
int schedule__finish(struct schedule *s);

void schedule__free(struct schedule *s);

#endif /* TALLY_SCHED_SCHEDULE_H */
