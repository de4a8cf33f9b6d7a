/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two saved runs of one tool, before and after a change.
 *
 * Histograms: for each key count, average, percentiles and maximum. A percentile is known to a
 * bucket (6.25 %): if both are in one bucket or in neighbouring ones, no change is reported.
 * Tables: the numbers of rows with equal keys. Stacks: functions with and without their callees,
 * and whole stacks, by their share of the total, since runs differ in length.
 */
#ifndef TALLY_DIFF_DIFF_H
#define TALLY_DIFF_DIFF_H

#include "machine/diff/saved.h"
#include "report/report.h"

/*
 * Compares, and writes a table or, if the format of w is FORMAT_FLAME, which requires stacks, a
 * flame graph whose widths are those of the second run. top: maximum number of keys, functions,
 * stacks; 0: all. Reports errors. Returns 0, -EINVAL (the runs are not comparable, or a file is
 * malformed) or another negative errno.
 */
int diff__write(struct writer *w, const struct saved *before, const struct saved *after,
		size_t top);

/* The three kinds: they add rows to the report; with flame, diff_stacks() writes the graph. */
int diff_groups(struct report *r, const struct saved *const run[2], size_t top);
int diff_rows(struct report *r, const struct saved *const run[2], size_t top);
int diff_stacks(struct report *r, const struct saved *const run[2], struct writer *flame,
		size_t top);

#endif /* TALLY_DIFF_DIFF_H */
