/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of an ELF file that code runs from, read by a process without rights. */
#ifndef TALLY_SYM_ELF_SYMBOLS_H
#define TALLY_SYM_ELF_SYMBOLS_H

#include "sym/symbol_table.h"
#include "types/elf_file.h"

/* All addresses are virtual ones in the file's own numbering. */
struct elf_symbols {
	struct symbol_table table;
	struct elf_segment *segment;    /* PT_LOAD, in the file's order */
	size_t nsegments;
	struct build_id build_id;
	struct debug_link link;         /* name "": none */
	bool complete;                  /* .symtab was there: a debug file has no more */
};

/*
 * Reads .symtab and .dynsym of the file fd, of .gnu_debugdata, and of the debug file debug_fd
 * (-1: none), which has to have the build ID or the CRC that the file asks for. Returns 0;
 * -ENOEXEC: no ELF file, or none of this machine; -ESTALE: the debug file belongs to another
 * file; -EBADMSG, -ETIME: it could not be read (see confined.h); -ENOMEM.
 */
int elf_symbols__read(struct elf_symbols *s, int fd, int debug_fd);
void elf_symbols__free(struct elf_symbols *s);

/*
 * Its two halves: what the process without rights answers, to be freed, and what is made of it,
 * whatever it is.
 */
int elf_symbols__ask(int fd, int debug_fd, void **answer, size_t *size);
int elf_symbols__take(struct elf_symbols *s, const void *answer, size_t size);

/*
 * The virtual address of an offset in the file, at which code is mapped. -ENOENT: no segment has
 * it in its pages.
 */
int elf_symbols__address(const struct elf_symbols *s, u64 offset, u64 *address);

#endif /* TALLY_SYM_ELF_SYMBOLS_H */
