/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locates the files with a program's symbols and debug information by name. Unprivileged processes parse them
 * (base/confined.h).
 */
#ifndef TALLY_TYPES_DEBUG_FILE_H
#define TALLY_TYPES_DEBUG_FILE_H

#include "types/elf_file.h"

/* Facts about one ELF file. */
struct elf_about {
	u32 type;               /* ET_EXEC, ... */
	u32 has_symbols;        /* has .symtab: symbols are complete */
	u32 has_debug_info;
	struct build_id build_id;
	struct debug_link link; /* name "": none */
	struct debug_alt alt;
};

/* Returns 0, -ENOEXEC (not an ELF file of this machine, or damaged), or an error of confined__run(). */
int elf_about__read(struct elf_about *about, int fd);

/*
 * Opens the debug file of the program at path, by build ID below /usr/lib/debug or by its debug
 * link. If name is not NULL, *name is its allocated path. Returns a descriptor, -ENOENT, -ENOMEM,
 * -ETIME (checking a candidate takes too long), or -EINTR.
 */
int debug_file__open(const struct elf_about *about, const char *path, char **name);

/* Same, for the file to which dwz(1) has moved debug information. */
int debug_file__open_alt(const struct elf_about *about, const char *path);

#endif /* TALLY_TYPES_DEBUG_FILE_H */
