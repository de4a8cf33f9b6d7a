/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Divides expressions between the sides of a span: the begin evaluates as much as possible, and the end evaluates the
 * rest. Values that are known only at the begin but needed at the end (size > 0 || $retval < 0) are stored with the
 * begin.
 */
#ifndef TALLY_PROBE_SIDES_H
#define TALLY_PROBE_SIDES_H

#include "probe/plan.h"

/* True if the begin evaluates e. begin: the place of a begin, or NULL without spans. */
bool side__belongs_to_begin(const struct probe_plan *p, const struct expr *e,
			    const struct place *begin);

/*
 * Divides the filter into p->part[], and fills in p->kept[] with what the part at the end needs
 * from the begin. Parts between && are tested as early as possible. Returns 0 or a negative errno,
 * after reporting the error.
 */
int side__divide_filter(struct probe_plan *p, const struct place *begin);

/* Adds the kept values to the place of an end, under their names in p->part[]. */
int side__add_kept(struct place *end, const struct probe_plan *p);

void side__free_filter(struct probe_plan *p);

#endif /* TALLY_PROBE_SIDES_H */
