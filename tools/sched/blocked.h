/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offcputime, wakeuptime and offwaketime: blocked time by stack. They are three views (enum
 * blocked_view) of the sums of bpf/lib/blocked.bpf.h, with the same options.
 */
#ifndef TALLY_SCHED_BLOCKED_H
#define TALLY_SCHED_BLOCKED_H

#include "run/measurement.h"
#include "sched/kicks.h"
#include "stack/blocked.h"
#include "stack/options.h"

struct blocked {
	enum blocked_view view;
	struct stack_options options;
	u64 min_ns, max_ns;
	u32 wanted;                     /* a bit for each enum blocked_why */
	bool only_user, only_kernel;    /* --user-threads, --kernel-threads */
	bool with_sleepers;             /* --idle: also tasks that slept through the whole run */
	char *by;                       /* --by, with "state" removed */
	struct offcputime_bpf *bpf;
	struct stacks stacks;
	struct blocked_report report;
	struct kicks kicks;
	bool ended;
};

/* The options and hooks of these tools. m->own is the struct blocked, whose view is set by init(). */
extern const struct option_row blocked_rows[];
extern const struct skeleton_type offcputime_skeleton;

void blocked__init(struct blocked *b, enum blocked_view view);
int blocked__check(void *own, struct cli *cli);
int blocked__open(struct measurement *m);
int blocked__attach(struct measurement *m);
void blocked__disarm(struct measurement *m);
int blocked__report(struct measurement *m, struct report *r);
void blocked__free(void *own);

#define BLOCKED_GROUPS                                                                             \
	(CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_TIMES | CLI_LIVE)
#define BLOCKED_HOOKS                                                                                                  \
	.skeleton = &offcputime_skeleton, .check = blocked__check, .open = blocked__open, .attach = blocked__attach,   \
	.disarm = blocked__disarm, .report = blocked__report, .free = blocked__free

#endif /* TALLY_SCHED_BLOCKED_H */
