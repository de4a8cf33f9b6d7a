/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callchains of single events. Each distinct stack is stored once, with the names of its frames. It has a number,
 * counted from 1, by which lines refer to it, so stacks can be written to a file and read on another machine.
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

/* Adds a stack and copies its texts. Its number is the new s->n. Returns 0 or -ENOMEM. */
int call_stacks__add(struct call_stacks *s, const struct report_frame *frame, u32 n);

/* Returns the stack with this number, or NULL if none has it. number may be untrusted. */
const struct call_stack *call_stacks__find(const struct call_stacks *s, u32 number);
void call_stacks__free(struct call_stacks *s);

/*
 * Returns "do_wait <- __do_sys_wait4 <- ...": the innermost frames, at most most of them (0: all),
 * escaped. The caller frees the text. NULL without memory.
 */
char *call_stack__line(const struct call_stack *s, u32 most);

/*
 * Returns one frame: "malloc (libc.so.6)"; kernel functions have no module. brief: shortens names with
 * report/short_name.h. Otherwise like call_stack__line().
 */
char *call_stack__frame(const struct call_stack *s, u32 i, bool brief);

#endif /* TALLY_OUT_CALL_STACK_H */
