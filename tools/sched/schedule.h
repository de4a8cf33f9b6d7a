/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each task of a recording (sched/file.h) did, one after the other, as steps that can be
 * done again: run so long, sleep so long, wake that task, wait to be woken by this one.
 *
 * Steps are made only of what is in the file, in its order: a wakeup counts if the woken task was
 * off its CPU then and came back later. So they can always be done to their end, whatever the
 * file says: in the file's order they can, and each task waits for wakeups of its own only.
 */
#ifndef TALLY_SCHED_SCHEDULE_H
#define TALLY_SCHED_SCHEDULE_H

#include "sched/tasks.h"
#include "base/types.h"

#include "bpf/lib/switches.h"

enum step_kind {
	STEP_RUN,
	STEP_SLEEP,
	STEP_WAKE,              /* if wake says so */
	STEP_WAIT,              /* for wake, or asleep for ns if its waker is left out */
};

struct step {
	u64 ns;
	u32 kind;
	u32 wake;               /* index */
};

/* A wakeup that was seen. */
struct wake {
	u32 from, to;           /* indexes of tasks */
	bool counts;            /* to waits for it */
};

struct schedule_task {
	bool left_out;
	struct step *step;
	size_t n, room;
	u64 run_ns;             /* all its steps */
	u64 switches;           /* away from a CPU */
	u64 begin_ns, end_ns;   /* when it first came and last left, since the recording began */

	/* While records are read. */
	bool seen, known;       /* it is off or on its CPU: we have seen it leave or come */
	bool on, came_seen;
	bool hid;               /* it has left the CPU that it came to, unseen */
	u64 came_ns, left_ns;
	u32 waker, came_waker;  /* 1 + the wakeup of this absence; 0: none */
	bool early;             /* waker came while it was on its CPU still, at early_ns */
	u64 early_ns;
	struct pending {
		u64 time_ns;
		u32 wake;
	} *pending;             /* what it woke in this slice */
	size_t npending, pending_room;
};

struct schedule {
	struct tasks ids;       /* names and ids; the same indexes */
	struct schedule_task *task;
	size_t room;
	struct wake *wake;
	size_t nwakes, wakes_room;
	bool begun;
	u64 first_ns, last_ns;
	size_t hidden;          /* slices whose end was not seen: what was run in them is not known */
	u32 *on_cpu;            /* while records are read: 1 + the task that came last; 0: not known */
	size_t cpus_room;
};

/* Adds a record, in the order of the file. Returns 0 or -ENOMEM. */
int schedule__take(struct schedule *s, const struct switches_record *r);

/* After the last record: what was going on then ends then. Returns 0 or -ENOMEM. */
int schedule__finish(struct schedule *s);

void schedule__free(struct schedule *s);

#endif /* TALLY_SCHED_SCHEDULE_H */
