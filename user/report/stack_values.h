/* SPDX-License-Identifier: BSD-2-Clause */
/* What the values of stacks are called in the files of other programs, and what one is in each unit. */
#ifndef TALLY_OUT_STACK_VALUES_H
#define TALLY_OUT_STACK_VALUES_H

#include "report/report.h"

/* A stack's value in one unit. */
struct stack_value {
	const char *type;       /* "samples"; not escaped */
	const char *unit;       /* "count", "nanoseconds" or "bytes" */
	u64 scale;              /* by this the value is multiplied */
};

#define MOST_STACK_VALUES 2

/* Samples by the clock have two, their number and the CPU time they stand for; others have one. Returns how many. */
size_t stack_values__of(const struct report_stacks *s, struct stack_value *value);

/* What a stack has; what goes beyond INT64_MAX, which is the largest value of these files, is that. */
u64 stack_value__number(const struct stack_value *v, u64 value);

#endif /* TALLY_OUT_STACK_VALUES_H */
