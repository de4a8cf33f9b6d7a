/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the figures of a tool with the truth. */
#ifndef TALLY_PROVE_COMPARE_H
#define TALLY_PROVE_COMPARE_H

#include "base/types.h"

enum prove_verdict {
	PROVE_RIGHT,
	PROVE_WRONG,
	PROVE_HIDDEN, /* the value is too small, but the tool itself reports losses that explain it */
	PROVE_CANNOT, /* this kernel or machine lacks a feature that the check needs */
	PROVE_VERDICTS,
};

struct prove_claim {
	const char *what; /* constant */
	const char *unit; /* "events", "ns", "bytes"; constant */
	u64 said;
	u64 least, most; /* the truth; both are equal if it is known exactly */
	u64 lost;	 /* events that the tool reports as lost */
	u64 inexact;	 /* events reported without some of their values */
};

const char *prove_verdict_name(enum prove_verdict verdict);

/*
 * Losses never excuse a figure that is too large. They excuse a count that is too small by no more than the number of
 * lost events, and a sum of values that is too small if any event was lost, because the values of lost events are
 * unknown.
 */
enum prove_verdict prove__compare(const struct prove_claim *claim);

#endif /* TALLY_PROVE_COMPARE_H */
