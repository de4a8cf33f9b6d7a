/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and constants in expressions, other than the fields of a tracepoint. */
#ifndef TALLY_EXPR_FIELDS_H
#define TALLY_EXPR_FIELDS_H

#include "expr/expr.h"
#include "types/tracefs.h"

const struct tracepoint_field *field__find(const struct tracepoint_format *format, const char *name);

/* True if the field is an array of characters, fixed or dynamic (not a pointer). */
bool field_is_text(const struct tracepoint_field *f);
bool field_is_pointer(const struct tracepoint_field *f);

/* Complains that the name e is not a field of the event, and lists the fields. Returns -EINVAL. */
int field__complain(const struct tracepoint_format *format, const char *event, const struct expr *e,
		    struct complaint *c);

/* Symbolic names by which the event's own output format shows the numbers of a field. */
enum field_symbol_kind {
	FIELD_HAS_NO_SYMBOLS,
	FIELD_HAS_SYMBOLS,      /* a number has one name */
	FIELD_HAS_FLAGS,        /* each bit, or several bits together, has a name */
};

enum field_symbol_kind field__symbol_kind(const struct tracepoint_format *format, const char *field);
/* Calls visit for each symbol or flag until it returns non-zero; that value is returned. */
int field__each_symbol(const struct tracepoint_format *format, const char *field,
		       int (*visit)(void *arg, const char *name, u64 number), void *arg);
/* Finds the number that this field prints as name (vec == TIMER). False if there is none. */
bool field__symbol(const struct tracepoint_format *format, const char *field, const char *name, u64 *number);

/* Finds the kernel's device number of the device node at path e. Returns 0, -ENOENT, or -EINVAL (not a device). */
int expr__device(const struct expr *e, u64 *number, struct complaint *c);

#endif /* TALLY_EXPR_FIELDS_H */
