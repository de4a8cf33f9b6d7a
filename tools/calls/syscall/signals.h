/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of the kernel's ABI about signals, as text in the way of strace(1): each takes one of
 * 64-bit programs, as long as struct_layout_size() says.
 */
#ifndef TALLY_SYSCALL_SIGNALS_H
#define TALLY_SYSCALL_SIGNALS_H

#include <stdio.h>

#include "base/types.h"

/* "[INT TERM]"; of a set with more than half of them, "~[...]": those that are not in it. */
void sigset__put(FILE *f, u64 set);

/* siginfo_t: what the code says is there. A signal of 0, as waitid(2) leaves it: "{}". */
void siginfo__put(FILE *f, const void *data);
void sigevent__put(FILE *f, const void *data);
void sigstack__put(FILE *f, const void *data);

#endif /* TALLY_SYSCALL_SIGNALS_H */
