/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that allocate and free memory, in the C library and in other allocators: malloc() and
 * its relatives, also as je_malloc(), tc_malloc(), mi_malloc(); operator new and delete where the
 * allocator has them itself (elsewhere they go through malloc()).
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
	ALLOCATOR_KINDS,
};

struct allocator_site {
	enum allocator_kind kind;
	char *name;
	char *path;             /* of the file; good while the process lives that it was found in */
	u64 file_offset;
};

/* All zero at first. */
struct allocators {
	struct allocator_site *site;
	size_t n;
};

/*
 * Adds those of a file: a path, or a name to look for (types/binary.h). A file without malloc()
 * adds none. Returns 0 or a negative errno.
 */
int allocators__add_file(struct allocators *a, const char *name);

/* Adds those of the files a process has mapped: its program, its C library, other allocators. */
int allocators__add_process(struct allocators *a, u32 pid);
void allocators__free(struct allocators *a);

#endif /* TALLY_MEMORY_ALLOCATORS_H */
