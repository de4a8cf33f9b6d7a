/* SPDX-License-Identifier: BSD-2-Clause */
/* Searches PATH for a program. */
#ifndef TALLY_BASE_PROGRAM_PATH_H
#define TALLY_BASE_PROGRAM_PATH_H

/*
 * Returns the regular file that execvp(3) would execute for this name, as far as access(2) can tell, allocated. This is
 * the name itself if it has a slash, otherwise the first match in the directories of PATH, where an empty entry is the
 * current directory. NULL if there is none, or without memory.
 */
char *program_path(const char *name);

/*
 * Like program_path(), in a process that can be abandoned (base/opener.h), since the name may be below a mount whose
 * server never answers. Checks the file's mode bits instead of calling access(2). If it returns NULL, *err is -ENOENT,
 * or the reason why there was no answer.
 */
char *program_path_asked(const char *name, int *err);

#endif /* TALLY_BASE_PROGRAM_PATH_H */
