/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the rows of a report, cell by cell. The first failure (only -ENOMEM is possible) is kept
 * in err, and later calls do nothing. Callers need to test err only once, at the end.
 */
#ifndef TALLY_LIST_TABLE_H
#define TALLY_LIST_TABLE_H

#include "report/report.h"

struct table {
	struct report *report;
	struct report_row row;  /* under construction */
	int err;
};

/* Add cells to the row. Names are constants. Texts are copied; NULL means unknown. */
void table__text(struct table *t, const char *name, const char *text);
void table__number(struct table *t, const char *name, u64 number);
void table__signed(struct table *t, const char *name, s64 number);
void table__none(struct table *t, const char *name);
void table__format(struct table *t, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* An address, "0xffffffff81234567"; 0: unknown. */
void table__address(struct table *t, const char *name, u64 address);

/* Leaves the column of the last cell out of text output. */
void table__hide(struct table *t);

/* Adds the row to the report. */
void table__end(struct table *t);

/* Leaves columns that are empty in all rows out of text output. */
void table__hide_empty(struct report *r);

#endif /* TALLY_LIST_TABLE_H */
