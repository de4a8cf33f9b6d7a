/* SPDX-License-Identifier: BSD-2-Clause */
/* Searches PATH for a program. */
#ifndef TALLY_BASE_PROGRAM_PATH_H
#define TALLY_BASE_PROGRAM_PATH_H

/*
 * The regular file that execvp(3) would execute for this name, as far as access(2) can tell, allocated: the name itself
 * if it has a slash, or the first match in the directories of PATH, where an empty entry is the current directory. NULL
 * if there is none, or no memory.
 */
char *program_path(const char *name);

/*
 * The same search by a process that can be abandoned (base/opener.h), since the name may be below a mount whose server
 * never answers. Checks the bits of the file's mode instead of access(2). If NULL, *err is -ENOENT, or the reason why
 * there was no answer.
 */
char *program_path_asked(const char *name, int *err);

#endif /* TALLY_BASE_PROGRAM_PATH_H */
