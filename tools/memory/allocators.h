/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that allocate and free memory, in the C library and in other allocators: malloc() and
 * its relatives, also as je_malloc(), tc_malloc(), mi_malloc(); operator new and delete where the
 * allocator has them itself (elsewhere they go through malloc()). What the others return may be seen by
 * their return address on the stack; operator new may throw, which a changed return address would make
 * the end of the program, so it has sites for its return instructions. One that has none is left out.
 */
#ifndef TALLY_MEMORY_ALLOCATORS_H
#define TALLY_MEMORY_ALLOCATORS_H

#include "base/types.h"

/* By their arguments. */
enum allocator_kind {
	ALLOCATOR_MALLOC,               /* (size) */
	ALLOCATOR_CALLOC,               /* (n, size) */
	ALLOCATOR_MEMALIGN,             /* (alignment, size) */
	ALLOCATOR_POSIX_MEMALIGN,       /* (&address, alignment, size) */
	ALLOCATOR_REALLOC,              /* (address, size) */
	ALLOCATOR_REALLOCARRAY,         /* (address, n, size) */
	ALLOCATOR_FREE,                 /* (address) */
	ALLOCATOR_NEW,                  /* (size): operator new, which may throw */
	ALLOCATOR_NEW_EXIT,             /* an instruction by which that returns, to be probed first */
	ALLOCATOR_DELETE,               /* (address) */
	ALLOCATOR_KINDS,
};

struct allocator_site {
	enum allocator_kind kind;
	char *name;
	char *path;             /* of the file; good while the process lives that it was found in */
	char *shown;            /* that file's path as the process sees it */
	u64 file_offset;
};

/* All zero at first. */
struct allocators {
	struct allocator_site *site;
	size_t n;
	char *left_out;         /* the first operator new whose ends cannot be told, and its file; NULL: none */
	const char *why;
	size_t nleft_out;
};

/*
 * Adds those of a file: a path, or a name to look for, which program (may be NULL) would load (types/binary.h).
 * A file without malloc() adds none. Returns 0 or a negative errno.
 */
int allocators__add_file(struct allocators *a, const char *name, const char *program);

/* Adds those of the files a process has mapped: its program, its C library, other allocators. */
int allocators__add_process(struct allocators *a, u32 pid);
void allocators__free(struct allocators *a);

#endif /* TALLY_MEMORY_ALLOCATORS_H */
