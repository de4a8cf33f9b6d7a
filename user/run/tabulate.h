/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The histograms of a measurement (run/measure.h) as one table, for too many keys to show a
 * histogram each. One row per key, with the cells
 *
 *   the key ...  count  total  [share]  avg  p50  [p90]  p99  max
 *
 * Times are in the unit that fits each, with -m in the unit of their column; counts and sizes are
 * plain. --sort and --top work as for histograms (CLI_SORT, CLI_TOP). With --heat a report stays
 * histograms.
 *
 * A tool shows either tables or histograms where nothing is asked for; --table and --hist
 * (CLI_TABLE, CLI_HIST) choose. On a terminal a tool of histograms shows a table, too, once a report
 * has more than TABULATE_KEYS keys, with --live more than one.
 */
#ifndef TALLY_RUN_TABULATE_H
#define TALLY_RUN_TABULATE_H

#include "run/measure.h"
#include "run/measurement.h"

#define TABULATE_KEYS 4

struct tabulation {
	/*
	 * Name of an extra cell: total in percent of the report's duration, so 100 is one CPU or
	 * one waiter all of the time. NULL: none. tally diff does not add up names that end in
	 * _percent.
	 */
	const char *share;
	/*
	 * Text output also gets a subtotal row for each value of the first key part that has
	 * several rows. For a text part with few values, where a grand total means little.
	 */
	bool subtotals;
	/* Also p90, and min or p999 if the rows are sorted by it. */
	bool full;
	const char *no_table;   /* option that shows histograms; NULL: --hist */
};

/* measure__report() of a tool that shows tables. Returns 0 or a negative errno. */
int measure__tabulate(struct measure *m, struct measurement *measurement, struct report *r,
		      const struct tabulation *t);

/*
 * The second half of both: shows the groups in the form asked for, else the usual one: FORM_TABLE, or
 * FORM_USUAL of a tool of histograms. Sorts and cuts them. Returns 0 or -ENOMEM.
 */
int measure__shape(struct measure *m, const struct measurement *measurement, struct report *r,
		   const struct tabulation *t, enum cli_form usual);

/* Whether the report has too many groups for histograms where this writer writes. */
bool tabulate__has_many(const struct report *r, const struct cli *cli, const struct writer *w);

/*
 * Turns the groups of a report into table rows, sorted and cut; text output adds a row for all keys
 * together. Returns 0 or -ENOMEM.
 */
int report__tabulate(struct report *r, const struct tabulation *t, const struct cli *cli);

#endif /* TALLY_RUN_TABULATE_H */
