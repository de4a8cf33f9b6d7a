/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of lockstat for people: types of locks, locks and callers by name. */
#ifndef TALLY_LOCKS_LOCK_NAMES_H
#define TALLY_LOCKS_LOCK_NAMES_H

#include "cli/task_key.h"
#include "sym/kallsyms.h"
#include "sym/symbols.h"

#include "bpf/locks/lockstat.h"

/* All zero at first. */
struct lock_names {
	struct symbols *symbols;
	struct kernel_symbols data;     /* variables, where the kernel shows them */
	bool data_read;
};

/* "mutex", "rwsem:R", ...; from LOCK_TYPES on those of waits that had not ended. */
extern const char *const lock_type_names[2 * LOCK_TYPES];

/*
 * For struct own_parts: the fields of a struct lock_parts; context: struct lock_names. A wait that
 * had not ended is marked as that in the result or, where that is no key, in the first of the
 * fields lock, type, caller.
 */
extern const char *const lock_part_names[5];
#define LOCK_PARTS_TEXT "lock, type, caller, result, owner"
int lock_names__add(void *context, const void *own, u32 by, struct report_row *row);

void lock_names__free(struct lock_names *names);

/*
 * Where the functions of locks are, and those that sleep. 0, or -ENOENT, -EPERM: this kernel or
 * its rights hide that; callers are not found then.
 */
int lock_texts__find(struct lock_text *lock, struct lock_text *sched);

#endif /* TALLY_LOCKS_LOCK_NAMES_H */
