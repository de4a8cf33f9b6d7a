/* SPDX-License-Identifier: BSD-2-Clause */
/* why --slow, and --from with --to: the hooks of their measurement (run/measurement.h). slow_rows.h makes the table. */
#ifndef TALLY_CALLS_WHY_SLOW_H
#define TALLY_CALLS_WHY_SLOW_H

#include "agg/loss.h"
#include "calls/why/spans.h"
#include "run/measurement.h"

struct call_signatures;

/* Initialise to all zeros. Set spans before slow__open(). */
struct slow {
	struct why_spans *spans;
	struct whyspan_bpf *bpf;
	struct loss_counters losses;
};

extern const struct skeleton_type whyspan_skeleton;

/* Implementations of the hooks of the same names. They return 0 or a negative errno. */
int slow__open(struct slow *s, struct measurement *m, struct call_signatures *signatures);
int slow__attach(struct slow *s, struct measurement *m);
void slow__disarm(struct slow *s);
int slow__report(struct slow *s, struct measurement *m, struct report *r);

#endif /* TALLY_CALLS_WHY_SLOW_H */
