/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of the ELF file of a program or library, read by an unprivileged process. */
#ifndef TALLY_SYM_ELF_SYMBOLS_H
#define TALLY_SYM_ELF_SYMBOLS_H

#include "base/confined.h"
#include "sym/symbol_table.h"
#include "types/elf_file.h"

enum debug_info {
	DEBUG_INFO_NONE,
	DEBUG_INFO_OWN,         /* in the file itself */
	DEBUG_INFO_SEPARATE,    /* in its debug file */
};

#define ELF_SYMBOLS_NAMES (1ULL << 20)

/* All addresses are virtual, in the file's own numbering. */
struct elf_symbols {
	struct symbol_table table;
	struct elf_segment *segment;    /* PT_LOAD, in file order */
	size_t nsegments;
	u32 machine;                    /* EM_X86_64, ... */
	struct build_id build_id;
	struct debug_link link;         /* name "": none */
	bool complete;                  /* has .symtab: a debug file adds nothing */
	enum debug_info debug_info;
	struct debug_alt alt;           /* of the file with the debug information */
	u64 dropped;                    /* symbols left out because their names take too much memory */
	u64 moved;                      /* addresses minus those of the debug file */
};

/*
 * Reads the symbols of the file fd (.symtab, .dynsym), of its .gnu_debugdata, and of the debug file debug_fd (-1:
 * none), whose build ID or CRC must match. allowance may be NULL. Returns 0; -ENOEXEC: not an ELF file of this machine;
 * -ESTALE: the debug file belongs to another file; -ENOMEM; or an error of confined__run().
 *
 * Symbols can share a name string in the file, but each gets its own copy here. So the names are limited to
 * ELF_SYMBOLS_NAMES plus four times the file's strings; symbols beyond that are left out (dropped).
 */
int elf_symbols__read(struct elf_symbols *s, int fd, int debug_fd, struct allowance *allowance);
void elf_symbols__free(struct elf_symbols *s);

/* Same, but reads only the build ID, of any ELF file. n is 0 if it has none. */
int elf_symbols__build_id(struct build_id *id, int fd, struct allowance *allowance);

/*
 * The two halves of elf_symbols__read(): get the answer of the unprivileged process, which the caller frees, and parse
 * it. The answer is untrusted.
 */
int elf_symbols__ask(int fd, int debug_fd, struct allowance *allowance, void **answer,
		     size_t *size);
int elf_symbols__take(struct elf_symbols *s, const void *answer, size_t size);

/* Returns the virtual address of a file offset at which code is mapped. -ENOENT: no segment's pages contain it. */
int elf_symbols__address(const struct elf_symbols *s, u64 offset, u64 *address);

/*
 * Same, for the file offset at which an executable mapping begins. It is page-aligned, so it may lie before the code
 * segment, in the previous segment, which has a different bias (lld links like that).
 */
int elf_symbols__mapped_address(const struct elf_symbols *s, u64 offset, u64 *address);

#endif /* TALLY_SYM_ELF_SYMBOLS_H */
