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

#endif /* TALLY_BASE_PROGRAM_PATH_H */
