/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel says of itself, of processes, files and locks in structs of its ABI, as text in
 * the way of strace(1). Each takes one such struct of 64-bit programs, as long as
 * struct_layout_size() says; what is longer in the kernel is shown as "...".
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
/* told: by F_GETLK, with whose lock it is. */
void flock__put(FILE *f, const void *data, bool told);
void sched_attr__put(FILE *f, const void *data);

/* Capabilities: who is asked about, and sets as /proc/PID/status writes them. */
void cap_header__put(FILE *f, const void *data);
void caps__put(FILE *f, const void *data);

#endif /* TALLY_SYSCALL_FACTS_H */
