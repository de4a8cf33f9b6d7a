/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of single events (-g of streams): turns stacks in the kernel's maps into numbered stacks of names. Each stack
 * is resolved when first seen, with the kernel and user symbols of that time.
 *
 *   caller_rows          options; -g sets c->wanted
 *   callers__check()     after parsing
 *   callers__prepare()   between open and load
 *   callers__begin()     between load and attach
 *   callers__number()    for each record
 *   callers__free()
 */
#ifndef TALLY_STACK_CALLERS_H
#define TALLY_STACK_CALLERS_H

#include "cli/option_row.h"
#include "report/call_stack.h"
#include "run/measurement.h"
#include "stack/stacks.h"

/* Initialise to all zeros, except for the tool's choices. */
struct callers {
	/* Choices of the tool. */
	bool both;                      /* without -K and -U, show both parts; false: only the kernel's */
	bool at_switches;               /* leaves out the functions in which every context switch ends */
	/* Options. */
	bool wanted;                    /* -g */
	bool kernel, user;              /* -K, -U: parts given */
	u64 most_frames;                /* --max-depth: limit of frames shown; 0: not given */
	/* Private. */
	struct stacks stacks;
	struct call_stacks all;
	struct stack_id *id;            /* one for each stack in all */
	struct table by_id;             /* of stacks that were resolved without interruption */
	bool interrupted;
};

/* -g, -K, -U, --max-depth: options of a struct callers. */
extern const struct option_row caller_rows[];

/*
 * Checks the combination of options, and the depth against the kernel's limit. Returns 0, or -EINVAL after reporting
 * the error.
 */
int callers__check(struct callers *c);

/*
 * Writes the constants of the opened object: its scope, and "take", the parts of stacks. Returns 0 or a negative errno.
 */
int callers__prepare(struct callers *c, const struct measurement *m, struct bpf_object *obj);

/*
 * Also fills the scope. Sets m->watch_fd, which becomes readable when fd is readable or when stacks__watch() must be
 * called. Returns 0 or a negative errno.
 */
int callers__begin(struct callers *c, struct measurement *m, int fd);

/* Finds the number of a stack. *is_new: the stack is new. Returns 0 or a negative errno. */
int callers__number(struct callers *c, const struct stack_id *id, u32 *number, bool *is_new);

/*
 * Same for a line: *stack is NULL if no stack was taken. Returns 0 or a negative errno; -EINTR (unless is_last) if a
 * signal interrupted symbolization: show the record after the signal has been handled.
 */
int callers__find(struct callers *c, const struct stack_id *id, bool is_last, const struct call_stack **stack);

/* True if a signal has interrupted symbolization since the last call. The next request symbolizes again. */
bool callers__take_interrupted(struct callers *c);
void callers__free(struct callers *c);

#endif /* TALLY_STACK_CALLERS_H */
