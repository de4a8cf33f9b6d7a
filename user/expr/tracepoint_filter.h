/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter on the fields of a tracepoint in the words of the kernel's own filter
 * (Documentation/trace/events.rst, "Event filtering"; kernel/trace/trace_events_filter.c), for events
 * that the kernel itself counts. The kernel compares a field with a constant; what goes beyond that
 * is refused with its place.
 */
#ifndef TALLY_EXPR_TRACEPOINT_FILTER_H
#define TALLY_EXPR_TRACEPOINT_FILTER_H

#include "expr/expr.h"
#include "types/tracefs.h"

/*
 * New memory in *filter. -EINVAL with *c about the text e was parsed of: a name that is no field of
 * the format (the hint lists those there are), a text compared with a number, ... ; -ENOENT: the
 * device node of a path is not there.
 */
int tracepoint_filter__make(char **filter, const struct expr *e, const struct tracepoint_format *format,
			    const char *event, struct complaint *c);

#endif /* TALLY_EXPR_TRACEPOINT_FILTER_H */
