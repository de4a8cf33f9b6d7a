/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of system calls, as -e takes them:
 *
 *   SET  := ["!"] PART ("," PART)*          "!" in front: all but these
 *   PART := ["!"] NAME | GLOB | ["%"] CLASS  "!" here: without those named so far
 *
 *   openat,read       those two            '*stat*'       all with "stat" in their names
 *   %network          a class              '!%desc'       all but a class
 *   %file,!statx      a class but one      all            every call
 *
 * Classes are named as strace(1) names them: file desc process network memory signal ipc creds
 * clock. Their "%" can be left out (the 32-bit calls "signal" and "ipc" are in the classes of these
 * names). A name means the calls of that name in both tables, native and 32-bit.
 */
#ifndef TALLY_HOST_SYSCALL_SET_H
#define TALLY_HOST_SYSCALL_SET_H

#include "base/complaint.h"
#include "host/syscalls.h"

struct syscall_set {
	u64 bits[SYSCALL_ABIS][SYSCALL_NUMBERS / 64];
};

/*
 * Returns 0; or -EINVAL, or -ENOENT for what no call or class is named, after filling in the
 * complaint (with the nearest name); then *set is not to be used.
 */
int syscall_set__parse(struct syscall_set *set, const char *text, struct complaint *c);

/* Every number, those without a name too. */
void syscall_set__all(struct syscall_set *set);

/* Puts in those of more. */
void syscall_set__add(struct syscall_set *set, const struct syscall_set *more);

bool syscall_set__has(const struct syscall_set *set, enum syscall_abi abi, u32 number);

/* "file, desc, ...", for messages. */
const char *syscall_classes(void);

/*
 * The calls of a class: names and globs, with blanks between. NULL: no class is named so.
 */
const char *syscall_class_words(const char *class_name);

/* Is the call known to be of the class ("file")? False too where there is no such class. */
bool syscall_is_in_class(const char *class_name, const char *call);

#endif /* TALLY_HOST_SYSCALL_SET_H */
