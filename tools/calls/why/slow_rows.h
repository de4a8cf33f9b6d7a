/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow calls beside the others (sides.h): a row for each cause. */
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
 * Moves each element of the set to one of the two sides: class becomes 1 for slow calls and 0 for others. Without a
 * limit, the slow calls are at most a tenth of all, as many as classes of length allow; if even the slowest class has
 * more calls, they are that class.
 */
void slow_rows__divide(struct sum_set *set, struct span_sides *sides, u64 limit_ns);

/* After slow_rows__divide(): is half of the difference, or more, waits that other threads end? */
bool slow_rows__wait_for_threads(const struct sum_set *set, const struct span_sides *sides);

/* After slow_rows__divide(). objects: with names, whose times in slow calls are put in. Returns 0 or -ENOMEM. */
int slow_rows__add(const struct sum_set *set, const struct span_sides *sides, struct why_objects *objects,
		   const struct cli *cli, struct report *r);

#endif /* TALLY_CALLS_WHY_SLOW_ROWS_H */
