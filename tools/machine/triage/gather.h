/* SPDX-License-Identifier: BSD-2-Clause */
/* What the measurements of triage have reported, of a run or of a recording: for its rules, and the rest of its page. */
#ifndef TALLY_TRIAGE_GATHER_H
#define TALLY_TRIAGE_GATHER_H

#include "report/report.h"
#include "run/run.h"
#include "triage/page.h"
#include "triage/rule.h"

struct gathered {
	struct triage *triage;          /* whoever made it frees it */
	struct triage_loss loss[RUN_MOST];
	size_t nlosses;
	char tool[RUN_MOST][32];        /* those that have reported */
	size_t ntools;
	int cpus;
	u64 start_ns, duration_ns;
};

/* A report. 0 or -ENOMEM. */
int gathered__take(struct gathered *g, const struct report *r);

/* An interval is over. */
void gathered__end(struct gathered *g, u64 start_ns, u64 duration_ns);

/* What the rules were given is forgotten; how long was looked, is not. */
void gathered__reset(struct gathered *g);

#endif /* TALLY_TRIAGE_GATHER_H */
