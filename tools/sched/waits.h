/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/sched/wait.bpf.h: selects one of its two sources of wait times, and
 * sets up the states of tasks that existed before the run.
 */
#ifndef TALLY_RUN_WAITS_H
#define TALLY_RUN_WAITS_H

#include "cli/option_row.h"
#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "run/measurement.h"

/* Sources of wait times. Their numbers are in recorded files. */
enum wait_source {
	WAIT_ACCOUNTING,
	WAIT_WAKEUP,
	WAIT_SOURCES,
};

#define WAIT_SOURCE_AUTO (-1)

struct wait_source_text {
	const char *name;       /* for --source */
	const char *text;       /* for the report's header */
	const char *caveat;     /* may be NULL */
};
extern const struct wait_source_text wait_sources[WAIT_SOURCES];

/* --source: an option of an int, which becomes an enum wait_source or WAIT_SOURCE_AUTO. */
extern const struct option_row wait_source_rows[];

/* Fills in the source and caveat of a report. */
void waits__describe(enum wait_source source, struct report *r);

/* Whether the scheduler keeps its accounting (CONFIG_SCHED_INFO, and not switched off). */
bool waits__has_accounting(void);

/* For a tool without other state: m->own is a struct waits, and its spec has WAITS_HOOKS. */
struct waits {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
};

void waits__init(void *own);
int waits__open_and_load(struct measurement *m);

#define WAITS_HOOKS                                                                                \
	.own_size = sizeof(struct waits), .init = waits__init, .load = waits__open_and_load

/*
 * Serves as a measurement's load(). Sets *source to the requested source, or to the first one
 * available. For each attempt, it opens the spec's skeleton again, calls configure(), if any, for
 * the tool's own settings, and loads the programs of wait.bpf.h for that source. Sets m->source.
 * Reports errors. Returns 0 or a negative errno.
 */
int waits__load(struct measurement *m, int *source,
		int (*configure)(struct measurement *m, enum wait_source source));

/*
 * The same without the programs of wait.bpf.h, for a tool that does not time waits in this run. Does not report errors.
 */
int waits__load_without(struct measurement *m, int (*configure)(struct measurement *m, enum wait_source source));

#endif /* TALLY_RUN_WAITS_H */
