/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls by key (calls/counts.h) as rows of a report. */
#ifndef TALLY_SYSCOUNT_ROWS_H
#define TALLY_SYSCOUNT_ROWS_H

#include "cli/task_key.h"
#include "calls/counts.h"
#include "report/report.h"
#include "run/measurement.h"

/* Keys for --by in addition to those of tasks: syscall, errno (BY_SYSCALL, BY_ERRNO). */
extern const struct own_parts call_parts;

/* Optional columns, in addition to calls and errors. */
struct call_columns {
	bool times;
	bool running;           /* with times: also count calls in progress */
	bool one_unit;          /* one unit for all times of a column, not a suitable one for each */
};

/*
 * The column that --sort names, or NULL; *is_time: whether it is a time. call_orders lists them for
 * messages.
 */
const char *call_order(const char *text, bool *is_time);
void call_orders__complete(struct completion *c);
extern const char call_orders[];

/*
 * Adds a row for each key, sorted by order (NULL: by time if there are times, else by calls), at
 * most cli->top, and in text output a total. Sets r->events. Returns 0 or -ENOMEM.
 */
int calls__report(struct report *r, struct calls *set, const struct call_columns *columns,
		  const char *order, const struct measurement *m);

#endif /* TALLY_SYSCOUNT_ROWS_H */
