/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What CPUs did, event by event (bpf/lib/switches.h): a line each for people, with columns as perf
 * sched timehist has them, or a map of the CPUs as perf sched map draws it; in JSON and CSV the
 * lines of report/stream.h. Times are ms with three decimals.
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
	u64 to_wall_clock;      /* added to the times of records */
	bool next;              /* who comes, too */
	bool picture;           /* a column of one letter for each CPU: */
	u32 cpus;               /* so many; also of a map */
	const struct call_stacks *stacks;       /* of switches, at the end of the line; NULL: not */
	u32 most_frames;        /* of each; 0: in text so many as below, else all */
};

/* As perf sched timehist. */
#define TIMELINE_FRAMES 5

/* The titles of text; nothing in other formats. */
void timeline__write_titles(const struct timeline *t, struct writer *w);

/* Returns 0 or -ENOMEM. Nothing is flushed. */
int timeline__write(const struct timeline *t, struct writer *w, const struct switches_record *r);

#define TIMELINE_CELL 3

/*
 * A line of the map, after a switch: cell has the two letters of each CPU. code: of who came, a
 * new one if is_new. Returns 0 or -ENOMEM.
 */
int timeline__write_map(const struct timeline *t, struct writer *w, const struct switches_record *r,
			char (*cell)[TIMELINE_CELL], const char *code, bool is_new);

/* "12:34:56.123456" of a record, for tables. */
#define TIMELINE_TIME_SPACE 32
void timeline__format_time(const struct timeline *t, char text[TIMELINE_TIME_SPACE], u64 time_ns);

#endif /* TALLY_OUT_TIMELINE_H */
