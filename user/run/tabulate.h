/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The histograms of a measurement (run/measure.h) as one table, for keys of which there are too
 * many to show each one's histogram: a row for each, with the cells
 *
 *   the key ...  count  total  [share]  avg  p50  p99  max
 *
 * Times are in the unit that fits each, with -m in that of their column; counts and sizes as they
 * are. --sort and --top are those of histograms (CLI_SORT, CLI_TOP). With --heat a report has to
 * stay one of histograms: measure__report().
 */
#ifndef TALLY_RUN_TABULATE_H
#define TALLY_RUN_TABULATE_H

#include "run/measure.h"
#include "run/measurement.h"

struct tabulation {
	/*
	 * The name of a cell: total in percent of the report's duration. 100 is one CPU, one waiter,
	 * all of the time. NULL: none. Names that end in _percent are not added up by tally diff.
	 */
	const char *share;
	/*
	 * In text also a row for each value of the first part of the keys, a text of which there are
	 * few values, that has several rows: where adding all up would say little.
	 */
	bool subtotals;
};

/*
 * Like measure__report(), but as a table, in text with a row of all keys together. The caller fills
 * in value, unit and source before. Returns 0 or a negative errno.
 */
int measure__tabulate(struct measure *m, const struct measurement *measurement, struct report *r,
		      const struct tabulation *t);

/* The groups of a report become the rows of a table: the second half of the above. 0 or -ENOMEM. */
int report__tabulate(struct report *r, const struct tabulation *t, const struct cli *cli);

#endif /* TALLY_RUN_TABULATE_H */
