/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The share of [incomplete] stacks in a report: their outer callers are unknown (stack/names.h).
 */
#ifndef TALLY_OUT_INCOMPLETE_H
#define TALLY_OUT_INCOMPLETE_H

#include <stdio.h>

#include "report/report.h"

/* Text notes an incomplete share of at least this percentage if it would not be visible otherwise. */
#define INCOMPLETE_TO_NOTE 10

struct incomplete {
	u64 value;
	u64 before;             /* for comparisons: value in the first run */
};

/* Sum of the stacks that contain the note [incomplete]; with several events, of the event with this index. */
struct incomplete report_stacks__incomplete(const struct report_stacks *s, size_t event);

/* The same sum as a percentage of the report, or of the event. */
double report_stacks__incomplete_percent(const struct report_stacks *s, size_t event);

/*
 * Writes ", 12.5% [incomplete]", or for a comparison ", [incomplete] 1.0% before and 12.5% after". Writes nothing if
 * all stacks are complete.
 */
void put_incomplete(FILE *f, const struct report_stacks *s, size_t event);

#endif /* TALLY_OUT_INCOMPLETE_H */
