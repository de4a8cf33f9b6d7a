/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that allocate and free memory, in the C library and in other allocators: malloc() and
 * related functions, also under names such as je_malloc(), tc_malloc(), mi_malloc(), and operator
 * new and delete where the allocator defines them itself (elsewhere they call malloc()). Return
 * probes, which replace the return address on the stack, read the results of all these functions
 * except operator new: an exception that it throws would find the changed return address and end
 * the program. Therefore operator new has probes at its return instructions instead. It is left out
 * if no return instruction is known.
 */
#ifndef TALLY_MEMORY_ALLOCATORS_H
#define TALLY_MEMORY_ALLOCATORS_H

#include "base/types.h"
#include "bpf/memory/memleak.h"

struct allocator_site {
	enum allocator_kind kind;
	char *name;
	char *path;             /* path of the file; valid while the process in which it was found lives */
	char *shown;            /* path of the file as the process sees it */
	u64 file_offset;
};

/* Initialise to all zeros. */
struct allocators {
	struct allocator_site *site;
	size_t n;
	struct allocator_file {
		u64 device, inode;
	} *file;                /* files with sites, which processes share */
	size_t nfiles;
	char *left_out;         /* the first operator new without known return instructions, or NULL */
	const char *why;
	size_t nleft_out;
	char *unread;           /* the first file of a process that could not be read, or NULL */
	int unread_err;
};

/*
 * Adds the functions of a file. name: a path, or a name that is looked up like a library of program
 * (may be NULL), see types/binary.h. A file without malloc() adds none. Returns 0 or a negative
 * errno.
 */
int allocators__add_file(struct allocators *a, const char *name, const char *program);

/*
 * Adds the functions of the files that a command will map when it starts: its program or interpreter, its C library,
 * and the allocators that it is linked with.
 */
int allocators__add_command(struct allocators *a, const char *command);

/*
 * Adds the functions of the files that a process has mapped: its program, C library and allocators.
 */
int allocators__add_process(struct allocators *a, u32 pid);
void allocators__free(struct allocators *a);

#endif /* TALLY_MEMORY_ALLOCATORS_H */
