/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked of probe, and another tool does. */
#ifndef TALLY_PROBE_ELSEWHERE_H
#define TALLY_PROBE_ELSEWHERE_H

#include "events/probe/plan.h"
#include "events/probe/results.h"

/*
 * Keys that are stacks (kstack, ustack, stack) are refused, with the command line of stackcount(1)
 * that does it, if one does. figures: enum results_figure, ORed. argv: the words typed, ends with NULL.
 * Returns 0 where there are none, else -EINVAL after saying so.
 */
int elsewhere__stacks(const struct probe_request *request, u32 figures, char *const *argv);

#endif /* TALLY_PROBE_ELSEWHERE_H */
