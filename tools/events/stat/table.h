/* SPDX-License-Identifier: BSD-2-Clause */
/* Private to the parts of stat. Functions of type int return 0 or a negative errno. */
#ifndef TALLY_STAT_TABLE_H
#define TALLY_STAT_TABLE_H

#include "events/stat/ratio.h"
#include "events/stat/stat.h"

/* Whether the row belongs to a glob that stands for many events. Its events that did not happen are left out. */
bool stat_is_of_glob(const struct stat_run *s, size_t row);

/* All cells of a row after its key and place. */
struct figures {
	struct field count;
	const struct ratio *ratio;      /* may be NULL */
	double running;
	bool scaled;                    /* some row was counted only for part of the time */
	const double *error;            /* for -r: relative standard error, else NULL */
	const char *why;                /* why the event was not counted, or NULL */
};

const char *figures_unit(const struct event_site *site);
struct field figures_value(const struct event_site *site, u64 value);

/* Appends the figures to a row, with the name of their event. */
int figures__put(struct report_row *row, const char *name, const char *unit,
		 const struct figures *f);

/* Add the rows of an interval's counts, and those of the command's CPU time after it has ended. */
int table__put(struct stat_run *s, struct measurement *m, struct report *r, struct counts *c);
int table__put_usage(struct measurement *m, struct report *r);

#endif /* TALLY_STAT_TABLE_H */
