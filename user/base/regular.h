/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files of the system and of the user. For files of traced processes see base/opener.h. */
#ifndef TALLY_BASE_REGULAR_H
#define TALLY_BASE_REGULAR_H

#include <sys/stat.h>

/*
 * Opens a regular file for reading. Does not open anything else (a FIFO, a device), since this may
 * have side effects or block. Returns a descriptor and fills in *st (may be NULL); -EISDIR or
 * -ENOEXEC if it is not a regular file; or an error of open(2).
 */
int open_regular(const char *path, struct stat *st);

/* Like open_regular(), for an O_PATH descriptor, of which it takes ownership. */
int open_found(int found, struct stat *st);

/*
 * Like fstat(2), but never waits: stores what the kernel has cached about an open file, without asking the file's
 * server. Returns 0 or a negative errno.
 */
int stat_known(int fd, struct stat *st);

#endif /* TALLY_BASE_REGULAR_H */
