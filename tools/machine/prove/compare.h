/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the figures of a tool with the truth. */
#ifndef TALLY_PROVE_COMPARE_H
#define TALLY_PROVE_COMPARE_H

#include "base/types.h"

enum prove_verdict {
	PROVE_RIGHT,
	PROVE_WRONG,
	PROVE_HIDDEN, /* too little, and the tool itself reports losses that explain it */
	PROVE_CANNOT, /* this kernel or machine lacks what the check needs */
	PROVE_VERDICTS,
};

struct prove_claim {
	const char *what; /* constant */
	const char *unit; /* "events", "ns", "bytes"; constant */
	u64 said;
	u64 least, most; /* the truth; equal where it is known exactly */
	u64 lost;	 /* events that the tool reports as lost */
	u64 inexact;	 /* and those with part of their values */
};

const char *prove_verdict_name(enum prove_verdict verdict);

/*
 * Losses excuse no figure that is too large. They excuse a count that is too small by no more events than were lost,
 * and a sum of values that is too small if any were, as nobody knows the values of lost events.
 */
enum prove_verdict prove__compare(const struct prove_claim *claim);

#endif /* TALLY_PROVE_COMPARE_H */
