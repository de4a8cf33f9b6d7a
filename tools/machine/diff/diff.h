/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two saved runs of one tool, before and after a change.
 *
 * Histograms: for each key count, average, percentiles and maximum. A percentile has the precision of a bucket (6.25
 * %): if both values are in the same bucket or in adjacent ones, no change is reported. Tables: the figures of rows
 * with equal keys. Stacks: functions with and without their callees, and whole stacks, by their share of the total,
 * since runs differ in length.
 *
 * With a test: the many intervals of each run show how far chance moves a figure (agg/bootstrap.h). Counts are per
 * second, means are quotients of sums, and percentiles are those of merged histograms. Gauges, minima and maxima are
 * not tested: a level has no sum, and the variation of an extreme value cannot be estimated from the values that it is
 * taken from.
 */
#ifndef TALLY_DIFF_DIFF_H
#define TALLY_DIFF_DIFF_H

#include "machine/diff/saved.h"
#include "report/report.h"

/*
 * Compares, and writes a table or, if the format of w is FORMAT_FLAME, which requires stacks, a
 * flame graph with the widths of the second run. top: maximum number of keys, functions, stacks; 0:
 * all. Reports errors. Returns 0, -EINVAL (the runs are not comparable, or a file is malformed) or
 * another negative errno.
 */
int diff__write(struct writer *w, const struct saved *before, const struct saved *after,
		size_t top);

struct diff_test {
	bool all;                       /* also list rows within noise */
	struct report_verdict verdict;  /* least_percent is an input; the rest is the result */
	char *text;                     /* text of the verdict, owned */
};

/*
 * The same with a test; writes only a table. Also returns -EINVAL if there are too few intervals, or no row can be
 * tested.
 */
int diff__test(struct writer *w, const struct saved *before, const struct saved *after, size_t top,
	       struct diff_test *test);
int diff_test(struct report *r, const struct saved *const run[2], size_t top, struct diff_test *test);

/* One function for each kind of run. They add rows to the report; with flame, diff_stacks() writes the graph. */
int diff_groups(struct report *r, const struct saved *const run[2], size_t top);
int diff_rows(struct report *r, const struct saved *const run[2], size_t top);
int diff_stacks(struct report *r, const struct saved *const run[2], struct writer *flame,
		size_t top);

#endif /* TALLY_DIFF_DIFF_H */
