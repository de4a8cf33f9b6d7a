/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the tool stat: the requested events, how they are counted (events/stat/counting.h),
 * and the rows made of the counts.
 *
 *   stat__plan()      turns the options and the names of events into a plan for counting
 *   stat__explain()   -n: shows the plan
 *   stat__place()     once counting has begun: groups CPUs by core or socket
 *   stat__report()    shows the change since the last call as rows, or keeps it for the mean (-r)
 *   stat__means()     shows the means of all runs of -r
 *   stat__forget()    resets the counts between two runs of -r
 *   stat__free()
 *
 * Functions of type int return 0 or a negative errno, after reporting errors in the request.
 */
#ifndef TALLY_STAT_STAT_H
#define TALLY_STAT_STAT_H

#include "events/stat/counting.h"
#include "events/stat/each_cgroup.h"
#include "events/stat/series.h"
#include "jit/compile.h"
#include "run/measurement.h"
#include "types/btf.h"

/* An event as shown in the report. */
struct stat_row {
	const char *name;
	const struct event_site *site;  /* the first site with this name */
	size_t event;                   /* index of the event that it belongs to */
	bool counter;                   /* counted by perf_event_open(2) */
};

/* The options set the first members. The functions below set the rest, in the order of the members. */
struct stat_run {
	bool detailed, per_cpu, per_core, per_socket, zeros, grouped, metric_only;
	u64 repeat;
	const char *pre, *post;
	struct each_cgroup each;
	const char **metric;            /* the events of each --metric */
	size_t nmetrics;

	const char **text;              /* for each event, the -e that named it */
	struct events events;
	struct event_sites sites;
	u32 *row_of;                    /* row of each site */
	struct stat_row *row;
	size_t nrows;
	size_t *typed, ntyped;          /* index of the -e of each event */
	struct code *code;              /* --filter, compiled for each site, or NULL */
	struct attach_code *compiled;
	char **filter;                  /* --filter in the kernel's syntax */
	struct kernel_types types;      /* types of fields, while filters are compiled */
	bool defaults;                  /* no -e was given */
	bool no_pmu; /* and the default events have no PMU */

	struct counting_plan plan;
	struct counting counting;
	struct counts before;
	struct loss_counters losses_before;
	u64 *lost;                      /* by row: counts without room so far */
	int *place; /* core or socket of each CPU, or NULL if places are CPUs */

	struct series *series;          /* for -r: values of each row */
	struct series elapsed;
	u64 start_ns;                   /* start of the first run */
	char source[1024], caveat[1024];
};

/* --metric: names of ratios, separated by commas. Returns -EINVAL after listing the valid names. */
int stat__add_metrics(struct stat_run *s, const char *names);
void stat__complete_metric(struct completion *c);

int stat__plan(struct stat_run *s, const struct measurement *m, const struct cli *cli);
int stat__explain(struct stat_run *s, struct measurement *m);
int stat__place(struct stat_run *s);

/* The hook report(); m->own is the struct stat_run. */
int stat__report(struct measurement *m, struct report *r);
int stat__means(struct stat_run *s, struct measurement *m);
void stat__forget(struct stat_run *s);
void stat__free(struct stat_run *s);

#endif /* TALLY_STAT_STAT_H */
