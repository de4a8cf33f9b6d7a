/* SPDX-License-Identifier: BSD-2-Clause */
/* The links of a critical path as rows of a report. */
#ifndef TALLY_CALLS_WHY_PATH_ROWS_H
#define TALLY_CALLS_WHY_PATH_ROWS_H

#include "calls/why/path.h"
#include "cli/options.h"
#include "report/report.h"

/* The key of a row, which sums up its links. It has no padding. */
struct path_key {
	u32 name, waker_name; /* indexes of names in struct path */
	__u16 cause, by;      /* enum why_cause, enum whypath_by */
	__u16 on_cpu;	      /* if set, there is no cause */
	__u16 is_other;
};

struct path_key path_key__of(const struct path_link *l);

/* Adds cells for the program, the cause and the waker. Returns 0 or -ENOMEM. */
int path_key__add_cells(const struct path_key *key, const struct path *p, struct report_row *row);

/* Adds a cell with the command that shows more; empty if key is NULL. Returns 0 or -ENOMEM. */
int path_key__add_next(const struct path_key *key, struct report_row *row);

/* Adds rows by program, cause and waker, sorted and limited as the options request. Returns 0 or -ENOMEM. */
int path_rows__sum(const struct path *p, const struct cli *cli, struct report *r);

/* Adds a row for each link, in order of time. Times are relative to began_ns. Returns 0 or -ENOMEM. */
int path_rows__each(const struct path *p, const struct cli *cli, u64 began_ns, struct report *r);

#endif /* TALLY_CALLS_WHY_PATH_ROWS_H */
