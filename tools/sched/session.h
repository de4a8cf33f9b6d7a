/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run about single switches, from what was asked for to its records: measured now
 * (bpf/sched/timehist.bpf.c), or read from a file. What is shown of them is the tool's.
 *
 *   session_argp        options that all such tools have, a child of the tool's own
 *   session__check()    do they fit the others?
 *   session__run()      the whole run; calls begin(), then take() with each record, then report()
 */
#ifndef TALLY_SCHED_SESSION_H
#define TALLY_SCHED_SESSION_H

#include <argp.h>

#include "run/ring.h"
#include "run/measurement.h"
#include "sched/callers.h"
#include "sched/file.h"
#include "sched/worst.h"

#include "bpf/lib/switches.h"

struct timehist_bpf;

/* Options of all tools that have a session; keys from SESSION_KEYS on. */
#define SESSION_KEYS 0x1100
extern const struct argp session_argp;

struct session {
	/* Options. */
	const char *record;             /* --record, a file; nothing is shown then */
	const char *read;               /* --read */
	int source;                     /* enum wait_source or WAIT_SOURCE_AUTO */
	/* Set by the tool; what is recorded has all but the worst. */
	const char *value;
	struct cli *cli;                /* set by session__check() */
	bool wakeups, migrations;
	bool arrivals;                  /* switches to tasks in scope, too */
	u32 worst;                      /* only so many are kept; 0: all are taken */
	enum switches_order worst_by;
	struct callers callers;         /* its options are the tool's */
	/* Before the first record: CPUs, and what is to be added to times. */
	/* They are given the session, which the tool's own state begins with. */
	void (*begin)(struct session *s, struct writer *w, u32 cpus, u64 to_wall_clock);
	/* With each record: returns 0 or a negative errno. */
	int (*take)(struct session *s, struct writer *w, const struct switches_record *r);
	/* At the end of each interval; fills in rows and events. NULL: there are no rows. */
	int (*report)(struct session *s, struct report *r);

	/* Those of the records, by number: good from begin() on. */
	const struct call_stacks *stacks;

	/* Its own. */
	u64 taken;                      /* records since the last report */
	struct writer *writer;
	struct timehist_bpf *bpf;
	struct ring *ring;
	struct switches_file *file;
	bool file_full;
	struct loss_counters losses_before;
};

/* Tells whether the options fit each other; says what does not. Returns 0 or -EINVAL. */
int session__check(struct session *s, struct cli *cli);

/* The hooks of the tools (run/measurement.h), whose m->own begins with the struct session. */
const char *session__alone(const void *own);
int session__instead(const struct tool_spec *spec, void *own, struct cli *cli);
int session__load(struct measurement *m);
int session__attach(struct measurement *m);
int session__report(struct measurement *m, struct report *r);
int session__end(struct measurement *m, int err);

extern const struct skeleton_type timehist_skeleton;

#define SESSION_HOOKS                                                                              \
	.skeleton = &timehist_skeleton,                                                            \
	.alone = session__alone, .instead = session__instead, .load = session__load,               \
	.attach = session__attach,                                                                 \
	.report = session__report, .end = session__end

/*
 * From report(): the worst that were kept, the longest first, at most session->worst; to be freed.
 * Nothing is measured any more after that.
 */
int session__read_worst(struct session *s, struct worst *w);

/*
 * One of the stacks of the worst, at most so many frames (0: all), as text to be freed; NULL: it
 * was not taken. Returns 0 or a negative errno.
 */
int session__describe_stack(struct session *s, const struct switches_worst *w,
			    enum switches_taken which, u32 most, char **text);

#endif /* TALLY_SCHED_SESSION_H */
