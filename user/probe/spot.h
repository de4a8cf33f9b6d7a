/* SPDX-License-Identifier: BSD-2-Clause */
/* A place on one side of a plan, including the names that probes define. */
#ifndef TALLY_PROBE_SPOT_H
#define TALLY_PROBE_SPOT_H

#include "probe/plan.h"

struct spot {
	struct place place;
	struct tracepoint_format format;
	struct place_alias *alias;
};

/* i: index of one of the side's sites. Returns 0 or a negative errno, after reporting the error. */
int spot__make(struct spot *spot, struct probe_plan *p, enum probe_side_name side, size_t i);

/* Also accepts a zeroed struct. */
void spot__free(struct spot *spot);

/* Returns the first of the sites that belong to the same event. */
size_t probe_side__first_of_event(const struct probe_side *s, size_t i);

#endif /* TALLY_PROBE_SPOT_H */
