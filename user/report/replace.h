/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces a file atomically: the new file is written in the same directory and renamed once it has content. The old
 * file exists until then, and remains if nothing is written. Readers see either the whole old text or the whole new
 * text. Links are not followed; only a regular file is replaced.
 *
 * Until the rename, the file has no name (O_TMPFILE), so a killed process leaves nothing behind. It has a temporary
 * name between two system calls, because linkat(2) cannot replace a file, and all the time on file systems without
 * O_TMPFILE (NFS, 9P).
 */
#ifndef TALLY_OUT_REPLACE_H
#define TALLY_OUT_REPLACE_H

#include <sys/types.h>

#include "base/types.h"

struct replacement {
	char *path;             /* NULL if no file is to be replaced */
	char *beside;           /* ".NAME.PID.tally" in the same directory; NULL after the rename */
	int fd;                 /* duplicate descriptor of the file while it has no name; otherwise -1 */
};

/*
 * Creates the file in the directory of path, with this mode less the umask. Returns its descriptor, or a negative errno
 * (-EEXIST: path is a link or not a regular file).
 */
int MUST_CHECK replacement__open(struct replacement *r, const char *path, mode_t mode);

/* Renames the file, on the first call only. Returns 0 or a negative errno. */
int MUST_CHECK replacement__commit(struct replacement *r);

/* Removes the file unless it was renamed. */
void replacement__release(struct replacement *r);

/*
 * Replaces path with n bytes of text, in one call. The mode is 0644, since the collector runs as another user. Returns
 * 0, or a negative errno with path unchanged.
 */
int MUST_CHECK replace_file(const char *path, const char *text, size_t n);

#endif /* TALLY_OUT_REPLACE_H */
