/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/wait.bpf.h: which of its two sources times waits, and states of tasks
 * from before the run.
 */
#ifndef TALLY_RUN_WAITS_H
#define TALLY_RUN_WAITS_H

#include <argp.h>
#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "run/course.h"

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
 * On the opened object: which of the programs of wait.bpf.h are loaded, and how states are kept.
 * The bools are the object's constants of those names. 0 or a negative errno.
 */
int waits__prepare(struct bpf_object *obj, const struct host *host, enum wait_source source,
		   bool *have_prev_state, bool *have_task_storage);

/*
 * Loads with the source asked for, or with the first one that can be had; *source becomes it.
 * load() opens, configures and loads the object, and has left nothing behind when it fails. Says
 * what is wrong. Returns 0 or a negative errno.
 */
int waits__load(struct run *run, int *source,
		int (*load)(void *context, struct run *run, enum wait_source source),
		void *context);

/*
 * The same as a course's load(): open() opens and configures for a source, as a course's does; what
 * it opened before, for another one, it is to destroy first. Sets c->source.
 */
int waits__load_course(struct course *c, struct run *run, int *source,
		       int (*open)(struct course *c, struct run *run, enum wait_source source));

/*
 * Runs a program of iter/task over all tasks; best effort. Returns 0, or a negative errno where the
 * kernel has no such iterator.
 */
int tasks__visit(struct bpf_program *prog);

#endif /* TALLY_RUN_WAITS_H */
