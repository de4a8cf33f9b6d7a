/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How readers treat a cell, depending on its role (enum field_role). Rows of several reports that have equal keys are
 * merged into one, for recordings and for comparisons: counters are added, minima and maxima compared, means and
 * percentages computed from the added columns. Other figures are kept if all are equal, and become empty otherwise.
 */
#ifndef TALLY_REPORT_ROLE_H
#define TALLY_REPORT_ROLE_H

#include "report/report.h"

/* "counter"; NULL for ROLE_UNSAID. */
const char *field_role_name(enum field_role role);

/* Returns ROLE_UNSAID for NULL or an unknown name. */
enum field_role field_role_named(const char *name);

/* Whether the field is a key, or a label of one. */
static inline bool field_is_key(const struct field *f)
{
	return f->role == ROLE_KEY || f->role == ROLE_LABEL;
}

/* Whether the field is a number that is meaningful by itself, known or not: a sort column or a metric. */
static inline bool field_is_figure(const struct field *f)
{
	return !f->text && f->role >= ROLE_COUNTER && f->role <= ROLE_PERCENT;
}

/* Returns the cell of that name, or NULL. */
struct field *report_row__cell(const struct report_row *row, const char *name);

/*
 * Adds the cells of row to the cells of the same name in sum, except keys, which are equal. Copies cells that sum does
 * not have. Means are correct only after report_row__derive(). Returns 0 or -ENOMEM.
 */
int report_row__combine(struct report_row *sum, const struct report_row *row);

/*
 * Computes means and percentages from their columns. A result is empty if one of its columns is unknown. The cell is
 * left unchanged if the table lacks one of them.
 */
void report_row__derive(struct report_row *row, u64 duration_ns);

/*
 * Stores the sum of the columns that a cell names in "of" or "per". Returns false if one of them is unknown or missing
 * in the row.
 */
bool report_row__operand(const struct report_row *row, const char *columns, double *sum);

#endif /* TALLY_REPORT_ROLE_H */
