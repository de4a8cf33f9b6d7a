/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that a program maps when it starts, found before it does: itself, its interpreter, and
 * the libraries that these need, as ld.so(8) would find them; or as musl's loader would, if that is the
 * interpreter. Nothing is executed, and processes without rights parse the files (base/confined.h).
 *
 * Best effort: libraries that the program opens by itself (dlopen(3), LD_PRELOAD), those of hwcaps
 * directories that ld.so.cache does not name, and what a script's interpreter starts are missing.
 */
#ifndef TALLY_TYPES_PROGRAM_FILES_H
#define TALLY_TYPES_PROGRAM_FILES_H

#include <sys/stat.h>

#include "base/types.h"

#define PROGRAM_FILES_MOST 64

struct program_file {
	const char *path;
	int fd;                 /* the visitor's */
	struct stat st;
	bool is_read;           /* its needs are known */
};

/* A result other than 0 ends the search. */
typedef int (*program_file_visit)(void *arg, const struct program_file *file);

/*
 * Calls visit for each file, once, the program first. name is as for execvp(3). After end_ns
 * (CLOCK_MONOTONIC) and PROGRAM_FILES_MOST files no more are sought. Returns 0, whatever was found;
 * -ENOMEM; or what visit returned.
 */
int program_files__each(const char *name, u64 end_ns, program_file_visit visit, void *arg);

#endif /* TALLY_TYPES_PROGRAM_FILES_H */
