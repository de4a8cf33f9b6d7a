/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run that handles single switches, from its options to its records, which are measured now
 * (bpf/sched/timehist.bpf.c) or read from a file. The tool decides what to show.
 *
 *   session_rows        the options common to these tools
 *   session__check()    checks that the options fit together
 *   SESSION_HOOKS       hooks that call begin(), then take() with each record, and report()
 */
#ifndef TALLY_SCHED_SESSION_H
#define TALLY_SCHED_SESSION_H

#include "cli/option_row.h"

#include "run/ring.h"
#include "run/measurement.h"
#include "stack/callers.h"
#include "sched/file.h"
#include "sched/worst.h"

#include "bpf/lib/switches.h"

struct timehist_bpf;

/* The options of all tools with a session. */
extern const struct option_row session_rows[];

struct session {
	/* Options: */
	const char *record;             /* --record FILE, which suppresses other output */
	const char *read;               /* --read */
	int source;                     /* enum wait_source or WAIT_SOURCE_AUTO */
	/* Set by the tool. Recordings contain everything except the worst. */
	const char *value;
	struct cli *cli;                /* set by session__check() */
	bool wakeups, migrations;
	bool arrivals;                  /* also switches to tasks in scope */
	u32 worst;                      /* keep only this many; 0: take all records */
	enum switches_order worst_by;
	struct callers callers;         /* the tool includes the options of this member */
	bool has_lines;                 /* the tool shows switches as lines, not as a table */
	/* The hooks receive the session, which is the first member of the tool's own state. */
	/*
	 * Called before the first record, with the number of CPUs, and the offset of record times
	 * to the wall clock.
	 */
	void (*begin)(struct session *s, struct writer *w, u32 cpus, u64 to_wall_clock);
	/*
	 * Where begin() has stored this offset, if the tool shows times. While measuring, it follows the wall clock,
	 * which may be set.
	 */
	u64 *to_wall_clock;
	/* Called for each record. Returns 0 or a negative errno. */
	int (*take)(struct session *s, struct writer *w, const struct switches_record *r);
	/* Called at the end of each interval: fills in rows and events. NULL if there are no rows. */
	int (*report)(struct session *s, struct report *r);

	/* The stacks of the records, by number; valid from begin() on. */
	const struct call_stacks *stacks;

	/* Private. */
	u64 taken;                      /* records since the last report */
	struct writer *writer;
	struct timehist_bpf *bpf;
	struct ring *ring;
	struct switches_file *file;
	bool file_full;
	struct loss_counters losses_before;
};

/* The formats for the spec. Metrics are missing, because lines have none. */
#define SESSION_FORMATS "text, json, csv, html"

/* Checks that the options fit together, and reports conflicts. Returns 0 or -EINVAL. */
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
 * To be called from report(): reads the longest waits that were kept, longest first, at most
 * session->worst. The caller frees them. Measuring ends with this call.
 */
int session__read_worst(struct session *s, struct worst *w);

/*
 * Describes a stack of one of the worst, with at most `most` frames (0: all). *text is allocated,
 * or NULL if no stack was taken. Returns 0 or a negative errno.
 */
int session__describe_stack(struct session *s, const struct switches_worst *w,
			    enum switches_taken which, u32 most, char **text);

#endif /* TALLY_SCHED_SESSION_H */
