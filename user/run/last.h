/* SPDX-License-Identifier: BSD-2-Clause */
/* Which report of a run is the last one: what still goes on then belongs into it. */
#ifndef TALLY_RUN_LAST_H
#define TALLY_RUN_LAST_H

#include "base/clock.h"
#include "run/measurement.h"

/* All zero but for this, when the run begins. */
struct last_report {
	u64 began_ns;           /* monotonic_ns() */
	u64 reports;
};

/* To be asked once in each report(). */
bool last_report__is_now(struct last_report *l, const struct measurement *m);

#endif /* TALLY_RUN_LAST_H */
