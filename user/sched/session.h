/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run about single switches, from what was asked for to its records: measured now
 * (bpf/timehist.bpf.c), or read from a file. What is shown of them is the tool's.
 *
 *   session_argp        options that all such tools have, a child of the tool's own
 *   session__check()    do they fit the others?
 *   session__run()      the whole run; calls begin(), then take() with each record, then report()
 */
#ifndef TALLY_SCHED_SESSION_H
#define TALLY_SCHED_SESSION_H

#include <argp.h>

#include "run/ring.h"
#include "run/run.h"
#include "sched/callers.h"
#include "sched/file.h"
#include "sched/worst.h"

#include "bpf/switches.h"

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
	const char *tool, *value;
	struct cli *cli;
	bool wakeups, migrations;
	bool arrivals;                  /* switches to tasks in scope, too */
	u32 worst;                      /* only so many are kept; 0: all are taken */
	enum switches_order worst_by;
	struct callers callers;         /* its options are the tool's */
	/* Before the first record: CPUs, and what is to be added to times. */
	void (*begin)(void *context, struct writer *w, u32 cpus, u64 to_wall_clock);
	/* With each record: returns 0 or a negative errno. */
	int (*take)(void *context, struct writer *w, const struct switches_record *r);
	/* At the end of each interval; fills in rows and events. NULL: there are no rows. */
	int (*report)(void *context, struct report *r);
	void *context;

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
int session__check(const struct session *s);

/* Returns the exit code. */
int session__run(struct session *s);

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
