/* SPDX-License-Identifier: BSD-2-Clause */
/* Reorders an existing report by any column of its rows, or any figure of its groups. */
#ifndef TALLY_REPORT_ARRANGE_H
#define TALLY_REPORT_ARRANGE_H

#include "report/report.h"

/*
 * The name of column i that a report can be sorted by, or NULL if there are no more: numbers of rows that are not part
 * of a key, or figures of histograms if there are several. A tree has none. The name is constant or belongs to the
 * report.
 */
const char *arrange__column(const struct report *r, size_t i);

/*
 * Sorts rows or groups by that column, largest first, and reverses the order if reversed. If column is NULL or missing,
 * they keep their order before that. A tree is not changed. Rows without the value come last, followed by totals.
 */
void arrange__sort(struct report *r, const char *column, bool reversed);

/*
 * Makes *view the first top rows and groups (0: all) and the totals. It shares all data with r except the array of
 * rows, which the caller frees. Returns 0 or -ENOMEM.
 */
int arrange__view(struct report *view, const struct report *r, size_t top);

/* Number of rows in such a view, without totals. */
size_t arrange__rows(const struct report *r, size_t top);

#endif /* TALLY_REPORT_ARRANGE_H */
