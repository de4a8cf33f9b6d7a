/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why --slow, and --from with --to: the hooks of their measurement (run/measurement.h). Its table is why/slow_rows.h.
 */
#ifndef TALLY_CALLS_WHY_SLOW_H
#define TALLY_CALLS_WHY_SLOW_H

#include "agg/loss.h"
#include "cli/options.h"
#include "probe/plan.h"
#include "run/measurement.h"

struct call_signatures;
struct option_row;

/* Initialise to all zeros; the first five are options. */
struct slow {
	const char *function;  /* --slow: a list */
	const char *from, *to; /* or lists of events */
	const char *binary;    /* -x */
	u64 above_ns;	       /* --above; 0: the slowest tenth */
	struct probe_request request;
	struct probe_plan plan;
	struct whyspan_bpf *bpf;
	struct loss_counters losses;
	char source[512], note[512], nothing[640];
};

extern const struct option_row slow_option_rows[];
extern const struct skeleton_type whyspan_skeleton;

/* Is this report asked for? */
static inline bool slow__is_wanted(const struct slow *s)
{
	return s->function || s->from;
}

/* Whether the options fit together. Returns 0, or -EINVAL after reporting what does not. */
int slow__check(struct slow *s, struct cli *cli);

/* In place of the hooks of these names. They return 0 or a negative errno. */
int slow__open(struct slow *s, struct measurement *m, struct call_signatures *signatures);
int slow__attach(struct slow *s, struct measurement *m);
void slow__disarm(struct slow *s);
int slow__report(struct slow *s, struct measurement *m, struct report *r);
int slow__explain(struct slow *s, struct measurement *m);
void slow__free(struct slow *s);

#endif /* TALLY_CALLS_WHY_SLOW_H */
