/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The paths through slow spans (path.h) beside those through the others: a row for each program, cause and waker, of
 * the span's own thread and of other threads. Figures are those of sides.h.
 */
#ifndef TALLY_CALLS_WHY_PATH_SIDES_H
#define TALLY_CALLS_WHY_PATH_SIDES_H

#include "calls/why/path.h"
#include "calls/why/sides.h"
#include "cli/options.h"
#include "report/report.h"

/*
 * Counts the spans on each side, after path__index(). Without a limit, the slow ones are at most the slowest tenth; if
 * more than a tenth are of the greatest length, they are those. Returns 0 or -ENOMEM.
 */
int path_sides__divide(const struct path *p, struct span_sides *sides, u64 limit_ns);

/* Walks all spans, and adds the rows. Returns 0 or -ENOMEM. */
int path_sides__add(struct path *p, const struct span_sides *sides, const struct cli *cli, struct report *r);

#endif /* TALLY_CALLS_WHY_PATH_SIDES_H */
