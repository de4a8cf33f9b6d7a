/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the files that a program will map when it starts: the program, its interpreter, and the libraries that they
 * need, as ld.so(8) would find them, or musl's loader if that is the interpreter. Nothing is executed, and unprivileged
 * processes parse the files (base/confined.h).
 *
 * Best effort: libraries that the program opens itself (dlopen(3), LD_PRELOAD), libraries in hwcaps directories that
 * ld.so.cache does not list, and programs that a script's interpreter starts are missing.
 */
#ifndef TALLY_TYPES_PROGRAM_FILES_H
#define TALLY_TYPES_PROGRAM_FILES_H

#include <sys/stat.h>

#include "base/types.h"

#define PROGRAM_FILES_MOST 64

struct program_file {
	const char *path;
	int fd;                 /* owned by the visitor */
	struct stat st;
	bool is_read;           /* its needed libraries are known */
};

/* A non-zero result ends the search. */
typedef int (*program_file_visit)(void *arg, const struct program_file *file);

/*
 * Calls visit once for each file, the program first. name is as for execvp(3). The search stops after end_ns
 * (CLOCK_MONOTONIC) or PROGRAM_FILES_MOST files. Returns 0, whatever was found; -ENOMEM; or the non-zero result of
 * visit.
 */
int program_files__each(const char *name, u64 end_ns, program_file_visit visit, void *arg);

#endif /* TALLY_TYPES_PROGRAM_FILES_H */
