/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chart of CPUs and tasks over time, made from the time that each spent in its states per slot. Text: one line per
 * row. Picture: a standalone SVG file of less than 1 MB, regardless of the size of the chart.
 */
#ifndef TALLY_OUT_TIMECHART_H
#define TALLY_OUT_TIMECHART_H

#include "report/report.h"
#include "base/types.h"

/* Parts of a slot. CPUs only have PART_RUN: busy. */
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
	TIMECHART_OTHERS,       /* sum of all tasks without their own row */
};

struct timechart_slot {
	u64 ns[PARTS];
	u32 most;               /* CPUs: 1 + index of the row that ran the longest; 0 if no row ran */
	u64 most_ns;            /* its run time */
	u64 known_ns;           /* CPUs: run time of all tasks with rows */
};

struct timechart_row {
	enum timechart_kind kind;
	u32 cpu;
	u32 ncpus;              /* number of CPUs to divide its run time by; 1 for a task */
	u32 pid, tid;
	char name[16];          /* of a task; NUL-terminated, not escaped */
	u64 tasks;              /* TIMECHART_OTHERS: number of tasks */
	u64 total[PARTS];
	struct timechart_slot *slot;
};

struct timechart {
	struct timechart_row *row;      /* CPUs, then tasks, then others */
	size_t n;
	u32 ncpus;              /* rows of CPUs */
	u32 nslots;
	u64 slot_ns;            /* the last slot may extend beyond the run */
	u64 duration_ns;
};

/*
 * Makes a coarser chart: merges by_slots slots into one, and by_cpus CPUs into one row. The caller
 * frees *out, unless it returns -ENOMEM.
 */
int timechart__squeeze(const struct timechart *c, u32 by_slots, u32 by_cpus, struct timechart *out);
void timechart__free(struct timechart *c);

/* Duration of slots [first, first + n), cut at the end of the run. */
u64 timechart__span(const struct timechart *c, u32 first, u32 n);

/* ns as a percentage of span_ns, at most 100. */
double timechart__percent(u64 ns, u64 span_ns);

/* Returns slot->most, or 0 if tasks without rows may have run longer. */
u32 timechart__most(const struct timechart_slot *slot);

/* Formats the label of a row, escaped: "CPU 3", "name[tid/pid]". */
#define TIMECHART_LABEL 100
void timechart__label(const struct timechart_row *row, char text[TIMECHART_LABEL]);

/*
 * The writers. r: for title, source, losses. width: columns of a line. They return 0 or -ENOMEM;
 * write errors are kept by the file.
 */
int write_timechart_text(struct writer *w, const struct report *r, const struct timechart *c,
			 u32 width);
int write_timechart_svg(struct writer *w, const struct report *r, const struct timechart *c);

#endif /* TALLY_OUT_TIMECHART_H */
