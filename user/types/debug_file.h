/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files with the symbols and the debug information of a program: found by name here, and looked
 * into by processes without rights (base/confined.h).
 */
#ifndef TALLY_TYPES_DEBUG_FILE_H
#define TALLY_TYPES_DEBUG_FILE_H

#include "types/elf_file.h"

/* What one file says of itself. */
struct elf_about {
	u32 type;               /* ET_EXEC, ... */
	u32 has_symbols;        /* .symtab: nothing is missing */
	u32 has_debug_info;
	struct build_id build_id;
	struct debug_link link; /* name "": none */
	struct debug_alt alt;
};

/* 0, -ENOEXEC: no ELF file of this machine, or damaged; or what confined__run() says. */
int elf_about__read(struct elf_about *about, int fd);

/*
 * Opens the debug file of one that is called path: by build ID below /usr/lib/debug, or by its
 * link. *name, which may be asked for (else NULL), is new memory. A descriptor, -ENOENT, -ENOMEM,
 * -ETIME (looking into one that is there takes too long), or -EINTR.
 */
int debug_file__open(const struct elf_about *about, const char *path, char **name);

/* The same with the file that dwz(1) has moved debug information to from the one called path. */
int debug_file__open_alt(const struct elf_about *about, const char *path);

#endif /* TALLY_TYPES_DEBUG_FILE_H */
