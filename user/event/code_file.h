/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an ELF file says of itself to those who put probes on its code: which machine it is for, what
 * is where, and what it needs. The file is parsed by a process without rights (base/confined.h), whose
 * answer is no more trusted than the file; only bytes of code are read from it here.
 */
#ifndef TALLY_EVENT_CODE_FILE_H
#define TALLY_EVENT_CODE_FILE_H

#include <sys/types.h>

#include "base/types.h"
#include "types/elf_file.h"

struct code_file {
	int fd;                         /* its bytes */
	u32 machine;                    /* EM_X86_64, ... */
	struct elf_segment *segment;    /* PT_LOAD */
	size_t nsegments;
	/* Sections of jumps by which functions of other files are called. */
	struct code_range {
		u64 address, size;
	} *plt;
	size_t nplts;
	bool needs_unwinding;           /* a library that throws, or that unwinds stacks */
};

/*
 * Opens and reads it. Returns 0; -ENOEXEC: no ELF file of this byte order; -ENOMEM; or what open(2)
 * and confined__run() say.
 */
int code_file__open(struct code_file *f, const char *path);
void code_file__close(struct code_file *f);

/* Is an address in one of those sections? */
bool code_file__in_plt(const struct code_file *f, u64 address);

/* Bytes by their address. How many; -ENODATA: no segment (executable: that is) has all of them. */
ssize_t code_file__read(const struct code_file *f, u64 address, void *to, size_t size,
			bool executable);

#endif /* TALLY_EVENT_CODE_FILE_H */
