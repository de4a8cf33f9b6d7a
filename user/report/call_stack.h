/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of single events: where a task was when the event happened. Each distinct stack is kept once, by the names of
 * its frames, and has a number from 1 up, so that lines can refer to it and it can be written to a file that is read on
 * another machine.
 */
#ifndef TALLY_OUT_CALL_STACK_H
#define TALLY_OUT_CALL_STACK_H

#include "base/types.h"
#include "report/report.h"

struct call_stack {
	struct report_frame *frame;     /* innermost first; owned, together with their texts */
	u32 n;
};

/* Initialise to all zeros: empty. */
struct call_stacks {
	struct call_stack *stack;       /* stack[0] has number 1 */
	size_t n;
};

/* Adds a stack and copies its texts; its number is the new s->n. Returns 0 or -ENOMEM. */
int call_stacks__add(struct call_stacks *s, const struct report_frame *frame, u32 n);

/* The stack with that number, which may be untrusted; NULL if there is none. */
const struct call_stack *call_stacks__find(const struct call_stacks *s, u32 number);
void call_stacks__free(struct call_stacks *s);

/*
 * "do_wait <- __do_sys_wait4 <- ...": the innermost frames, at most this many (0: all), escaped.
 * The caller frees it; NULL: no memory.
 */
char *call_stack__line(const struct call_stack *s, u32 most);

/*
 * One frame: "malloc (libc.so.6)"; functions of the kernel have no module. brief: names are shortened by
 * report/short_name.h. Otherwise as call_stack__line().
 */
char *call_stack__frame(const struct call_stack *s, u32 i, bool brief);

#endif /* TALLY_OUT_CALL_STACK_H */
