/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the paths through slow spans (path.h) with the paths through the others: a row for each program, cause and
 * waker, separately for the span's own thread and for other threads. sides.h describes the figures.
 */
#ifndef TALLY_CALLS_WHY_PATH_SIDES_H
#define TALLY_CALLS_WHY_PATH_SIDES_H

#include "calls/why/path.h"
#include "calls/why/sides.h"
#include "cli/options.h"
#include "report/report.h"

/*
 * Counts the spans on each side. Must be called after path__index(). Without a limit, the slow spans are at most the
 * slowest tenth. If more than a tenth of the spans have the greatest length, the slow spans are exactly these. Returns
 * 0 or -ENOMEM.
 */
int path_sides__divide(const struct path *p, struct span_sides *sides, u64 limit_ns);

/* Walks all spans, and adds the rows. Returns 0 or -ENOMEM. */
int path_sides__add(struct path *p, const struct span_sides *sides, const struct cli *cli, struct report *r);

#endif /* TALLY_CALLS_WHY_PATH_SIDES_H */
