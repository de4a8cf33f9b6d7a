/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files of the system and of the user. For files of traced processes see base/opener.h. */
#ifndef TALLY_BASE_REGULAR_H
#define TALLY_BASE_REGULAR_H

#include <sys/stat.h>

/*
 * Opens a file for reading if it is a regular one. Opening anything else (a FIFO, a device) may
 * have side effects or block, so it is not opened at all. Returns a descriptor and fills in *st
 * (may be NULL); -EISDIR, -ENOEXEC: not a regular file; or an error of open(2).
 */
int open_regular(const char *path, struct stat *st);

/* The same for an O_PATH descriptor; takes ownership of it. */
int open_found(int found, struct stat *st);

/*
 * fstat(2) that never waits: returns what the kernel knows about an open file without asking the file's server. Returns
 * 0 or a negative errno.
 */
int stat_known(int fd, struct stat *st);

#endif /* TALLY_BASE_REGULAR_H */
