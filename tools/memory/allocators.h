/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that allocate and free memory, in the C library and in other allocators: malloc() and
 * related functions, also as je_malloc(), tc_malloc(), mi_malloc(); operator new and delete where
 * the allocator defines them itself (elsewhere they go through malloc()). Return probes, which
 * replace the return address on the stack, see the results of all but operator new: an exception
 * thrown by it would find the changed return address and end the program. So operator new has sites
 * for its return instructions instead; one without any is left out.
 */
#ifndef TALLY_MEMORY_ALLOCATORS_H
#define TALLY_MEMORY_ALLOCATORS_H

#include "base/types.h"
#include "bpf/memory/memleak.h"

struct allocator_site {
	enum allocator_kind kind;
	char *name;
	char *path;             /* of the file; valid while the process it was found in lives */
	char *shown;            /* its path as the process sees it */
	u64 file_offset;
};

/* Must be zeroed at first. */
struct allocators {
	struct allocator_site *site;
	size_t n;
	struct allocator_file {
		u64 device, inode;
	} *file;                /* files with sites; processes share them */
	size_t nfiles;
	char *left_out;         /* the first operator new without known return instructions; NULL: none */
	const char *why;
	size_t nleft_out;
	char *unread;           /* the first file of a process that could not be read; NULL: none */
	int unread_err;
};

/*
 * Adds the functions of a file: a path, or a name to look up as program (may be NULL) would load it
 * (types/binary.h). A file without malloc() adds none. Returns 0 or a negative errno.
 */
int allocators__add_file(struct allocators *a, const char *name, const char *program);

/*
 * Adds the functions of the files that a command will map when it starts: its program or interpreter, its C library,
 * allocators it is linked with.
 */
int allocators__add_command(struct allocators *a, const char *command);

/*
 * Adds the functions of the files that a process has mapped: its program, C library and allocators.
 */
int allocators__add_process(struct allocators *a, u32 pid);
void allocators__free(struct allocators *a);

#endif /* TALLY_MEMORY_ALLOCATORS_H */
