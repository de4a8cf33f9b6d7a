/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of a report of stacks is [incomplete]: outer callers of these stacks are not known (stack/names.h). */
#ifndef TALLY_OUT_INCOMPLETE_H
#define TALLY_OUT_INCOMPLETE_H

#include <stdio.h>

#include "report/report.h"

/* People are told from this percentage on, where they would not see it. */
#define INCOMPLETE_TO_NOTE 10

struct incomplete {
	u64 value;
	u64 before;             /* of comparisons: in the first run */
};

/* Sum of the stacks that contain the note; of several events, of the one with this index. */
struct incomplete report_stacks__incomplete(const struct report_stacks *s, size_t event);

/* Percentage of the report, or of that event, in these stacks. */
double report_stacks__incomplete_percent(const struct report_stacks *s, size_t event);

/* ", 12.5% [incomplete]", of a comparison ", [incomplete] 1.0% before and 12.5% after"; nothing if there are none. */
void put_incomplete(FILE *f, const struct report_stacks *s, size_t event);

#endif /* TALLY_OUT_INCOMPLETE_H */
