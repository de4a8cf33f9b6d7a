/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of the kernel's ABI about signals, as text like strace(1). Each function takes a struct
 * of 64-bit programs, struct_layout_size() bytes long.
 */
#ifndef TALLY_SYSCALL_SIGNALS_H
#define TALLY_SYSCALL_SIGNALS_H

#include <stdio.h>

#include "base/types.h"

/*
 * Puts "[INT TERM]". A set with more than half of the signals is put as "~[...]", with the signals that are not in it.
 */
void sigset__put(FILE *f, u64 set);

/* Puts the members of a siginfo_t that its code implies. Signal 0, as left by waitid(2), is put as "{}". */
void siginfo__put(FILE *f, const void *data);
void sigevent__put(FILE *f, const void *data);
void sigstack__put(FILE *f, const void *data);

#endif /* TALLY_SYSCALL_SIGNALS_H */
