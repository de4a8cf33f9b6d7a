/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces a file atomically: the new file is written beside the old one and renamed once it has content, so the old
 * file stays until then, and for good if nothing is written. Readers see all of the old text or all of the new one.
 * Links are not followed; only a regular file is replaced.
 *
 * Until the rename, the file has no name (O_TMPFILE), so a killed process leaves nothing behind. It has a temporary
 * name between two system calls, because linkat(2) cannot replace a file; on file systems without O_TMPFILE (NFS, 9P)
 * it has one all the time.
 */
#ifndef TALLY_OUT_REPLACE_H
#define TALLY_OUT_REPLACE_H

#include <sys/types.h>

#include "base/types.h"

struct replacement {
	char *path;             /* NULL: no file to replace */
	char *beside;           /* ".NAME.PID.tally" in the same directory; NULL: renamed already */
	int fd;                 /* duplicate descriptor of the file while it has no name; else -1 */
};

/*
 * Creates the file beside path with this mode less the umask. Returns its descriptor, or a negative errno (-EEXIST:
 * path is a link or not a regular file).
 */
int MUST_CHECK replacement__open(struct replacement *r, const char *path, mode_t mode);

/* Renames the file, on the first call only. Returns 0 or a negative errno. */
int MUST_CHECK replacement__commit(struct replacement *r);

/* Removes the file unless it was renamed. */
void replacement__release(struct replacement *r);

/*
 * Replaces path with n bytes of text, in one call. Mode 0644, since the collector runs as another user. Returns 0, or a
 * negative errno with path unchanged.
 */
int MUST_CHECK replace_file(const char *path, const char *text, size_t n);

#endif /* TALLY_OUT_REPLACE_H */
