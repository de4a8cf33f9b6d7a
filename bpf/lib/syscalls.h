/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System call numbers as BPF and user space use them; names are in user/host/syscalls.h. */
#ifndef TALLY_BPF_SYSCALLS_H
#define TALLY_BPF_SYSCALLS_H

/*
 * The system call table that a number refers to. SYSCALL_COMPAT is the table of 32-bit programs on a 64-bit kernel; on
 * x86 it is the table of int 0x80 and sysenter, which 64-bit programs can use as well.
 */
enum syscall_abi {
	SYSCALL_NATIVE,
	SYSCALL_COMPAT,
	SYSCALL_ABIS,
};

#define SYSCALL_NUMBERS 1024    /* in each table; the highest is below 600 (7.2) */

#endif /* TALLY_BPF_SYSCALLS_H */
