/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of system calls, as typed for -e:
 *
 *   SET  := ["!"] PART ("," PART)*          leading "!": all but these
 *   PART := ["!"] NAME | GLOB | ["%"] CLASS  "!" here: removes calls from the set so far
 *
 *   openat,read       these two            '*stat*'       all with "stat" in their names
 *   %network          a class              '!%desc'       all but a class
 *   %file,!statx      a class but one      all            every call
 *
 * Classes have the names of strace(1): file desc process network memory signal ipc creds clock. The
 * "%" is optional (the 32-bit calls "signal" and "ipc" are in the classes of these names). A name
 * selects the calls of that name in both tables, native and 32-bit.
 */
#ifndef TALLY_HOST_SYSCALL_SET_H
#define TALLY_HOST_SYSCALL_SET_H

#include "base/complaint.h"
#include "host/syscalls.h"

struct syscall_set {
	u64 bits[SYSCALL_ABIS][SYSCALL_NUMBERS / 64];
};

/*
 * Returns 0, or on failure -EINVAL, or -ENOENT for an unknown call or class, with the complaint
 * filled in (with the nearest name) and *set undefined.
 */
int syscall_set__parse(struct syscall_set *set, const char *text, struct complaint *c);

/* Adds every number, including numbers without a name. */
void syscall_set__all(struct syscall_set *set);

/* Adds the calls of another set. */
void syscall_set__add(struct syscall_set *set, const struct syscall_set *more);

bool syscall_set__has(const struct syscall_set *set, enum syscall_abi abi, u32 number);

/* Returns the name of class i ("file"), without the "%" that marks a class, or NULL if there are no more. */
const char *syscall_class_name(size_t i);

/* "file, desc, ...", for messages. */
const char *syscall_classes(void);

/* Returns the calls of a class: names and globs, separated by blanks. NULL for an unknown class. */
const char *syscall_class_words(const char *class_name);

/* Whether the call is known to be in the class ("file"). False for an unknown class. */
bool syscall_is_in_class(const char *class_name, const char *call);

#endif /* TALLY_HOST_SYSCALL_SET_H */
