/* SPDX-License-Identifier: BSD-2-Clause */
/* The search of a program along PATH. */
#ifndef TALLY_BASE_PROGRAM_PATH_H
#define TALLY_BASE_PROGRAM_PATH_H

/*
 * The regular file that execvp(3) would execute for this name, as far as access(2) can tell, allocated: the name itself
 * if it has a slash, or the first in the directories of PATH, in which an empty one is the current directory. NULL:
 * there is none, or no memory.
 */
char *program_path(const char *name);

/*
 * The same, looked for by a process that can be abandoned (base/opener.h): the name may be below a mount whose server
 * never answers. Looks at the bits of the file's mode instead of access(2). NULL: *err is -ENOENT, or why there was no
 * answer.
 */
char *program_path_asked(const char *name, int *err);

#endif /* TALLY_BASE_PROGRAM_PATH_H */
