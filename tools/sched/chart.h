/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tasks did in each slot of time, out of the records of bpf/sched/timechart.bpf.c, while they come.
 * When slots run out, they double in width, and pairs become one: nothing is lost by that. Tasks
 * that have ended and can no more be among the busiest are added to the others. So a run may be as
 * long as it likes.
 */
#ifndef TALLY_SCHED_CHART_H
#define TALLY_SCHED_CHART_H

#include "report/timechart.h"
#include "base/types.h"

#include "bpf/sched/timechart.h"

#define CHART_SLOTS 600

/* n slots from the first on: one, or several that were spent in one state from end to end. */
struct chart_piece {
	u32 slot, n;
	u32 cpu;                /* where it ran */
	u32 pad;
	u64 ns[TIMECHART_STATES];       /* in all of them */
};

struct chart_task {
	u32 pid, tid;
	char name[16];
	bool ended;
	u64 total[TIMECHART_STATES];
	struct chart_piece *piece;      /* in the order of time */
	size_t n, room;
};

struct chart {
	u64 begin_ns, width_ns;
	size_t top;             /* tasks that will have rows */
	struct chart_task *task;
	size_t ntasks, room;
	u32 *hash;              /* of living tasks, by tid: index + 1 */
	size_t nhash;           /* a power of two */
	size_t ended;           /* since the last look at them */
	u64 (*busy)[CHART_SLOTS];       /* of each CPU */
	u32 ncpus;
	struct timechart_slot others[CHART_SLOTS];
	u64 nothers, others_total[TIMECHART_STATES];
};

/* begin_ns: CLOCK_MONOTONIC. ncpus: rows there are at least. Returns 0 or -ENOMEM. */
int chart__init(struct chart *c, u64 begin_ns, u64 width_ns, u32 ncpus, size_t top);

/* c->width_ns may be wider after that. Returns 0 or -ENOMEM. */
int chart__take(struct chart *c, const struct timechart_record *r);

/*
 * Makes rows of CPUs, of the tasks that ran most, and of the others; to be freed in any case. 0
 * or -ENOMEM.
 */
int chart__draw(struct chart *c, u64 end_ns, struct timechart *out);

void chart__free(struct chart *c);

#endif /* TALLY_SCHED_CHART_H */
