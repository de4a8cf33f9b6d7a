/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures that are nearest to a limit, as hints if no rule finds a problem. The cause of slowness may be far below
 * each limit, for example a thread at 30 % of a CPU.
 */
#ifndef TALLY_TRIAGE_NEAREST_H
#define TALLY_TRIAGE_NEAREST_H

#include "triage/rule.h"

#define TRIAGE_NEAREST 3

/* A figure below this share of its limit is normal on an idle machine. */
#define TRIAGE_NEAREST_SHARE 0.05

struct triage_near {
	struct triage_finding finding;  /* of the key that is near the limit */
	/* The limit of the notice, or of the problem if the rule has no notice; the figure's share of it, below 1. */
	double limit, share;
};

/*
 * Finds the rules whose figures are the largest shares of their limits, largest first. Considers only rules that name
 * the key of the figure and a next command. If a rule has fired, its figure is the largest one below the limit: a
 * program that is always busy may hide the culprit. Levels that a fault does not raise, as of a file system, are
 * skipped: disks are often almost full permanently. Returns their number. near borrows from finding.
 */
size_t triage_nearest(const struct triage_finding *finding, size_t n, struct triage_near near[TRIAGE_NEAREST]);

#endif /* TALLY_TRIAGE_NEAREST_H */
