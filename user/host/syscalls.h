/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and numbers of system calls. The tables are generated from the kernel headers at build time
 * (asm/unistd.h, and asm/unistd_32.h on x86), plus calls newer than these headers. x32 (numbers
 * from 0x40000000, CONFIG_X86_X32_ABI, off on most kernels) is not supported.
 */
#ifndef TALLY_HOST_SYSCALLS_H
#define TALLY_HOST_SYSCALLS_H

#include "base/types.h"

#include "bpf/lib/syscalls.h"

/* Returns the number of a call by its user-space name ("stat"), or -ENOENT. */
int syscall_number_in(enum syscall_abi abi, const char *name);

/* Like syscall_number_in(), for native calls of this machine. */
int syscall_number(const char *name);

/*
 * Like syscall_number(), by the name of the kernel's function without "sys_", as in tracepoints ("newstat"). For the
 * names that differ, see arch/x86/entry/syscalls/syscall_64.tbl.
 */
int syscall_number_of_entry(const char *name);

/* Sets the element of a call to mark, in each table that has the call. */
void syscall_mark(u8 calls[SYSCALL_ABIS][SYSCALL_NUMBERS], const char *name, u8 mark);

/* Returns NULL for an unknown number. */
const char *syscall_name(enum syscall_abi abi, u32 number);

#endif /* TALLY_HOST_SYSCALLS_H */
