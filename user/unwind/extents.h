/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pieces of code .eh_frame speaks of (Linux Standard Base, 10.6), as functions and the parts
 * that compilers split off them, and which of them handle exceptions. Of 64-bit and of 32-bit files,
 * read by a process without rights (base/confined.h).
 */
#ifndef TALLY_UNWIND_EXTENTS_H
#define TALLY_UNWIND_EXTENTS_H

#include "base/types.h"

struct code_extent {
	u64 start, size;        /* virtual addresses, in the file's own numbering */
	u32 has_handler;        /* of exceptions that pass through it: a language-specific data area */
	u32 pad;
};

struct code_extents {
	struct code_extent *extent;     /* by start */
	size_t n;
	bool has_personality;   /* something in the file takes part in unwinding */
};

/*
 * Reads the file fd, which stays the caller's. Returns 0; -ENOENT: there is no .eh_frame; -ENOEXEC,
 * -EBADMSG, -ETIME: it could not be read; -ENOMEM.
 */
int code_extents__read(struct code_extents *e, int fd);
void code_extents__free(struct code_extents *e);

/* The one that holds an address; NULL: none. */
const struct code_extent *code_extents__find(const struct code_extents *e, u64 address);

/* Of a section with these bytes at an address; pure. Returns 0 or -ENOMEM. */
int code_extents__parse(struct code_extents *e, const void *section, size_t size, u64 address,
			u32 word_bytes);

#endif /* TALLY_UNWIND_EXTENTS_H */
