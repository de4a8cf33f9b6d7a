/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slow spans beside the others: the figures of a row.
 *
 * A slow span takes longer by the difference of two means. Each row has a share of that difference, and the shares add
 * up to 100 %. A share below zero belongs to a row that takes less time in slow spans.
 */
#ifndef TALLY_CALLS_WHY_SIDES_H
#define TALLY_CALLS_WHY_SIDES_H

#include "base/types.h"
#include "report/report.h"

/* Spans on one side of the limit. */
struct span_side {
	u64 calls;
	u64 ns;
};

struct span_sides {
	struct span_side slow, rest;
	u64 limit_ns;
};

/* The time of a row on one side, and how many spans have some of it. */
struct span_part {
	u64 ns, calls;
};

/* How much longer a slow span takes than another, by times of either side: in all, or in a row; ns. */
double sides__difference(const struct span_sides *sides, u64 slow_ns, u64 rest_ns);

/* side[1] is that of slow spans. Returns 0 or -ENOMEM. */
int sides__add_figures(struct report_row *row, const struct span_sides *sides, const struct span_part side[2]);

/* The same of whole spans: for the total. */
int sides__add_all_figures(struct report_row *row, const struct span_sides *sides);

#endif /* TALLY_CALLS_WHY_SIDES_H */
