/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and units of stack values in profile files for other programs. */
#ifndef TALLY_OUT_STACK_VALUES_H
#define TALLY_OUT_STACK_VALUES_H

#include "report/report.h"

/* A stack value in one unit. */
struct stack_value {
	const char *type;       /* "samples"; not escaped */
	const char *unit;       /* "count", "nanoseconds" or "bytes" */
	u64 scale;              /* factor from the stack's value */
	u32 event;              /* with several events: index of the event whose stacks have this value; otherwise 0 */
};

#define MOST_STACK_VALUES (REPORT_MOST_EVENTS + 1)

/*
 * Stacks of clock samples have two values, the number of samples and the CPU time they represent; others have one. With
 * several events, each event has one or two. Returns the number of values, at most MOST_STACK_VALUES.
 */
size_t stack_values__of(const struct report_stacks *s, struct stack_value *value);

/* The value of a stack, capped at INT64_MAX, the limit of these file formats. */
u64 stack_value__number(const struct stack_value *v, u64 value);

#endif /* TALLY_OUT_STACK_VALUES_H */
