/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports blocked time by stack, from the maps of bpf/lib/blocked.bpf.h.
 *
 * Stacks of the report consist of parts, the outermost caller first:
 *   by task     user, kernel
 *   by waker    user, kernel of the waker, without the tracer's own frames
 *   by both     user, kernel, --, the waker's in reverse: innermost frame first, its
 *               name last
 *   wall        [on-CPU] or [off-CPU: STATE], and the task's own stack
 * If the waker was an interrupt, the interrupted task is unrelated and is left out. Frames in brackets are notes, in
 * addition to those of stack/names.h:
 *   [still blocked]             the slice had not ended when the run did
 *   [blocked before the run]    the user part is no longer available
 *   [user part not taken]       the task is still blocked, or could not be stopped in time
 *   [interrupt]                 instead of the waker's name
 *   [not sampled]               on a CPU, without a later sample
 *
 * Values are ns; events are slices, and samples. A slice counts as a whole in the interval in which it ends; an
 * unfinished one counts in the last report.
 */
#ifndef TALLY_STACK_BLOCKED_H
#define TALLY_STACK_BLOCKED_H

#include "run/measurement.h"
#include "stack/stacks.h"

#include "bpf/lib/blocked.h"

struct blocked_part;
struct blocked_entry;

struct blocked_report {
	enum blocked_view view;
	bool by_state;
	bool wall;                      /* includes BLOCKED_ON_CPU, and each stack names its state */
	bool without_sleepers;          /* leave out tasks that slept through the whole run, and report how many */
	struct stacks *stacks;          /* already begun; says which parts were taken */
	/* The map's contents at the last read; resolved stacks and notes. All zero at first. */
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
	size_t nidle;                   /* entries that did not grow */
	bool stale;                     /* the last read did a turn (stack/store.h) */
	char sleepers[160];             /* note about the sleepers */
};

/* "sleep", "disk", ..., "on-CPU" */
const char *blocked_why_name(enum blocked_why why);

/*
 * Fills in events, counters and stacks: everything since the last call plus n unfinished slices,
 * largest first, at most top (0: all). The report's contents are valid until the next call. Returns
 * 0 or a negative errno.
 */
int blocked_report__make(struct blocked_report *b, const struct measurement *m, struct report *r,
			 const struct blocked_still *still, size_t n, size_t top);
void blocked_report__free(struct blocked_report *b);

/* Unfinished slices. All zero at first. */
struct blocked_stills {
	struct blocked_still *task;
	size_t n, room;
};

/*
 * Appends the output of a task iterator (struct blocked_still), run once all programs have stopped. On kernels without
 * iterators, appends nothing, and -v reports what is missing. Returns 0 or a negative errno.
 */
int blocked_stills__read(struct blocked_stills *s, struct bpf_program *prog);

#endif /* TALLY_STACK_BLOCKED_H */
