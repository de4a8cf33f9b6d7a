/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening files that others may have put there. */
#ifndef TALLY_BASE_REGULAR_H
#define TALLY_BASE_REGULAR_H

#include <sys/stat.h>

/*
 * Opens a file for reading if it is a regular one: opening others (a FIFO, a device) may do things
 * or never return, so they are not opened at all. Returns a descriptor with *st (which may be NULL)
 * filled in; -EISDIR, -ENOEXEC: it is something else; or what open(2) says.
 */
int open_regular(const char *path, struct stat *st);

/* The same with an O_PATH descriptor of it, which is taken over. */
int open_found(int found, struct stat *st);

#endif /* TALLY_BASE_REGULAR_H */
