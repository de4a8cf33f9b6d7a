/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why --critical-path: the hooks of its measurement (run/measurement.h). why/path.h computes the path. With spans, the
 * report shows the paths through the spans instead (path_sides.h).
 */
#ifndef TALLY_CALLS_WHY_CRITICAL_H
#define TALLY_CALLS_WHY_CRITICAL_H

#include "agg/loss.h"
#include "calls/why/path.h"
#include "calls/why/spans.h"
#include "cli/options.h"
#include "run/measurement.h"
#include "run/ring.h"

struct call_signatures;

/* Initialise to all zeros. The first two members are options. Set spans before critical__check(). */
struct critical {
	bool wanted; /* --critical-path */
	bool each;   /* --each: links in the order of time */
	struct why_spans *spans;
	struct whypath_bpf *bpf;
	struct ring *ring;
	struct path path;
	struct loss_counters losses;
	/* The kernel reports interrupts, so that wakeups by them are not attributed to the interrupted thread. */
	bool knows_interrupts;
	char note[1024]; /* the report's */
};

extern const struct skeleton_type whypath_skeleton;

/* Checks that the options fit together. Returns 0, or -EINVAL after reporting the conflict. */
int critical__check(const struct critical *c, const struct cli *cli);

/* Implementations of the hooks of the same names. They return 0 or a negative errno. */
int critical__open(struct critical *c, struct measurement *m, struct call_signatures *signatures);
int critical__attach(struct critical *c, struct measurement *m);
int critical__watch(struct critical *c);
void critical__disarm(struct critical *c);
int critical__report(struct critical *c, struct measurement *m, struct report *r);
void critical__free(struct critical *c);

#endif /* TALLY_CALLS_WHY_CRITICAL_H */
