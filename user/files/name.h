/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of files, as sent by bpf/files/file.bpf.h. */
#ifndef TALLY_FILES_NAME_H
#define TALLY_FILES_NAME_H

#include "base/types.h"
#include "bpf/lib/file.h"

/*
 * The path, which the caller frees: from the root of the mount namespace it was opened in, followed
 * by " (deleted)" if deleted, with a leading ".../" if truncated; "pipe:[4711]", "/memfd:name" and
 * the like for objects without a directory; NULL if unknown or out of memory. Not escaped. size:
 * bytes of n received; reads no further.
 */
char *file_name__path(const struct file_name *n, size_t size);

/* One path per file, the first one added. Initialise to all zeros. */
struct file_names {
	void *tree;
};

/* Takes over path, which may be NULL. Returns 0 or -ENOMEM. */
int file_names__add(struct file_names *names, const struct file_id *id, char *path);

/* NULL: unknown file. */
const char *file_names__find(const struct file_names *names, const struct file_id *id);
void file_names__free(struct file_names *names);

#endif /* TALLY_FILES_NAME_H */
