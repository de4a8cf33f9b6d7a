/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of files, as sent by bpf/files/file.bpf.h. */
#ifndef TALLY_FILES_NAME_H
#define TALLY_FILES_NAME_H

#include "base/types.h"
#include "bpf/lib/file.h"

/*
 * Returns the path, which the caller frees. It begins at the root of the mount namespace in which the file was opened,
 * with " (deleted)" appended if deleted, and a leading ".../" if truncated. Objects without a directory are
 * "pipe:[4711]", "/memfd:name" and the like. NULL if unknown or out of memory. Not escaped. size: number of bytes of n
 * received; no further bytes are read.
 */
char *file_name__path(const struct file_name *n, size_t size);

/* One path per file: the first path added. Initialise to all zeros. */
struct file_names {
	void *tree;
};

/* Takes ownership of path, which may be NULL. Returns 0 or -ENOMEM. */
int file_names__add(struct file_names *names, const struct file_id *id, char *path);

/* Returns the file's path, or NULL if the file is unknown. */
const char *file_names__find(const struct file_names *names, const struct file_id *id);
void file_names__free(struct file_names *names);

#endif /* TALLY_FILES_NAME_H */
