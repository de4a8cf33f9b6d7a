/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of one measurement over several intervals as one report over all of them: what the tool would have
 * printed, had it measured that long. Histograms, counts, sums and losses are exact. What was a figure of an
 * interval and cannot be had from several (a percentile in a table, a share of the time) is left empty; averages come of the sums; of
 * maxima the largest stays. A report about what there is at its end (struct report, standing) is that of the last.
 */
#ifndef TALLY_RECORD_MERGE_H
#define TALLY_RECORD_MERGE_H

#include "report/report.h"

struct merge;

/* NULL without memory. */
struct merge *merge__new(void);
void merge__free(struct merge *m);

/*
 * Adds what comes behind. Texts are copied, but for names of cells, texts of the head and frames: they have to
 * stay until the merge is freed. Returns 0 or -ENOMEM.
 */
int merge__add(struct merge *m, const struct report *r);

/*
 * How many were added, and all of them as one report, which is the merge's; it may be sorted and cut, after which nobody asks again. One
 * alone is as it was. NULL: none, or no memory.
 */
size_t merge__count(const struct merge *m);
struct report *merge__report(struct merge *m);

#endif /* TALLY_RECORD_MERGE_H */
