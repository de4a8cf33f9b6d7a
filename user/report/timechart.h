/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chart of CPUs and tasks over time, from what each had of each slot of time. As text: a line a
 * row. As a picture: one SVG file that needs nothing else, of less than 1 MB whatever there is to
 * show.
 */
#ifndef TALLY_OUT_TIMECHART_H
#define TALLY_OUT_TIMECHART_H

#include "report/report.h"
#include "base/types.h"

/* What a slot is divided into. CPUs have only the first: busy. */
enum timechart_part {
	PART_RUN,
	PART_WAIT,              /* for a CPU */
	PART_SLEEP,
	PART_BLOCK,             /* uninterruptible */
	PARTS,
};

enum timechart_kind {
	TIMECHART_CPU,
	TIMECHART_TASK,
	TIMECHART_OTHERS,       /* all tasks that have no row of their own, added up */
};

struct timechart_slot {
	u64 ns[PARTS];
	u32 most;               /* of CPUs: 1 + the index of the row that ran most; 0: none of them */
	u64 most_ns;            /* how long */
	u64 known_ns;           /* of CPUs: run by all tasks with rows */
};

struct timechart_row {
	enum timechart_kind kind;
	u32 cpu;
	u32 ncpus;              /* what its run time is to be compared with; of a task: 1 */
	u32 pid, tid;
	char name[16];          /* of a task; terminated, not escaped */
	u64 tasks;              /* others: how many */
	u64 total[PARTS];
	struct timechart_slot *slot;
};

struct timechart {
	struct timechart_row *row;      /* CPUs, then tasks, then others */
	size_t n;
	u32 ncpus;              /* rows of CPUs */
	u32 nslots;
	u64 slot_ns;            /* the last slot may be longer than the run */
	u64 duration_ns;
};

/*
 * A coarser chart: by_slots slots become one, and by_cpus CPUs one row. To be freed; -ENOMEM:
 * nothing to free.
 */
int timechart__squeeze(const struct timechart *c, u32 by_slots, u32 by_cpus, struct timechart *out);
void timechart__free(struct timechart *c);

/* The time that slots [first, first + n) cover: the run may end within. */
u64 timechart__span(const struct timechart *c, u32 first, u32 n);

/* At most 100. */
double timechart__percent(u64 ns, u64 span_ns);

/* slot->most, unless tasks without rows may have had more: then 0. */
u32 timechart__most(const struct timechart_slot *slot);

/* "CPU 3", "name[tid/pid]", escaped. */
#define TIMECHART_LABEL 100
void timechart__label(const struct timechart_row *row, char text[TIMECHART_LABEL]);

/*
 * The writers; r: title, source, losses. width: of a line. -ENOMEM is their only error, the file
 * keeps its own.
 */
int write_timechart_text(struct writer *w, const struct report *r, const struct timechart *c,
			 u32 width);
int write_timechart_svg(struct writer *w, const struct report *r, const struct timechart *c);

#endif /* TALLY_OUT_TIMECHART_H */
