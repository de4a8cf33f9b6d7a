/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges reports of one measurement over several intervals into the report that the tool would have
 * made for the whole time. Histograms, counts, sums and losses are exact, and so are percentiles and
 * shares of the time in tables made of histograms. Averages are recomputed from sums, maxima are kept,
 * and other figures that cannot be merged are left empty. Reports of the state at their end (struct
 * report, standing) are taken from the last interval.
 */
#ifndef TALLY_RECORD_MERGE_H
#define TALLY_RECORD_MERGE_H

#include "report/report.h"

struct merge;

/* Returns NULL if out of memory. */
struct merge *merge__new(void);
void merge__free(struct merge *m);

/*
 * Adds the next report. Copies its texts, except names of cells, texts of the head and frames,
 * which must outlive the merge. Returns 0 or -ENOMEM.
 */
int merge__add(struct merge *m, const struct report *r);

/*
 * Return the number of reports added, and the merged report, which is owned by the merge. The caller
 * may sort and truncate it, but must not request it again then. A single report is unchanged. NULL if
 * none was added, or without memory.
 */
size_t merge__count(const struct merge *m);
struct report *merge__report(struct merge *m);

/*
 * Makes the total of the rows of a report, for text: counters and histograms add up, means and shares are computed from
 * these, and figures that do not add up are empty unless all are equal. The caller frees the row. Returns 0 or -ENOMEM.
 */
int merge__total(const struct report *r, struct report_row *total);

#endif /* TALLY_RECORD_MERGE_H */
