/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of tasks that leave a CPU (timehist -g), from the kernel's maps to numbers of stacks
 * by names. Each is resolved when it is first seen, so that its names are those of the kernel and
 * the programs that ran then.
 *
 *   callers__check()     after parsing
 *   callers__prepare()   between open and load
 *   callers__begin()     between load and attach
 *   callers__number()    with each record
 *   callers__free()
 */
#ifndef TALLY_SCHED_CALLERS_H
#define TALLY_SCHED_CALLERS_H

#include "report/call_stack.h"
#include "run/measurement.h"
#include "stack/stacks.h"

struct callers {
	/* Options. */
	bool wanted;                    /* -g */
	bool kernel, user;              /* parts that were named; none: the kernel's */
	u64 most_frames;                /* shown; 0: not said */
	/* Its own. */
	struct stacks stacks;
	struct call_stacks all;
	struct stack_id *id;            /* of each of all */
	struct table by_id;
};

/* Checks the depth against what the kernel walks: 0, or -EINVAL after saying what is wrong. */
int callers__check(struct callers *c);

/* Sets the constants of the opened object, the scope too; *take is what to take. 0 or -errno. */
int callers__prepare(struct callers *c, const struct measurement *m, struct bpf_object *obj);

/*
 * Fills the scope, too. run->watch_fd is taken: it can be read when fd can, or when stacks__watch()
 * should be called. Returns 0 or a negative errno.
 */
int callers__begin(struct callers *c, struct measurement *m, int fd);

/*
 * The number of a stack; *is_new: it has been seen for the first time. Returns 0 or a negative
 * errno.
 */
int callers__number(struct callers *c, const struct stack_id *id, u32 *number, bool *is_new);
void callers__free(struct callers *c);

#endif /* TALLY_SCHED_CALLERS_H */
