/* SPDX-License-Identifier: BSD-2-Clause */
/* The links of a critical path as rows of a report. */
#ifndef TALLY_CALLS_WHY_PATH_ROWS_H
#define TALLY_CALLS_WHY_PATH_ROWS_H

#include "calls/why/path.h"
#include "cli/options.h"
#include "report/report.h"

/* By program, cause and waker, sorted and cut as the options say. Returns 0 or -ENOMEM. */
int path_rows__sum(const struct path *p, const struct cli *cli, struct report *r);

/* One for each link, in the order of time, which counts from began_ns. Returns 0 or -ENOMEM. */
int path_rows__each(const struct path *p, const struct cli *cli, u64 began_ns, struct report *r);

#endif /* TALLY_CALLS_WHY_PATH_ROWS_H */
