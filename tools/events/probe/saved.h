/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments that expressions at a function's return need. They are saved at the entry of the same call, 8 bytes each,
 * as they were passed: what a pointer leads to is read at the return. Which ones: events/probe/asked.h.
 */
#ifndef TALLY_PROBE_SAVED_H
#define TALLY_PROBE_SAVED_H

#include "events/probe/plan.h"

/* arg1 or $arg1: its number, from 1; else 0. */
u64 probe_saved__argument(const struct expr *e);

/* At an entry: C++ references are saved as the addresses that they are. */
void probe_saved__prepare_begin(struct place *begin, const struct probe_plan *p);

/* Gives a return what was saved, with its type at the entry. Returns 0 or -ENOMEM. */
int probe_saved__add_to_end(struct place *end, const struct place *begin, const struct probe_plan *p);

void probe_saved__free(struct probe_plan *p);

#endif /* TALLY_PROBE_SAVED_H */
