/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates a filter on a tracepoint's fields to the language of the kernel's own filter
 * (Documentation/trace/events.rst, "Event filtering"; kernel/trace/trace_events_filter.c), for
 * events that the kernel itself counts. The kernel can only compare a field with a constant;
 * anything else is refused, with its position.
 */
#ifndef TALLY_EXPR_TRACEPOINT_FILTER_H
#define TALLY_EXPR_TRACEPOINT_FILTER_H

#include "expr/expr.h"
#include "types/tracefs.h"

/*
 * Sets *filter to an allocated string. -EINVAL with *c about the text that e was parsed from: a
 * name that is not a field of the format (the hint lists the fields), a text compared with a
 * number, ...; -ENOENT: the device node of a path does not exist.
 */
int tracepoint_filter__make(char **filter, const struct expr *e, const struct tracepoint_format *format,
			    const char *event, struct complaint *c);

#endif /* TALLY_EXPR_TRACEPOINT_FILTER_H */
