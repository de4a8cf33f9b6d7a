/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and USDT probes of an ELF file that user code runs from. The file is not trusted:
 * every offset and count in it is checked.
 */
#ifndef TALLY_TYPES_BINARY_H
#define TALLY_TYPES_BINARY_H

#include "base/types.h"

struct binary_function {
	char *name;             /* as in the symbol table, not demangled, versions taken off */
	u64 address;            /* virtual, in the file's own numbering */
	u64 file_offset;        /* what uprobes want */
	u64 size;               /* 0: the symbol does not say */
	bool is_indirect;       /* STT_GNU_IFUNC: the code is a resolver, run once per process */
};

struct binary_functions {
	struct binary_function *function;       /* by address, aliases together, then by name */
	size_t n;
};

/*
 * Finds the file a name stands for: a path as it is; a name without a slash ("libc.so.6", "libc",
 * "bash") in the places the dynamic linker and the shell look (ld.so.cache, then PATH of
 * root: /usr/local/sbin .. /bin). New memory, or NULL with errno.
 */
char *binary__locate(const char *name);

/* The same, but a library is one that this program (a path, or a name; NULL: we) can load: 32-bit ones have others. */
char *binary__locate_for(const char *name, const char *program);

/*
 * Functions (STT_FUNC, STT_GNU_IFUNC) with code in the file whose names match a glob (NULL: all),
 * from .symtab, .dynsym and .gnu_debugdata together, each (name, address) once. Returns 0 or a
 * negative errno (-ENOEXEC: no ELF file, or damaged).
 */
int binary_functions__find(struct binary_functions *found, const char *path, const char *name);
void binary_functions__free(struct binary_functions *f);

/* The same, but those whose symbol is wanted: it is asked in a process without rights, which it may not leave. */
int binary_functions__search(struct binary_functions *found, const char *path,
			     bool (*is_wanted)(const char *symbol, const void *arg), const void *arg);

/* Is it a file with 32-bit code? False if it cannot be read, or is no ELF file. */
bool binary__is_32_bit(const char *path);

/* File offset of a virtual address; -ENOENT when no executable segment holds it. */
int binary__file_offset(const char *path, u64 address, u64 *file_offset);

/*
 * The address of a data symbol, for breakpoints, or of a function. -ENOENT. In a position
 * independent file it is relative to where the file is mapped.
 */
int binary__symbol(const char *path, const char *name, u64 *address, bool *is_relative);

/* One place of a USDT probe: a note of .note.stapsdt (sourceware.org/systemtap/wiki/UserSpaceProbeImplementation). */
struct usdt_probe {
	char *provider, *name;
	char *arguments;        /* "-4@%edi 8@-16(%rbp)", "" without */
	u64 pc;                 /* virtual address, corrected for prelink by .stapsdt.base */
	u64 file_offset;
	u64 semaphore;          /* file offset of the semaphore; 0: none */
};

struct usdt_probes {
	struct usdt_probe *probe;
	size_t n;
};

/* Probes whose provider and name match the globs (NULL: any), in the file's order. */
int usdt_probes__find(struct usdt_probes *found, const char *path, const char *provider,
		      const char *name);
void usdt_probes__free(struct usdt_probes *p);

#endif /* TALLY_TYPES_BINARY_H */
