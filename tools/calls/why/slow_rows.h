/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares slow calls with the others (sides.h): a row for each cause. */
#ifndef TALLY_CALLS_WHY_SLOW_ROWS_H
#define TALLY_CALLS_WHY_SLOW_ROWS_H

#include "agg/sum_set.h"
#include "calls/why/objects.h"
#include "calls/why/sides.h"
#include "cli/options.h"
#include "report/report.h"

#include "bpf/calls/whyspan.h"

extern const struct sum_layout span_layout;

/*
 * Assigns each element of the set to one of the two sides: class becomes 1 for slow calls and 0 for others. Without a
 * limit, the slow calls are the slowest classes of length that contain at most a tenth of all calls. If even the
 * slowest class contains more, the slow calls are this class.
 */
void slow_rows__divide(struct sum_set *set, struct span_sides *sides, u64 limit_ns);

/*
 * To be called after slow_rows__divide(). True if waits that other threads end make up at least half of the difference.
 */
bool slow_rows__wait_for_threads(const struct sum_set *set, const struct span_sides *sides);

/*
 * To be called after slow_rows__divide(). Adds the rows. objects: has the names, and receives the times of objects in
 * slow calls. Returns 0 or -ENOMEM.
 */
int slow_rows__add(const struct sum_set *set, const struct span_sides *sides, struct why_objects *objects,
		   const struct cli *cli, struct report *r);

#endif /* TALLY_CALLS_WHY_SLOW_ROWS_H */
