/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a report of stacks that is [incomplete]: the outer callers of these stacks are unknown (stack/names.h).
 */
#ifndef TALLY_OUT_INCOMPLETE_H
#define TALLY_OUT_INCOMPLETE_H

#include <stdio.h>

#include "report/report.h"

/* From this percentage on, text notes the incomplete share if it would not be visible otherwise. */
#define INCOMPLETE_TO_NOTE 10

struct incomplete {
	u64 value;
	u64 before;             /* for comparisons: value in the first run */
};

/* Sum of the stacks that contain the note; with several events, of the event with this index. */
struct incomplete report_stacks__incomplete(const struct report_stacks *s, size_t event);

/* Percentage of the report, or of that event, in these stacks. */
double report_stacks__incomplete_percent(const struct report_stacks *s, size_t event);

/*
 * Writes ", 12.5% [incomplete]", for a comparison ", [incomplete] 1.0% before and 12.5% after"; nothing if all stacks
 * are complete.
 */
void put_incomplete(FILE *f, const struct report_stacks *s, size_t event);

#endif /* TALLY_OUT_INCOMPLETE_H */
