/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run about single switches, from its options to its records: measured now
 * (bpf/sched/timehist.bpf.c), or read from a file. The tool decides what to show of them.
 *
 *   session_rows        options that all such tools have
 *   session__check()    checks that the options fit together
 *   SESSION_HOOKS       call begin(), then take() with each record, and report()
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

/* Options of all tools with a session. */
extern const struct option_row session_rows[];

struct session {
	/* Options. */
	const char *record;             /* --record FILE; nothing is shown then */
	const char *read;               /* --read */
	int source;                     /* enum wait_source or WAIT_SOURCE_AUTO */
	/* Set by the tool; recordings contain everything except the worst. */
	const char *value;
	struct cli *cli;                /* set by session__check() */
	bool wakeups, migrations;
	bool arrivals;                  /* also switches to tasks in scope */
	u32 worst;                      /* only this many are kept; 0: all records are taken */
	enum switches_order worst_by;
	struct callers callers;         /* the tool includes its options */
	bool has_lines;                 /* it shows switches, and no table of them */
	/* The hooks get the session, the first member of the tool's own state. */
	/*
	 * Before the first record: the number of CPUs, and the offset of its times to the wall
	 * clock.
	 */
	void (*begin)(struct session *s, struct writer *w, u32 cpus, u64 to_wall_clock);
	/* Where begin() has put that offset, if it shows times: follows the clock while measuring, which may be set. */
	u64 *to_wall_clock;
	/* For each record: returns 0 or a negative errno. */
	int (*take)(struct session *s, struct writer *w, const struct switches_record *r);
	/* At the end of each interval; fills in rows and events. NULL: there are no rows. */
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

/* Spec's formats: lines have no metrics. */
#define SESSION_FORMATS "text, json, csv, html"

/* Checks that the options fit together, and reports what does not. Returns 0 or -EINVAL. */
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
 * Called from report(): the longest ones kept, longest first, at most session->worst; the caller
 * frees them. Measuring ends with this call.
 */
int session__read_worst(struct session *s, struct worst *w);

/*
 * Describes a stack of one of the worst, at most so many frames (0: all). *text is allocated; NULL:
 * no stack was taken. Returns 0 or a negative errno.
 */
int session__describe_stack(struct session *s, const struct switches_worst *w,
			    enum switches_taken which, u32 most, char **text);

#endif /* TALLY_SCHED_SESSION_H */
