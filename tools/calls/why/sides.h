/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures of a row that compares slow spans with the others.
 *
 * A slow span takes longer than another by the difference of the two means. Each row has a share of that difference,
 * and the shares add up to 100 %. A row that takes less time in slow spans has a negative share.
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

/* The time of a row on one side, and the number of spans that contain some of it. */
struct span_part {
	u64 ns, calls;
};

/*
 * Returns how much longer a slow span takes than another on average, in ns: in total, or in a row. slow_ns, rest_ns:
 * the times of the two sides.
 */
double sides__difference(const struct span_sides *sides, u64 slow_ns, u64 rest_ns);

/* side[1] describes slow spans. Returns 0 or -ENOMEM. */
int sides__add_figures(struct report_row *row, const struct span_sides *sides, const struct span_part side[2]);

/* The same for whole spans, as the total. */
int sides__add_all_figures(struct report_row *row, const struct span_sides *sides);

#endif /* TALLY_CALLS_WHY_SIDES_H */
