/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and USDT probes of the ELF file of a program or library. The file is untrusted: every offset and count in
 * it is checked.
 */
#ifndef TALLY_TYPES_BINARY_H
#define TALLY_TYPES_BINARY_H

#include "base/types.h"

struct binary_function {
	char *name;             /* as in the symbol table, mangled, without its version */
	u64 address;            /* virtual, in the file's own numbering */
	u64 file_offset;        /* as uprobes expect */
	u64 size;               /* 0: unknown */
	bool is_indirect;       /* STT_GNU_IFUNC: the code is a resolver, run once per process */
};

struct binary_functions {
	struct binary_function *function;       /* by address, aliases adjacent, then by name */
	size_t n;
};

/*
 * Finds the file that a name refers to. A path is returned unchanged; a name without a slash ("libc.so.6", "libc",
 * "bash") is looked up as the dynamic linker and the shell do (ld.so.cache, then root's PATH: /usr/local/sbin .. /bin).
 * The result is allocated; NULL with errno set on failure.
 */
char *binary__locate(const char *name);

/*
 * Same, but finds a library that program (a path or a name; NULL: our own) can load. 32-bit programs load different
 * libraries.
 */
char *binary__locate_for(const char *name, const char *program);

/*
 * Finds the functions (STT_FUNC, STT_GNU_IFUNC) with code in the file that have this name; if there are none, the
 * functions whose names match it as a glob (NULL: all). .symtab, .dynsym and .gnu_debugdata are merged, with each
 * (name, address) once. A Go program without a symbol table has the names of types/go_symbols.h. Returns 0 or a
 * negative errno (-ENOEXEC: not an ELF file, or damaged).
 */
int binary_functions__find(struct binary_functions *found, const char *path, const char *name);
void binary_functions__free(struct binary_functions *f);

/*
 * Same, but if no function has this name, finds the functions that is_wanted(symbol, name) accepts. is_wanted() runs in
 * an unprivileged process and must not exit it.
 */
int binary_functions__search(struct binary_functions *found, const char *path,
			     bool (*is_wanted)(const char *symbol, const void *name), const char *name);

/* True if the file contains 32-bit code. False if it cannot be read or is not an ELF file. */
bool binary__is_32_bit(const char *path);

/* Converts a virtual address to a file offset. -ENOENT if no executable segment contains the address. */
int binary__file_offset(const char *path, u64 address, u64 *file_offset);

/*
 * Finds the address of a data symbol (for breakpoints) or a function. -ENOENT. In a position-independent file, the
 * address is relative to the load address.
 */
int binary__symbol(const char *path, const char *name, u64 *address, bool *is_relative);

/*
 * One location of a USDT probe: a note of .note.stapsdt
 * (sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
 */
struct usdt_probe {
	char *provider, *name;
	char *arguments;        /* "-4@%edi 8@-16(%rbp)", "" if none */
	u64 pc;                 /* virtual address, corrected for prelink by .stapsdt.base */
	u64 file_offset;
	u64 semaphore;          /* file offset of the semaphore; 0: none */
};

struct usdt_probes {
	struct usdt_probe *probe;
	size_t n;
};

/* Probes whose provider and name match the globs (NULL: any), in file order. */
int usdt_probes__find(struct usdt_probes *found, const char *path, const char *provider,
		      const char *name);
void usdt_probes__free(struct usdt_probes *p);

#endif /* TALLY_TYPES_BINARY_H */
