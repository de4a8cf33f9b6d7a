/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel functions by name and by address, from /proc/kallsyms. Reading the file takes 50 to 100 ms, so it is read only
 * if needed.
 */
#ifndef TALLY_SYM_KALLSYMS_H
#define TALLY_SYM_KALLSYMS_H

#include "base/types.h"
#include "sym/symbol_table.h"

struct kernel_function {
	char *name;
	char *module;           /* NULL: vmlinux; "bpf": a JITed program, never in this list */
	u64 address;            /* 0 if the kernel hides addresses (kptr_restrict, CAP_SYSLOG) */
	u64 size; /* up to the next symbol; 0: unknown, as for the last of a module */
};

struct kernel_functions {
	struct kernel_function *function;       /* by address; by name if addresses are hidden */
	size_t n;
};

/*
 * Finds the functions (text symbols) whose names match a glob (fnmatch(3); NULL: all), in a module
 * (NULL: anywhere; "" or "vmlinux": not in a module). All aliases of an address are included;
 * padding (__pfx_, __cfi_) is not. Returns 0 or a negative errno.
 */
int kernel_functions__find(struct kernel_functions *found, const char *name, const char *module);
void kernel_functions__free(struct kernel_functions *f);

/* Finds the address of any symbol (also of data, if kallsyms lists it). -ENOENT, -EPERM: hidden. */
int kernel_symbol(const char *name, u64 *address);

/* Same for n names (at most 63) in one pass. -ENOENT if any is missing. */
int kernel_symbols__locate(const char *const *name, size_t n, u64 *address);

/* A part of the kernel with contiguous code. */
struct kernel_module {
	char name[64];          /* "[kernel]", "ext4", "bpf" */
	char number[12];        /* its index, as in the table's names */
	u64 base;               /* of its first function; for the kernel, _text */
};

/* All code symbols, one name per address. Empty if addresses are hidden. */
struct kernel_symbols {
	struct symbol_table table;      /* a name's NUL is followed by its module's number, in decimal */
	struct kernel_module *module;   /* the first is the kernel */
	size_t nmodules;
};

/* Returns 0, -EPERM (addresses are hidden, or the file is not readable), -ENOMEM. */
int kernel_symbols__read(struct kernel_symbols *k);

/* Same for the code of modules and BPF programs only. -ENOENT if none is loaded. */
int kernel_symbols__read_modules(struct kernel_symbols *k);

/* Same for variables. They need CONFIG_KALLSYMS_ALL; -EPERM without it. */
int kernel_symbols__read_variables(struct kernel_symbols *k);
void kernel_symbols__free(struct kernel_symbols *k);

/* Returns the module of a symbol in the table. */
const struct kernel_module *kernel_symbols__module(const struct kernel_symbols *k, u32 symbol);

#endif /* TALLY_SYM_KALLSYMS_H */
