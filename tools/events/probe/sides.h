/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of a span, what is worked out where: at its begin what can be, the rest at its end. What is
 * known at the begin alone and is wanted at the end (size > 0 || $retval < 0) is kept with it.
 */
#ifndef TALLY_PROBE_SIDES_H
#define TALLY_PROBE_SIDES_H

#include "events/probe/plan.h"

/* begin: a place of a begin, NULL without spans. */
bool side__belongs_to_begin(const struct probe_plan *p, const struct expr *e,
			    const struct place *begin);

/*
 * Divides the filter into p->part[], with p->kept[] of what the part at the end needs of the begin.
 * Its parts between && are tested where they can be. 0 or a negative errno, after saying what is wrong.
 */
int side__divide_filter(struct probe_plan *p, const struct place *begin);

/* Adds what is kept to a place of an end, under the names that p->part[] has for it. */
int side__add_kept(struct place *end, const struct probe_plan *p);

void side__free_filter(struct probe_plan *p);

#endif /* TALLY_PROBE_SIDES_H */
