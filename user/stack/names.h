/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of a stack from addresses to names; equal ones are kept once. */
#ifndef TALLY_STACK_NAMES_H
#define TALLY_STACK_NAMES_H

#include "base/types.h"
#include "report/report.h"
#include "base/table.h"
#include "sym/source.h"
#include "sym/symbols.h"

#include "bpf/lib/stack.h"

struct stack_names {
	struct symbols *symbols;
	/* Frames by what they are called; indexes never change. */
	struct report_frame *frame;
	size_t n;
	struct table by_name;
	bool at_tracepoints;    /* see is_tracers_own() */
	bool lines;             /* frames are of a line in the source, and apart from others by that */
	bool inlined;           /* inlined functions are frames of their own */
};

/* What a stack is made of, the outermost frame first: the user's part, then the kernel's. */
struct stack_path {
	u32 n, room;
	bool is_mixed;          /* see struct symbol */
	bool is_unknown;        /* of a process of which nothing is known, or that has no code there */
	u32 *frame;             /* indexes into stack_names.frame */
	struct report_place *place;
};

/* All return 0 or a negative errno. */
int stack_names__init(struct stack_names *names);
void stack_names__free(struct stack_names *names);

/* Where no path refers to them any more: there are no frames, and indexes begin anew. */
void stack_names__forget_frames(struct stack_names *names);

/*
 * Resolves a stack (NULL: a lost one), by what its process had mapped when it was first seen. Where frames are
 * known to be missing, a frame of kind FRAME_NOTE says so in their place:
 *   [stack lost]    there was no room for it
 *   [user mode]     only the kernel's part was asked for, and the task was not there
 *   [no user stack] only the user's part was asked for, of a task that has none
 *   [deeper]        more callers than were kept
 *   [exiting]       the task had given its memory back, and the stack with it
 *   [incomplete]    the chain of frame pointers broke before the first function of the thread
 */
int stack_names__resolve(struct stack_names *names, const struct stack *stack, bool kernel,
			 struct stack_path *path);
void stack_path__free(struct stack_path *path);

/*
 * Is this kernel function one of those that a tracepoint calls to get to a tracer's program?
 * Whether the walk finds them depends on the kernel and on who else traces; where events are
 * tracepoints, they are taken off the inner end of stacks.
 */
bool is_tracers_own(const char *name);

/*
 * Is this where threads begin, so that a stack that ends here is whole? nuser: frames of its part.
 */
bool is_first_function(const struct symbol *symbol, u32 nuser);

#endif /* TALLY_STACK_NAMES_H */
