/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks in lines: where a task was when something happened. Each is kept once, by names, under a
 * number from 1 on, so that it can be shown again, and written to a file that is read elsewhere.
 */
#ifndef TALLY_OUT_CALL_STACK_H
#define TALLY_OUT_CALL_STACK_H

#include "base/types.h"
#include "report/report.h"

struct call_stack {
	struct report_frame *frame;     /* the innermost first; with their texts behind them */
	u32 n;
};

/* All zero is an empty one. */
struct call_stacks {
	struct call_stack *stack;       /* number 1 first */
	size_t n;
};

/* Adds a stack, whose texts are copied; its number is s->n then. Returns 0 or -ENOMEM. */
int call_stacks__add(struct call_stacks *s, const struct report_frame *frame, u32 n);

/* The stack of a number, from wherever it comes; NULL: there is none. */
const struct call_stack *call_stacks__find(const struct call_stacks *s, u32 number);
void call_stacks__free(struct call_stacks *s);

/*
 * "do_wait <- __do_sys_wait4 <- ...": the innermost frames, at most so many (0: all), escaped. To
 * be freed; NULL: no memory.
 */
char *call_stack__line(const struct call_stack *s, u32 most);

#endif /* TALLY_OUT_CALL_STACK_H */
