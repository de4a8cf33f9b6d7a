/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening files of the system and of the user. Files of others: base/opener.h. */
#ifndef TALLY_BASE_REGULAR_H
#define TALLY_BASE_REGULAR_H

#include <sys/stat.h>

/*
 * Opens a file for reading if it is a regular one. Opening anything else (a FIFO, a device) may
 * have side effects or block, so it is not opened at all. Returns a descriptor and fills in *st
 * (may be NULL); -EISDIR, -ENOEXEC: not a regular file; or an error of open(2).
 */
int open_regular(const char *path, struct stat *st);

/* The same for an O_PATH descriptor, which it takes over. */
int open_found(int found, struct stat *st);

/*
 * fstat(2) that never waits: it gives what the kernel knows of an open file without asking the file's server. Returns
 * 0 or a negative errno.
 */
int stat_known(int fd, struct stat *st);

#endif /* TALLY_BASE_REGULAR_H */
