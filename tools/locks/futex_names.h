/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of futexstat as text: futexes by place, operations, results, and owners. */
#ifndef TALLY_LOCKS_FUTEX_NAMES_H
#define TALLY_LOCKS_FUTEX_NAMES_H

#include "cli/task_key.h"
#include "sym/symbols.h"

#include "bpf/locks/futexstat.h"

extern const char *const futex_result_names[FUTEX_RESULTS];
extern const char *const futex_part_names[4];
#define FUTEX_PARTS_TEXT "futex, op, result, owner"

/*
 * For struct own_parts: adds the fields of a struct futex_parts. context: a struct symbols **, which must track the
 * processes. An unfinished wait is marked in the result or, if that is not a key, in the first of the fields futex, op.
 */
int futex_names__add(void *context, const void *own, u32 by, struct report_row *row);

#endif /* TALLY_LOCKS_FUTEX_NAMES_H */
