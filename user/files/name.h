/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of files as bpf/files/file.bpf.h sends them. */
#ifndef TALLY_FILES_NAME_H
#define TALLY_FILES_NAME_H

#include "base/types.h"
#include "bpf/lib/file.h"

/*
 * The path, to be freed: from the root of the mount namespace it was opened in, with " (deleted)"
 * behind it, ".../" in front where it is cut; "pipe:[4711]", "/memfd:name" and the like for what is
 * not in a directory; NULL where it is not known (or for want of memory). Not escaped. size: bytes
 * of n, as received; what does not fit into them is not read.
 */
char *file_name__path(const struct file_name *n, size_t size);

/* A path by file: the first one given for each. Zeroed at first. */
struct file_names {
	void *tree;
};

/* Takes path over, which may be NULL. Returns 0 or -ENOMEM. */
int file_names__add(struct file_names *names, const struct file_id *id, char *path);

/* NULL if there is none. */
const char *file_names__find(const struct file_names *names, const struct file_id *id);
void file_names__free(struct file_names *names);

#endif /* TALLY_FILES_NAME_H */
