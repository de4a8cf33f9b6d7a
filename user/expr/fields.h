/* SPDX-License-Identifier: BSD-2-Clause */
/* What the names and constants of an expression mean beside the fields of a tracepoint. */
#ifndef TALLY_EXPR_FIELDS_H
#define TALLY_EXPR_FIELDS_H

#include "expr/expr.h"
#include "types/tracefs.h"

const struct tracepoint_field *field__find(const struct tracepoint_format *format, const char *name);

/* An array of characters, of fixed or any length; not a pointer to some. */
bool field_is_text(const struct tracepoint_field *f);
bool field_is_pointer(const struct tracepoint_field *f);

/* The name e is no field of the event: says so, and which there are. Returns -EINVAL. */
int field__complain(const struct tracepoint_format *format, const char *event, const struct expr *e,
		    struct complaint *c);

/* The number that the event's own output shows as name in this field (vec == TIMER). */
bool field__symbol(const struct tracepoint_format *format, const char *field, const char *name, u64 *number);

/* The kernel's number of the device node e is the path of. 0, -ENOENT, -EINVAL (no device). */
int expr__device(const struct expr *e, u64 *number, struct complaint *c);

#endif /* TALLY_EXPR_FIELDS_H */
