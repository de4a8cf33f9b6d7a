/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to probe that are the task of another tool. */
#ifndef TALLY_PROBE_ELSEWHERE_H
#define TALLY_PROBE_ELSEWHERE_H

#include "probe/plan.h"
#include "events/probe/results.h"

/*
 * Rejects keys that are stacks (kstack, ustack, stack), and prints the equivalent command line of
 * stackcount(1), if there is one. figures: enum results_figure, ORed. argv: the words typed,
 * terminated by NULL. Returns 0 if there are no such keys, else -EINVAL after reporting the error.
 */
int elsewhere__stacks(const struct probe_request *request, u32 figures, char *const *argv);

#endif /* TALLY_PROBE_ELSEWHERE_H */
