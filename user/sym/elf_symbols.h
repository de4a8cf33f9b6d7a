/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of an ELF file that code runs from, read by a process without rights. */
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

/* All addresses are virtual ones in the file's own numbering. */
struct elf_symbols {
	struct symbol_table table;
	struct elf_segment *segment;    /* PT_LOAD, in the file's order */
	size_t nsegments;
	u32 machine;                    /* EM_X86_64, ... */
	struct build_id build_id;
	struct debug_link link;         /* name "": none */
	bool complete;                  /* .symtab was there: a debug file has no more */
	enum debug_info debug_info;
	struct debug_alt alt;           /* of the one with the debug information */
	u64 dropped;                    /* symbols whose names were too much */
	u64 moved;                      /* what addresses are above those of the debug file */
};

/*
 * Reads .symtab and .dynsym of the file fd, of .gnu_debugdata, and of the debug file debug_fd
 * (-1: none), which has to have the build ID or the CRC that the file asks for. Returns 0;
 * -ENOEXEC: no ELF file, or none of this machine; -ESTALE: the debug file belongs to another
 * file; -ENOMEM; or what confined__run() says, of which allowance may be NULL.
 *
 * Names that many symbols share are one string in a file and one each here: what is more than
 * ELF_SYMBOLS_NAMES and four times the file's strings is left out (dropped).
 */
int elf_symbols__read(struct elf_symbols *s, int fd, int debug_fd, struct allowance *allowance);
void elf_symbols__free(struct elf_symbols *s);

/* The build ID alone, of any ELF file, read likewise: n is 0 where it has none. */
int elf_symbols__build_id(struct build_id *id, int fd, struct allowance *allowance);

/*
 * Its two halves: what the process without rights answers, to be freed, and what is made of it,
 * whatever it is.
 */
int elf_symbols__ask(int fd, int debug_fd, struct allowance *allowance, void **answer,
		     size_t *size);
int elf_symbols__take(struct elf_symbols *s, const void *answer, size_t size);

/*
 * The virtual address of an offset in the file, at which code is mapped. -ENOENT: no segment has
 * it in its pages.
 */
int elf_symbols__address(const struct elf_symbols *s, u64 offset, u64 *address);

#endif /* TALLY_SYM_ELF_SYMBOLS_H */
