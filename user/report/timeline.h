/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU activity, event by event (bpf/lib/switches.h): in text one line each, with the columns of
 * perf sched timehist, or a map of the CPUs like that of perf sched map. JSON and CSV have the lines
 * of report/stream.h. Times are in ms with three decimals.
 *
 *   11:13:45.139035 [0000]  spin[2944/2942]                       2.801      2.801      1.399
 */
#ifndef TALLY_OUT_TIMELINE_H
#define TALLY_OUT_TIMELINE_H

#include "base/types.h"
#include "report/call_stack.h"
#include "report/report.h"

#include "bpf/lib/switches.h"

struct timeline {
	u64 to_wall_clock;      /* added to the CLOCK_MONOTONIC times of records */
	bool next;              /* also show the next task */
	bool picture;           /* a column with one letter per CPU */
	u32 cpus;               /* columns of the picture and of the map */
	const struct call_stacks *stacks;       /* callchains of switches, at the end of the line; NULL: not shown */
	u32 most_frames;        /* of each stack; 0: TIMELINE_FRAMES in text, otherwise all */
};

/* As in perf sched timehist. */
#define TIMELINE_FRAMES 5

/* Writes the column titles of text. No-op in other formats. */
void timeline__write_titles(const struct timeline *t, struct writer *w);

/* Returns 0 or -ENOMEM. Does not flush. */
int timeline__write(const struct timeline *t, struct writer *w, const struct switches_record *r);

#define TIMELINE_CELL 3

/*
 * Writes a map line after a switch. cell: the two letters of each CPU. code: of the next task.
 * is_new: the code is new. Returns 0 or -ENOMEM.
 */
int timeline__write_map(const struct timeline *t, struct writer *w, const struct switches_record *r,
			char (*cell)[TIMELINE_CELL], const char *code, bool is_new);

/* Like stream__end_lines(), for the two kinds of output. Return 0 or -ENOMEM. */
int timeline__end_lines(const struct timeline *t, struct writer *w);
int timeline__end_map(const struct timeline *t, struct writer *w);

/* Formats the time of a record, "12:34:56.123456", for tables. */
#define TIMELINE_TIME_SPACE 32
void timeline__format_time(const struct timeline *t, char text[TIMELINE_TIME_SPACE], u64 time_ns);

#endif /* TALLY_OUT_TIMELINE_H */
