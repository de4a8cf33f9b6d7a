/* SPDX-License-Identifier: BSD-2-Clause */
/* Signatures of system calls without a line in the tables, from the kernel's tracepoints. */
#ifndef TALLY_SYSCALL_GUESS_H
#define TALLY_SYSCALL_GUESS_H

#include "base/types.h"
#include "calls/syscall/table.h"

/* Makes a signature for a call without one: the arguments from tracefs, or six numbers. */
void syscall_signature__guess(struct signature *s, int tracefs, const char *name);

/* Whether a parameter of this C type has at most 32 bits. */
bool syscall_type_is_narrow(const char *type);

#endif /* TALLY_SYSCALL_GUESS_H */
