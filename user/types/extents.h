/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The address ranges in .eh_frame (Linux Standard Base, 10.6): functions and the parts that compilers split off, and
 * which of them handle exceptions. For 64-bit and 32-bit files, read by an unprivileged process (base/confined.h).
 */
#ifndef TALLY_TYPES_EXTENTS_H
#define TALLY_TYPES_EXTENTS_H

#include "types/elf_file.h"

struct code_extent {
	u64 start, size;        /* virtual, in the file's own numbering */
	u32 has_handler;        /* has a language-specific data area, so it handles exceptions that pass through it */
	u32 pad;
};

struct code_extents {
	struct code_extent *extent;     /* by start */
	size_t n;
	bool has_personality;   /* some function in the file takes part in unwinding */
};

/*
 * Reads the file fd, which remains the caller's. Returns 0; -ENOENT: no .eh_frame; -ENOEXEC,
 * -EBADMSG, -ETIME: could not be read; -ENOMEM.
 */
int code_extents__read(struct code_extents *e, int fd);
void code_extents__free(struct code_extents *e);

/* Returns the extent that contains an address, or NULL. */
const struct code_extent *code_extents__find(const struct code_extents *e, u64 address);

/* Same, for a file that is open in an unprivileged process. Returns 0, -ENOENT, -EBADMSG or -ENOMEM. */
int code_extents__of_file(struct code_extents *e, const struct elf_file *f);

/* Parses a section of size bytes, located at an address; pure. Returns 0 or -ENOMEM. */
int code_extents__parse(struct code_extents *e, const void *section, size_t size, u64 address,
			u32 word_bytes);

#endif /* TALLY_TYPES_EXTENTS_H */
