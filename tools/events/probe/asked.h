/* SPDX-License-Identifier: BSD-2-Clause */
/* Which arguments the expressions at a function's return need (events/probe/saved.h). */
#ifndef TALLY_PROBE_ASKED_H
#define TALLY_PROBE_ASKED_H

#include "events/probe/plan.h"

/*
 * Finds in p->saved[] what the expressions of a plan, all of whose events are returns, name of the arguments. Resolved
 * are the ends alone. Returns 0 or a negative errno, after saying what is wrong.
 */
int probe_asked__find(struct probe_plan *p);

#endif /* TALLY_PROBE_ASKED_H */
