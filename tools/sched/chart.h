/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of tasks in each time slot, built incrementally from the records of
 * bpf/sched/timechart.bpf.c. When slots run out, their width doubles and pairs are merged, without
 * loss. Ended tasks that can no longer be among the busiest are added to the others. Therefore a
 * run may last arbitrarily long.
 */
#ifndef TALLY_SCHED_CHART_H
#define TALLY_SCHED_CHART_H

#include "report/timechart.h"
#include "base/types.h"

#include "bpf/sched/timechart.h"

#define CHART_SLOTS 600

/* n slots from slot on: either a single one, or several spent entirely in one state. */
struct chart_piece {
	u32 slot, n;
	u32 cpu;                /* the CPU it ran on */
	u32 pad;
	u64 ns[TIMECHART_STATES];       /* sums over these slots */
};

struct chart_task {
	u32 pid, tid;
	char name[16];
	bool ended;
	u64 total[TIMECHART_STATES];
	struct chart_piece *piece;      /* sorted by time */
	size_t n;
};

struct chart {
	u64 begin_ns, width_ns;
	size_t top;             /* number of tasks that get rows */
	struct chart_task *task;
	size_t ntasks;
	u32 *hash;              /* hash of living tasks by tid; contains index + 1 */
	size_t nhash;           /* a power of two */
	size_t ended;           /* since the last drop_ended() */
	u64 (*busy)[CHART_SLOTS];       /* for each CPU */
	size_t busy_room;
	u32 ncpus;
	struct timechart_slot others[CHART_SLOTS];
	u64 nothers, others_total[TIMECHART_STATES];
};

/* begin_ns: CLOCK_MONOTONIC. ncpus: minimum number of CPU rows. Returns 0 or -ENOMEM. */
int chart__init(struct chart *c, u64 begin_ns, u64 width_ns, u32 ncpus, size_t top);

/* May increase c->width_ns. Returns 0 or -ENOMEM. */
int chart__take(struct chart *c, const struct timechart_record *r);

/*
 * Makes rows for CPUs, for the tasks that ran most, and for the others. The caller frees out in
 * either case. Returns 0 or -ENOMEM.
 */
int chart__draw(struct chart *c, u64 end_ns, struct timechart *out);

void chart__free(struct chart *c);

#endif /* TALLY_SCHED_CHART_H */
