/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the arguments that expressions at a function's return need (probe/saved.h). */
#ifndef TALLY_PROBE_ASKED_H
#define TALLY_PROBE_ASKED_H

#include "probe/plan.h"

/*
 * Finds the arguments that the expressions of a plan need, and puts them in p->saved[]. All events of the plan must be
 * returns, and only the ends of the plan are resolved. Returns 0 or a negative errno, after reporting the error.
 */
int probe_asked__find(struct probe_plan *p);

#endif /* TALLY_PROBE_ASKED_H */
