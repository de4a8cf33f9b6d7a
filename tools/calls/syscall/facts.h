/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of the kernel's ABI about the system, processes, files and locks, as text like strace(1).
 * Each function takes a struct of 64-bit programs, struct_layout_size() bytes long; "..." stands
 * for the rest of a longer one.
 */
#ifndef TALLY_SYSCALL_FACTS_H
#define TALLY_SYSCALL_FACTS_H

#include <stdio.h>

#include "base/types.h"

void rusage__put(FILE *f, const void *data);
void tms__put(FILE *f, const void *data);
void sysinfo__put(FILE *f, const void *data);
void utsname__put(FILE *f, const void *data);
void statfs__put(FILE *f, const void *data);
/* told: the call was F_GETLK, which returns the owner of the lock. */
void flock__put(FILE *f, const void *data, bool told);
void sched_attr__put(FILE *f, const void *data);

/* Capabilities: the process that they belong to, and sets as in /proc/PID/status. */
void cap_header__put(FILE *f, const void *data);
void caps__put(FILE *f, const void *data);

#endif /* TALLY_SYSCALL_FACTS_H */
