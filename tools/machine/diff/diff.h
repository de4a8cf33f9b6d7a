/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two saved runs of one tool, compared: what came before with what came after.
 *
 * Histograms: for each key count, average, percentiles and maximum. A percentile is known to a
 * bucket (6.25 %): where the two are in one bucket or in neighbours, nothing is said to have moved.
 * Tables: rows with the same key, each of their numbers. Stacks: functions by themselves and with
 * what they call, and stacks; by their share of all, since runs differ in length.
 */
#ifndef TALLY_DIFF_DIFF_H
#define TALLY_DIFF_DIFF_H

#include "machine/diff/saved.h"
#include "report/report.h"

/*
 * Compares, and writes what has been found: a table or, if the format of w is FORMAT_FLAME, which
 * is for stacks, a flame graph as wide as what came after. top: so many keys, functions, stacks; 0:
 * all. Says what is wrong. Returns 0, -EINVAL (the runs cannot be compared, or a file is malformed) or
 * another negative errno.
 */
int diff__write(struct writer *w, const struct saved *before, const struct saved *after,
		size_t top);

/* The parts of it: rows are added to the report; with flame, the graph is written. */
int diff_groups(struct report *r, const struct saved *const run[2], size_t top);
int diff_rows(struct report *r, const struct saved *const run[2], size_t top);
int diff_stacks(struct report *r, const struct saved *const run[2], struct writer *flame,
		size_t top);

#endif /* TALLY_DIFF_DIFF_H */
