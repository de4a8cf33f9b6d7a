/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects what the measurements of triage have reported, live or from a recording, for its rules
 * and page.
 */
#ifndef TALLY_TRIAGE_GATHER_H
#define TALLY_TRIAGE_GATHER_H

#include "report/report.h"
#include "run/run.h"
#include "triage/page.h"
#include "triage/rule.h"

struct gathered {
	struct triage *triage;
	struct triage *top;             /* the figures of the first lines */
	struct triage_loss loss[RUN_MOST];
	size_t nlosses;
	char tool[RUN_MOST][32];        /* the tools that have reported */
	size_t ntools;
	int cpus;
	u64 start_ns, duration_ns;
};

/* Initialise to all zeros before this call. Call gathered__free() in either case. Returns 0 or -ENOMEM. */
int gathered__begin(struct gathered *g);
void gathered__free(struct gathered *g);

/* Excludes rows of this process; 0: none. */
void gathered__leave_out(struct gathered *g, u32 pid);

/* Takes a report. Returns 0 or -ENOMEM. */
int gathered__take(struct gathered *g, const struct report *r);

/* Ends an interval. */
void gathered__end(struct gathered *g, u64 start_ns, u64 duration_ns);

/*
 * Writes the page: adds the first lines and the findings to p. Returns 0 or a negative errno. cpus: of the machine.
 */
int MUST_CHECK gathered__write(struct gathered *g, struct triage_page *p, int cpus, struct writer *w);

/* Forgets the input of the rules, but not the time covered. */
void gathered__reset(struct gathered *g);

#endif /* TALLY_TRIAGE_GATHER_H */
