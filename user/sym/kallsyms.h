/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's functions by name, from /proc/kallsyms (50 to 100 ms to read: only if needed). */
#ifndef TALLY_SYM_KALLSYMS_H
#define TALLY_SYM_KALLSYMS_H

#include "base/types.h"

struct kernel_function {
	char *name;
	char *module;           /* NULL: vmlinux; "bpf": a JITed program, never listed here */
	u64 address;            /* 0 where the kernel hides addresses (kptr_restrict, CAP_SYSLOG) */
	u64 size;               /* up to the next symbol; 0 if unknown, as for the last of a module */
};

struct kernel_functions {
	struct kernel_function *function;       /* by address; by name where addresses are hidden */
	size_t n;
};

/*
 * The functions (text symbols) whose names match a glob (fnmatch(3); NULL: all), in a module (NULL: any, ""
 * or "vmlinux": not in a module). Aliases at one address are all there;
 * padding (__pfx_, __cfi_) is no function. Returns 0 or a negative
 * errno.
 */
int kernel_functions__find(struct kernel_functions *found, const char *name, const char *module);
void kernel_functions__free(struct kernel_functions *f);

/* The address of any symbol (data too, where kallsyms has it). -ENOENT, -EPERM: hidden. */
int kernel_symbol(const char *name, u64 *address);

#endif /* TALLY_SYM_KALLSYMS_H */
