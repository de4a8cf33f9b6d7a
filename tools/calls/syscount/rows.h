/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls by key (calls/counts.h) as rows of a report. */
#ifndef TALLY_SYSCOUNT_ROWS_H
#define TALLY_SYSCOUNT_ROWS_H

#include "cli/task_key.h"
#include "calls/counts.h"
#include "report/report.h"
#include "run/measurement.h"

/* What --by takes beside the parts of task keys: syscall, errno (BY_SYSCALL, BY_ERRNO). */
extern const struct own_parts call_parts;

/* Which columns there are, beside calls and errors. */
struct call_columns {
	bool times;
	bool running;           /* of those: calls that go on */
	bool one_unit;          /* times are in that of their column, else in the one that fits */
};

/*
 * The column that --sort names, NULL if there is none; *is_time: it is one of times. call_orders
 * lists them for people.
 */
const char *call_order(const char *text, bool *is_time);
extern const char call_orders[];

/*
 * Adds a row for each key, by order (NULL: by time where there are times, else by calls), the first
 * cli->top of them, and in text one of all together. Sets r->events. 0 or -ENOMEM.
 */
int calls__report(struct report *r, const struct calls *set, const struct call_columns *columns,
		  const char *order, const struct measurement *m);

#endif /* TALLY_SYSCOUNT_ROWS_H */
