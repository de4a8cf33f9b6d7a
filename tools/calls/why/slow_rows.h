/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slow calls beside the others: a row for each cause, with its mean time in a call of either kind.
 *
 * A slow call takes longer by the difference of two means. Each cause has a share of that difference, and the shares
 * add up to 100 %. A share below zero belongs to a cause that takes less time in slow calls.
 */
#ifndef TALLY_CALLS_WHY_SLOW_ROWS_H
#define TALLY_CALLS_WHY_SLOW_ROWS_H

#include "agg/sum_set.h"
#include "calls/why/objects.h"
#include "cli/options.h"
#include "report/report.h"

#include "bpf/calls/whyspan.h"

extern const struct sum_layout span_layout;

/* Calls on one side of the limit. */
struct span_side {
	u64 calls;
	u64 ns;
};

struct span_sides {
	struct span_side slow, rest;
	u64 limit_ns;
};

/*
 * Moves each element of the set to one of the two sides: class becomes 1 for slow calls and 0 for others. Without a
 * limit, the slow calls are at most a tenth of all, as many as classes of length allow; if even the slowest class has
 * more calls, they are that class.
 */
void slow_rows__divide(struct sum_set *set, struct span_sides *sides, u64 limit_ns);

/* After slow_rows__divide(). objects: with names, whose times in slow calls are put in. Returns 0 or -ENOMEM. */
int slow_rows__add(const struct sum_set *set, const struct span_sides *sides, struct why_objects *objects,
		   const struct cli *cli, struct report *r);

#endif /* TALLY_CALLS_WHY_SLOW_ROWS_H */
