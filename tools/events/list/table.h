/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a report, cell by cell. The first failure (-ENOMEM is the only one) is remembered, and
 * later calls do nothing: it is looked at once, at the end.
 */
#ifndef TALLY_LIST_TABLE_H
#define TALLY_LIST_TABLE_H

#include "report/report.h"

struct table {
	struct report *report;
	struct report_row row;  /* being made */
	int err;
};

/* Cells of the row; names are constants. Texts are copied, NULL: not known. */
void table__text(struct table *t, const char *name, const char *text);
void table__number(struct table *t, const char *name, u64 number);
void table__signed(struct table *t, const char *name, s64 number);
void table__none(struct table *t, const char *name);
void table__format(struct table *t, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* An address, "0xffffffff81234567"; 0 is not known. */
void table__address(struct table *t, const char *name, u64 address);

/* The last cell is for machines: its column is left out of text. */
void table__hide(struct table *t);

/* Adds the row. */
void table__end(struct table *t);

/* Leaves columns in which no row has anything out of text. */
void table__hide_empty(struct report *r);

#endif /* TALLY_LIST_TABLE_H */
