/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/sched/wait.bpf.h: which of its two sources times waits, and states of tasks
 * from before the run.
 */
#ifndef TALLY_RUN_WAITS_H
#define TALLY_RUN_WAITS_H

#include <argp.h>
#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "run/measurement.h"

/* Where the timestamps come from. Their numbers are in files of switches. */
enum wait_source {
	WAIT_ACCOUNTING,
	WAIT_WAKEUP,
	WAIT_SOURCES,
};

#define WAIT_SOURCE_AUTO (-1)

struct wait_source_text {
	const char *name;       /* for --source */
	const char *text;       /* for the report's header */
	const char *caveat;     /* or NULL */
};
extern const struct wait_source_text wait_sources[WAIT_SOURCES];

/*
 * The option --source, a child of the tool's own argp. Its input is an int, which becomes an enum
 * wait_source or WAIT_SOURCE_AUTO.
 */
#define WAIT_SOURCE_KEY 0x1200
extern const struct argp wait_source_argp;

/* Fills in what a report says of the source that was loaded. */
void waits__describe(enum wait_source source, struct report *r);

/*
 * For a tool that is no more than that: m->own is a struct waits, and its spec has WAITS_HOOKS.
 */
struct waits {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
};

void waits__init(void *own);
int waits__open_and_load(struct measurement *m);

#define WAITS_HOOKS                                                                                \
	.own_size = sizeof(struct waits), .init = waits__init, .load = waits__open_and_load

/*
 * As a measurement's load(): with the source asked for, or with the first one that can be had; *source becomes
 * it. For each that is tried, the spec's skeleton is opened anew, configure(), if there is one, sets what
 * is the tool's own, and it is loaded with the programs of wait.bpf.h that go with the source. Sets
 * m->source. Says what is wrong. Returns 0 or a negative errno.
 */
int waits__load(struct measurement *m, int *source,
		int (*configure)(struct measurement *m, enum wait_source source));

#endif /* TALLY_RUN_WAITS_H */
