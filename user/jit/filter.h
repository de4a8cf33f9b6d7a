/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters on, and values of, the fields of a tracepoint as BPF instructions. A filter is the body of a function that gets the
 * tracepoint's context (its record, as the format file lays it out) and returns 1 where the filter
 * holds, 0 where it does not, and a negative number where something could not be read.
 *
 * Numbers are compared as numbers: a signed field with an unsigned one by value, not by bits.
 * Arithmetic is in 64 bits, as in C. Besides the fields, comm, pid (of the process), tid, uid and cpu
 * are known, of the current task.
 */
#ifndef TALLY_JIT_FILTER_H
#define TALLY_JIT_FILTER_H

#include "expr/expr.h"
#include "jit/code.h"
#include "types/tracefs.h"

/*
 * Emits into *code (zeroed), to be freed by code__free() in any case. -EINVAL with *c about the text e
 * was parsed of, -EOPNOTSUPP for what the kernel's own filter can do and this cannot (the common
 * fields), -ENOENT for a device that is not there.
 */
int filter__compile(struct code *code, const struct expr *e, const struct tracepoint_format *format,
		    const char *event, struct complaint *c);

/*
 * The value of a number, as the body of a function (context, u64 *value) that returns 0, 1 if the
 * value is negative (and then does not store it), or a negative number as above. Errors likewise.
 */
int value__compile(struct code *code, const struct expr *e, const struct tracepoint_format *format,
		   const char *event, struct complaint *c);

/* The body of a filter that lets everything through. Returns 0 or a negative errno. */
int filter__accept(struct code *code);

#endif /* TALLY_JIT_FILTER_H */
