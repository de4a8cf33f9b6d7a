/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of this machine's native system calls. The table comes from the kernel's headers at
 * build time (asm/unistd.h), with the calls that were added later to it.
 */
#ifndef TALLY_HOST_SYSCALLS_H
#define TALLY_HOST_SYSCALLS_H

#include "base/types.h"

/* The number of a call by the name it has for user space ("stat"), or -ENOENT. */
int syscall_number(const char *name);

/*
 * The same by the name of the kernel's function, without "sys_": what tracepoints are called after
 * ("newstat"). The names that differ: arch/x86/entry/syscalls/syscall_64.tbl.
 */
int syscall_number_of_entry(const char *name);

#endif /* TALLY_HOST_SYSCALLS_H */
