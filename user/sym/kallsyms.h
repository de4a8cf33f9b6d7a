/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's functions by name and by address, from /proc/kallsyms (50 to 100 ms to read: only
 * if needed).
 */
#ifndef TALLY_SYM_KALLSYMS_H
#define TALLY_SYM_KALLSYMS_H

#include "base/types.h"
#include "sym/symbol_table.h"

struct kernel_function {
	char *name;
	char *module;           /* NULL: vmlinux; "bpf": a JITed program, never listed here */
	u64 address;            /* 0 where the kernel hides addresses (kptr_restrict, CAP_SYSLOG) */
	u64 size; /* up to the next symbol; 0 if unknown, as for the last of a module */
};

struct kernel_functions {
	struct kernel_function *function;       /* by address; by name where addresses are hidden */
	size_t n;
};

/*
 * The functions (text symbols) whose names match a glob (fnmatch(3); NULL: all), in a module (NULL:
 * any, "" or "vmlinux": not in a module). Aliases at one address are all there; padding (__pfx_,
 * __cfi_) is no function. Returns 0 or a negative errno.
 */
int kernel_functions__find(struct kernel_functions *found, const char *name, const char *module);
void kernel_functions__free(struct kernel_functions *f);

/* The address of any symbol (data too, where kallsyms has it). -ENOENT, -EPERM: hidden. */
int kernel_symbol(const char *name, u64 *address);

/* The same of n names (63 at most) in one go: all of them, or -ENOENT. */
int kernel_symbols__locate(const char *const *name, size_t n, u64 *address);

/* A part of the kernel that has its code in one place. */
struct kernel_module {
	char name[64];          /* "[kernel]", "ext4", "bpf" */
	char number[12];        /* its index, as the names of the table have it */
	u64 base;               /* of its first function; of the kernel: _text */
};

/* All code, aliases at one address chosen from. None where addresses are hidden. */
struct kernel_symbols {
	struct symbol_table table;      /* behind a name's NUL: its module's number, in decimal */
	struct kernel_module *module;   /* the first is the kernel */
	size_t nmodules;
};

/* Returns 0, -EPERM (addresses are hidden, or the file may not be read), -ENOMEM. */
int kernel_symbols__read(struct kernel_symbols *k);

/* The same of variables, which are there with CONFIG_KALLSYMS_ALL; -EPERM if not. */
int kernel_symbols__read_variables(struct kernel_symbols *k);
void kernel_symbols__free(struct kernel_symbols *k);

/* The module of a symbol of the table. */
const struct kernel_module *kernel_symbols__module(const struct kernel_symbols *k, u32 symbol);

#endif /* TALLY_SYM_KALLSYMS_H */
