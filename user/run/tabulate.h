/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows the histograms of a measurement (run/measure.h) as one table, if there are too many keys for
 * a histogram each. One row per key, with the cells
 *
 *   the key ...  count  total  [share]  avg  p50  [p90]  p99  max
 *
 * Each time is scaled to a unit that fits it; with -m all are in the unit of their column. Counts and
 * sizes are plain. --sort and --top work as for histograms (CLI_SORT, CLI_TOP). With --heat, reports
 * keep their histograms.
 *
 * A tool shows either tables or histograms by default; --table and --hist (CLI_TABLE, CLI_HIST)
 * override it. On a terminal, a tool that shows histograms by default switches to tables once a report
 * has more than TABULATE_KEYS keys, or more than one with --live.
 */
#ifndef TALLY_RUN_TABULATE_H
#define TALLY_RUN_TABULATE_H

#include "run/measure.h"
#include "run/measurement.h"

#define TABULATE_KEYS 4

struct tabulation {
	/*
	 * Name of an extra cell: the total as a percentage of the report's duration, so 100 is one
	 * CPU or one waiter all of the time. NULL: none. tally diff does not add up names that end
	 * in _percent.
	 */
	const char *share;
	/*
	 * Text output also has a subtotal row for each value of the first key part that has several
	 * rows. For a text part with few values, where a grand total means little.
	 */
	bool subtotals;
	/* Show p90, too, and min or p999 if the rows are sorted by it. */
	bool full;
	const char *no_table;   /* option that shows histograms; NULL: "--hist" */
};

/* Like measure__report(), for tools that show tables by default. Returns 0 or a negative errno. */
int measure__tabulate(struct measure *m, struct measurement *measurement, struct report *r,
		      const struct tabulation *t);

/*
 * The second half of measure__tabulate() and measure__report(): shows the groups in the form the user chose, or in the
 * usual one: FORM_TABLE, or FORM_USUAL for tools that show histograms by default. Sorts and truncates them. Returns 0
 * or -ENOMEM.
 */
int measure__shape(struct measure *m, const struct measurement *measurement, struct report *r,
		   const struct tabulation *t, enum cli_form usual);

/* Whether the report has too many groups to show as histograms on the writer's terminal. */
bool tabulate__has_many(const struct report *r, const struct cli *cli, const struct writer *w);

/*
 * Turns the groups of a report into table rows, sorted and truncated; text output has a row with the
 * total of all keys. Returns 0 or -ENOMEM.
 */
int report__tabulate(struct report *r, const struct tabulation *t, const struct cli *cli);

#endif /* TALLY_RUN_TABULATE_H */
