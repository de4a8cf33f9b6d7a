/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file in place of another of the same name: written beside it and renamed once there is something
 * in it, so that what was there stays until then, and stays for good if nothing comes. Others see all
 * of the old text or all of the new one. No link is followed, and nothing but a regular file is
 * replaced.
 *
 * Until it is renamed the file has no name at all (O_TMPFILE), so that a process that is killed leaves nothing
 * behind. It has one for the moment between two system calls, since linkat(2) replaces nothing; and all the
 * time on file systems without O_TMPFILE (NFS, 9P).
 */
#ifndef TALLY_OUT_REPLACE_H
#define TALLY_OUT_REPLACE_H

#include <sys/types.h>

#include "base/types.h"

struct replacement {
	char *path;             /* NULL: there is none */
	char *beside;           /* ".NAME.PID.tally" in the same directory; NULL: has been renamed */
	int fd;                 /* the file while it has no name, another descriptor of it; -1 */
};

/*
 * Creates the file beside path with this mode less the umask. Returns its descriptor, or a negative
 * errno (-EEXIST: a link, or whatever else is no regular file, has that name).
 */
int MUST_CHECK replacement__open(struct replacement *r, const char *path, mode_t mode);

/* Gives it the name, the first time. Returns 0 or a negative errno. */
int MUST_CHECK replacement__commit(struct replacement *r);

/* Removes what has not been given the name. */
void replacement__release(struct replacement *r);

/*
 * All of that with n bytes. Mode 0644: whoever collects it is another user. Returns 0 or a negative
 * errno; then path is as it was.
 */
int MUST_CHECK replace_file(const char *path, const char *text, size_t n);

#endif /* TALLY_OUT_REPLACE_H */
