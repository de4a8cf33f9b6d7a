/* SPDX-License-Identifier: BSD-2-Clause */
/* Another order of a report that is there already: by any column of its rows or figure of its groups. */
#ifndef TALLY_REPORT_ARRANGE_H
#define TALLY_REPORT_ARRANGE_H

#include "report/report.h"

/*
 * The name of column i that a report can be sorted by, NULL if there are no more: numbers of rows that
 * are no part of a key; figures of histograms, if there are several. A tree has none. The name is the report's or
 * constant.
 */
const char *arrange__column(const struct report *r, size_t i);

/*
 * Sorts rows or groups by that column (NULL, or not there: as they are), largest first, and turns the
 * order over if reversed. A tree stays as it is. Rows without the value come last, totals behind these.
 */
void arrange__sort(struct report *r, const char *column, bool reversed);

/*
 * Makes *view the first top rows and groups (0: all) and the totals. It shares everything with r but
 * the array of rows, which the caller frees. Returns 0 or -ENOMEM.
 */
int arrange__view(struct report *view, const struct report *r, size_t top);

/* Number of rows of such a view, without totals. */
size_t arrange__rows(const struct report *r, size_t top);

#endif /* TALLY_REPORT_ARRANGE_H */
