/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where to look if no rule says that something is wrong: the figures that come nearest to a limit. The cause of
 * slowness may be far below each limit, as a thread at 30 % of a CPU.
 */
#ifndef TALLY_TRIAGE_NEAREST_H
#define TALLY_TRIAGE_NEAREST_H

#include "triage/rule.h"

#define TRIAGE_NEAREST 3

/* Below this share of its limit, a figure is what any idle machine has. */
#define TRIAGE_NEAREST_SHARE 0.05

struct triage_near {
	struct triage_finding finding;  /* of the key that comes near */
	double limit, share; /* of the notice, or where there is none of the problem; share of it, below 1 */
};

/*
 * The rules whose figures are the largest shares of their limits, largest first: those that name whose the figure is,
 * and a next command. Where a rule has fired, this is the largest figure below its limit: the culprit may stand behind
 * a program that is always busy. Levels that do not rise by a fault, as of a file system, are left out: most
 * of a disk is full for good. Returns how many. Borrows from finding.
 */
size_t triage_nearest(const struct triage_finding *finding, size_t n, struct triage_near near[TRIAGE_NEAREST]);

#endif /* TALLY_TRIAGE_NEAREST_H */
