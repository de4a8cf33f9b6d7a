/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offcputime, wakeuptime and offwaketime: blocked time by stack. They are three views (enum
 * blocked_view) of what bpf/sched/offcputime.bpf.c sums up, with the same options.
 *
 * Stacks of the report are put together from parts, the outermost caller first:
 *   by task     user, kernel
 *   by waker    user, kernel of the waker, without the tracer's own frames
 *   by both     user, kernel, --, the waker's the other way round: its innermost frame first, its
 *               name last
 * Where an interrupt was the waker, what it interrupted has nothing to do with it and is left out.
 * Frames in brackets are notes, beside those of stack/names.h:
 *   [still blocked]             the slice had not ended at the end of the run
 *   [blocked before the run]    its user's part cannot be known any more
 *   [user part not taken]       of a task that is still blocked, or was not held up in time
 *   [interrupt]                 the waker's name
 *
 * Values are ns; events are slices. A slice counts where it ends, as a whole; one that does not end
 * counts in the last report.
 */
#ifndef TALLY_STACK_BLOCKED_H
#define TALLY_STACK_BLOCKED_H

#include "run/measurement.h"
#include "sched/kicks.h"
#include "stack/options.h"
#include "stack/stacks.h"

#include "bpf/sched/offcputime.h"

/*
 * --- for blocked.c: from the map to the report -------------------------------------------------
 */

struct blocked_part;
struct blocked_entry;

struct blocked_report {
	enum blocked_view view;
	bool by_state;
	struct stacks *stacks;          /* begun; its parts say what was taken */
	/* What the map held at the last read; the stacks and notes that were resolved. All zero at
	 * first. */
	struct blocked_entry *entry;
	size_t nentries;
	struct table by_key;
	struct blocked_part *part;
	size_t nparts;
	struct table by_stack;
	char **note;
	size_t nnotes;
	struct table by_note;
	struct report_frame *frame;     /* of the last report */
	size_t nidle;                   /* entries that had not grown */
	bool stale;                     /* the last read took a turn (stack/store.h) */
};

/* "sleep", "disk", ... */
const char *blocked_why_name(enum blocked_why why);

/*
 * Fills in events, counters and stacks: what came since the last call and, besides, what goes on (n
 * of them), the largest first, no more than top (0: all). What is in the report lives until the
 * next call. Returns 0 or a negative errno.
 */
int blocked_report__make(struct blocked_report *b, const struct measurement *m, struct report *r,
			 const struct blocked_still *still, size_t n, size_t top);
void blocked_report__free(struct blocked_report *b);

/*
 * --- the tools ---------------------------------------------------------------------------------
 */

struct blocked {
	enum blocked_view view;
	struct stack_options options;
	u64 min_ns, max_ns;
	u32 wanted;                     /* a bit for each enum blocked_why */
	char *by;                       /* --by without "state" */
	struct offcputime_bpf *bpf;
	struct stacks stacks;
	struct blocked_report report;
	struct kicks kicks;
	u64 began_ns;                   /* CLOCK_MONOTONIC */
	u64 reports;
	bool ended;
};

/* The options and the hooks of these tools; m->own is the struct blocked, which init() makes one of a view. */
extern const struct argp blocked_argp;
extern const struct skeleton_type offcputime_skeleton;

void blocked__init(struct blocked *b, enum blocked_view view);
int blocked__check(void *own, struct cli *cli);
int blocked__open(struct measurement *m);
int blocked__attach(struct measurement *m);
int blocked__report(struct measurement *m, struct report *r);
void blocked__free(void *own);

#define BLOCKED_GROUPS                                                                             \
	(CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_TIMES)
#define BLOCKED_HOOKS                                                                              \
	.skeleton = &offcputime_skeleton, .check = blocked__check, .open = blocked__open, .attach = blocked__attach,                 \
	.report = blocked__report, .free = blocked__free

#endif /* TALLY_STACK_BLOCKED_H */
