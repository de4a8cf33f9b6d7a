/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of lockstat as text: types of locks, locks and callers by name. */
#ifndef TALLY_LOCKS_LOCK_NAMES_H
#define TALLY_LOCKS_LOCK_NAMES_H

#include "cli/task_key.h"
#include "sym/kernel_variables.h"
#include "sym/symbols.h"

#include "bpf/locks/lockstat.h"

/* Initialise to all zeros. */
struct lock_names {
	struct symbols *symbols;
	struct kernel_variables variables;
};

/* "mutex", "rwsem:R", ...; from LOCK_TYPES on, the names for unfinished waits. */
extern const char *const lock_type_names[2 * LOCK_TYPES];

/*
 * For struct own_parts: adds the fields of a struct lock_parts; context: struct lock_names. An
 * unfinished wait is marked in the result or, if that is not a key, in the first of the fields
 * lock, type, caller.
 */
extern const char *const lock_part_names[5];
#define LOCK_PARTS_TEXT "lock, type, caller, result, owner"
int lock_names__add(void *context, const void *own, u32 by, struct report_row *row);

void lock_names__free(struct lock_names *names);

/*
 * The locks to count, by --type and --lock: bits by enum lock_type, bits by enum lock_place, and
 * addresses. { .types = ~0U } stands for all.
 */
struct lock_choice {
	u32 types, places, n;
	struct lock_text chosen[CHOSEN_LOCKS];
};

/*
 * The words are separated by commas: globs of types; globs of variables' names, of mmap_lock, siglock and rq_lock, and
 * addresses. Both functions report errors. They return -EINVAL, -ENOMEM, or -EOPNOTSUPP if the kernel hides its
 * variables.
 */
int lock_choice__add_types(struct lock_choice *c, const char *text);
int lock_choice__add_locks(struct lock_choice *c, struct lock_names *names, const char *text);

/*
 * Locates the code of lock functions, and of functions that sleep. Returns 0, or -ENOENT or -EPERM
 * if the kernel hides it or privileges are missing. In this case, callers cannot be found.
 */
int lock_texts__find(struct lock_text *lock, struct lock_text *sched);

#endif /* TALLY_LOCKS_LOCK_NAMES_H */
