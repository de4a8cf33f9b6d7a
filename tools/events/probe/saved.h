/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments that expressions at a function's return need. They are saved at the entry of the same call, 8 bytes each,
 * as they were passed: what a pointer leads to is read at the return.
 */
#ifndef TALLY_PROBE_SAVED_H
#define TALLY_PROBE_SAVED_H

#include "events/probe/plan.h"

/*
 * Finds in p->saved[] what the expressions of a plan, all of whose events are returns, name of the arguments. Resolved
 * are the ends alone. Returns 0 or a negative errno, after saying what is wrong.
 */
int probe_saved__find(struct probe_plan *p);

/* At an entry: C++ references are saved as the addresses that they are. */
void probe_saved__prepare_begin(struct place *begin, const struct probe_plan *p);

/* Gives a return what was saved, with its type at the entry. Returns 0 or -ENOMEM. */
int probe_saved__add_to_end(struct place *end, const struct place *begin, const struct probe_plan *p);

void probe_saved__free(struct probe_plan *p);

#endif /* TALLY_PROBE_SAVED_H */
