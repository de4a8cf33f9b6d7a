/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings as text, JSON, CSV or HTML. */
#ifndef TALLY_TRIAGE_PAGE_H
#define TALLY_TRIAGE_PAGE_H

#include "triage/rule.h"
#include "triage/top.h"

/* Losses of a tool (agg/loss.h), and estimates (run/slices.h). */
struct triage_loss {
	const char *tool;
	u64 events, lost, inexact;
	u64 duration_ns;        /* of its estimated reports; 0 if all are exact */
	u64 measured_ns;        /* the part of duration_ns that they are estimated from */
};

struct triage_page {
	const char *kernel;     /* uname -r */
	int cpus;
	u64 start_ns, duration_ns;      /* CLOCK_REALTIME; duration of the measurements */
	size_t measurements;    /* tools that took part */
	struct triage_top top;  /* has no lines if nothing is known */
	const struct triage_finding *finding;
	size_t n;
	const struct triage_loss *loss;
	size_t nlosses;
	const char *const *absent;      /* tools that this kernel does not support */
	size_t nabsent;
	const struct report_overhead *overhead; /* or NULL */
	bool verbose;           /* text: also list all figures checked, and the reasons for the limits */
};

/*
 * Writes the page in the writer's format: text, JSON (docs/json.md), or CSV with one row per rule.
 * Returns 0 or a negative errno.
 */
int MUST_CHECK triage_page__write(const struct triage_page *p, struct writer *w);

#endif /* TALLY_TRIAGE_PAGE_H */
