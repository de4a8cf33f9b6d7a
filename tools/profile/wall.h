/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile --wall: the time of tasks in one report: time on a CPU from samples, and time off it from
 * context switches (bpf/profile/wall.bpf.c). Run time is exact, too; samples show where it was
 * spent.
 *
 * The stacks, the options and the sampling are profile's; these hooks replace its own.
 */
#ifndef TALLY_PROFILE_WALL_H
#define TALLY_PROFILE_WALL_H

#include "profile/sampling.h"
#include "stack/blocked.h"
#include "stack/options.h"

struct wall {
	bool asked;
	struct sampling *sampling;      /* by the clock */
	const struct stack_options *options;
	struct stacks *stacks;
	struct wall_bpf *bpf;
	struct blocked_report report;
	bool has_ended;                 /* the report includes periods that were unfinished at the end */
};

/*
 * To be called after all other checks: rejects options that --wall excludes. Returns -EINVAL after
 * reporting the error.
 */
int wall__check(const struct wall *w, const struct cli *cli);

int wall__load(struct wall *w, struct measurement *m);
int wall__attach(struct wall *w, struct measurement *m);
void wall__disarm(struct wall *w);
int wall__report(struct wall *w, struct measurement *m, struct report *r);
void wall__free(struct wall *w);

#endif /* TALLY_PROFILE_WALL_H */
