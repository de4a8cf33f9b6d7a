/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the OpenMetrics text (report/exposition.h) of a run: the figures of each measurement, and
 * tally's own: which measurements are up, losses, overhead. In a run of several, each sample has its
 * measurement's line in the label "measurement"; a run of one has no such label. Shared by --listen,
 * --format openmetrics -o FILE and tally export.
 */
#ifndef TALLY_RUN_METRICS_H
#define TALLY_RUN_METRICS_H

#include "base/types.h"
#include "report/overhead.h"

struct run;

/* A line of the run that cannot be measured here. Texts are borrowed. */
struct run_absent {
	const char *tool, *command;
};

/* State for the samples about the run itself. */
struct run_metrics {
	u64 started_ns;                 /* CLOCK_REALTIME */
	u64 program_runs, program_ns, map_bytes;        /* --overhead */
	u64 writing_ns, bytes;          /* of the previous text: time to write it, and its size */
	bool has_file;                  /* the lines come from a file that can be reloaded */
	bool is_read;                   /* the last reload succeeded */
	u64 read_ns, reads, failures;   /* CLOCK_REALTIME of the last successful reload */
};

void metrics__add_cost(struct run_metrics *metrics, const struct report_overhead *cost);

/* Writes the text to the run's output. Returns 0 or a negative errno. */
int metrics__write(struct run *run);

#endif /* TALLY_RUN_METRICS_H */
