/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments that expressions at a function's return need. The arguments are saved at the entry of the same call, 8
 * bytes each, as passed. The target of a pointer is read at the return. probe/asked.h finds the arguments.
 */
#ifndef TALLY_PROBE_SAVED_H
#define TALLY_PROBE_SAVED_H

#include "probe/plan.h"

/* Returns the number of the argument arg1 or $arg1, from 1, or 0 for other expressions. */
u64 probe_saved__argument(const struct expr *e);

/* For an entry: C++ references are saved as addresses. */
void probe_saved__prepare_begin(struct place *begin, const struct probe_plan *p);

/* Adds the saved values to a return, with their types at the entry. Returns 0 or -ENOMEM. */
int probe_saved__add_to_end(struct place *end, const struct place *begin, const struct probe_plan *p);

void probe_saved__free(struct probe_plan *p);

#endif /* TALLY_PROBE_SAVED_H */
