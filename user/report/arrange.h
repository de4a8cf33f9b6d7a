/* SPDX-License-Identifier: BSD-2-Clause */
/* Reorders an existing report by any column of its rows, or any figure of its groups. */
#ifndef TALLY_REPORT_ARRANGE_H
#define TALLY_REPORT_ARRANGE_H

#include "report/report.h"

/*
 * Returns the name of the report's sort column i, or NULL if there are no more. Sort columns are the numeric columns of
 * rows outside of the key, or the figures of histograms if there are several. A tree has none. The name is constant or
 * owned by the report.
 */
const char *arrange__column(const struct report *r, size_t i);

/*
 * Sorts rows or groups by a column, largest first, then reverses the order if reversed is set. If column is NULL or
 * does not exist, they are not sorted, only reversed. A tree is not changed. Rows without a value come last, followed
 * by totals.
 */
void arrange__sort(struct report *r, const char *column, bool reversed);

/*
 * Makes *view a view of the first top rows and groups (0: all) and the totals. The view shares all data with r except
 * the array of rows, which the caller frees. Returns 0 or -ENOMEM.
 */
int arrange__view(struct report *view, const struct report *r, size_t top);

/* Number of rows in the view of arrange__view(), without totals. */
size_t arrange__rows(const struct report *r, size_t top);

#endif /* TALLY_REPORT_ARRANGE_H */
