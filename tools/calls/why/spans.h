/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of threads that --slow, and --from with --to, select: their options, and the programs at their begins and
 * ends (bpf/calls/why_spans.bpf.h), which two measurements share.
 *
 *   why_spans__check()         from the tool's hook check()
 *   why_spans__choose()        on the opened object: chooses how each begin and end is attached
 *   why_spans__attach()
 *   why_spans__fill_report()
 *   why_spans__free()
 */
#ifndef TALLY_CALLS_WHY_SPANS_H
#define TALLY_CALLS_WHY_SPANS_H

#include "calls/why/sides.h"
#include "cli/options.h"
#include "probe/plan.h"
#include "run/measurement.h"

#include "bpf/calls/whyspan.h"

struct option_row;

/* Initialise to all zeros. The first five members are options. */
struct why_spans {
	const char *function;  /* --slow: a list of functions */
	const char *from, *to; /* --from, --to: lists of events */
	const char *binary;    /* -x */
	u64 above_ns;	       /* --above; 0: the slowest tenth */
	struct probe_request request;
	struct probe_plan plan;
	char source[512], note[768], nothing[640];
};

extern const struct option_row why_spans_option_rows[];

/* The settings of the programs, for either skeleton. */
struct span_settings {
	struct bpf_object *obj;
	u8 *enter_sides, *exit_sides;
	bool *between_events;
};

#define SPAN_SETTINGS(bpf)                                                                                             \
	((struct span_settings){                                                                                       \
		(bpf)->obj,                                                                                            \
		(u8 *)(bpf)->rodata->enter_sides,                                                                      \
		(u8 *)(bpf)->rodata->exit_sides,                                                                       \
		(bool *)&(bpf)->rodata->between_events,                                                                \
	})

/* Whether the options request spans. */
static inline bool why_spans__are_wanted(const struct why_spans *s)
{
	return s->function || s->from;
}

/* Checks that the options fit together. Returns 0, or -EINVAL after reporting the conflict. */
int why_spans__check(struct why_spans *s, struct cli *cli);

/* These return 0 or a negative errno, after reporting the error. */
int why_spans__choose(struct why_spans *s, struct measurement *m, const struct span_settings *to);
int why_spans__attach(struct why_spans *s, struct measurement *m);
int why_spans__explain(struct why_spans *s, struct measurement *m);

/* Fills in everything except the rows. open: the spans that had not ended. */
void why_spans__fill_report(struct why_spans *s, struct report *r, const struct span_sides *sides,
			    struct span_open open);

/* Adds to the note that --critical-path follows the waits. */
void why_spans__advise(struct why_spans *s);
void why_spans__free(struct why_spans *s);

#endif /* TALLY_CALLS_WHY_SPANS_H */
