/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings for people and for programs. */
#ifndef TALLY_TRIAGE_PAGE_H
#define TALLY_TRIAGE_PAGE_H

#include "triage/rule.h"

/* What a tool has told of its losses (agg/loss.h). */
struct triage_loss {
	const char *tool;
	u64 events, lost, inexact;
};

struct triage_page {
	const char *kernel;     /* uname -r */
	int cpus;
	u64 start_ns, duration_ns;      /* CLOCK_REALTIME; how long was looked */
	size_t measurements;    /* tools that took part */
	const struct triage_finding *finding;
	size_t n;
	const struct triage_loss *loss;
	size_t nlosses;
	const char *const *absent;      /* tools that this kernel cannot do */
	size_t nabsent;
	const struct report_overhead *overhead; /* or NULL */
	bool verbose;           /* text: all figures that were looked at, and the reasons of the limits */
};

/* In the writer's format: text, JSON (docs/json.md), or a row for each rule. 0 or a negative errno. */
int MUST_CHECK triage_page__write(const struct triage_page *p, struct writer *w);

#endif /* TALLY_TRIAGE_PAGE_H */
