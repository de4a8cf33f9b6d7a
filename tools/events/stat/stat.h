/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the tool stat: which events are asked for, how they are counted (events/stat/counting.h),
 * and the rows that become of the counts.
 *
 *   stat__plan()      from the options and the names of events to a plan of counting
 *   stat__explain()   -n: that plan
 *   stat__place()     once counting has begun: by core, by socket
 *   stat__report()    what came since the last call, as rows; or kept for the mean (-r)
 *   stat__means()     the means of all runs of -r
 *   stat__forget()    between two runs of -r
 *   stat__free()
 *
 * All of int return 0 or a negative errno, after saying what is wrong with what was asked.
 */
#ifndef TALLY_STAT_STAT_H
#define TALLY_STAT_STAT_H

#include "events/stat/counting.h"
#include "events/stat/series.h"
#include "jit/compile.h"
#include "run/measurement.h"

/* One event as the report shows it. */
struct stat_row {
	const char *name;
	const struct event_site *site;  /* the first of that name */
	size_t event;                   /* index of the event that asked for it */
	bool counter;                   /* counted by perf_event_open(2) */
};

/* The first lines are what the options say; the functions below make the rest, in their order. */
struct stat_run {
	bool detailed, per_cpu, per_core, per_socket, zeros;
	u64 repeat;
	const char *pre, *post;

	const char **text;              /* of each event, the -e it came from */
	struct events events;
	struct event_sites sites;
	u32 *row_of;                    /* of each site */
	struct stat_row *row;
	size_t nrows;
	size_t *typed, ntyped;          /* in which -e each event stood */
	struct code *code;              /* --filter, compiled for each site; NULL: none */
	struct attach_code *compiled;
	char **filter;                  /* or in the kernel's words */
	bool defaults;                  /* no -e was given */
	bool no_pmu; /* and there is no PMU to count what should have been there */

	struct counting_plan plan;
	struct counting counting;
	struct counts before;
	struct loss_counters losses_before;
	int *place; /* of each CPU, a core or a socket; NULL: CPUs as they are */

	struct series *series;          /* -r: of each row */
	struct series elapsed;
	u64 start_ns;                   /* of the first run */
	char source[1024], caveat[256];
};

int stat__plan(struct stat_run *s, const struct measurement *m, const struct cli *cli);
int stat__explain(struct stat_run *s, struct measurement *m);
int stat__place(struct stat_run *s);

/* The hook report(); m->own is the struct stat_run. */
int stat__report(struct measurement *m, struct report *r);
int stat__means(struct stat_run *s, struct measurement *m);
void stat__forget(struct stat_run *s);
void stat__free(struct stat_run *s);

#endif /* TALLY_STAT_STAT_H */
