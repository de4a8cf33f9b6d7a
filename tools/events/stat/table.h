/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of stat have in common; of no use to others. All of int: 0 or a negative errno. */
#ifndef TALLY_STAT_TABLE_H
#define TALLY_STAT_TABLE_H

#include "events/stat/ratio.h"
#include "events/stat/stat.h"

/* A glob stands for many events: those that did not happen are left out. */
bool stat_is_glob(const struct event *e);

/* Everything of a row behind its key and place. */
struct figures {
	struct field count;
	const struct ratio *ratio;      /* NULL: none */
	double running;
	bool scaled;                    /* some row was counted for a part of the time */
	const double *error;            /* -r: relative standard error; NULL without */
	const char *why;                /* it was not counted; NULL */
};

const char *figures_unit(const struct event_site *site);
struct field figures_value(const struct event_site *site, u64 value);

/* Appends them to a row, with the name of their event. */
int figures__put(struct report_row *row, const char *name, const char *unit,
		 const struct figures *f);

/* The rows of an interval's counts; those of the command's own time, once it has ended. */
int table__put(struct stat_run *s, struct measurement *m, struct report *r, const struct counts *c);
int table__put_usage(struct measurement *m, struct report *r);

#endif /* TALLY_STAT_TABLE_H */
