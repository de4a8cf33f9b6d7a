/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens files by the names that a process uses. The process may have crafted its part of the file system to attack a
 * privileged opener. So names are resolved within its root, and only regular files are opened: opening other types can
 * have side effects or block. Descriptors are O_PATH, and errors are those of opener__open() (base/opener.h).
 */
#ifndef TALLY_SYM_ROOT_H
#define TALLY_SYM_ROOT_H

#include <sys/stat.h>

#include "base/types.h"

/*
 * Opens an absolute path, in the root of process pid (0: ours). resolve: additional
 * RESOLVE_ flags of openat2(2). Returns a descriptor with *st filled in, -ENOEXEC if it is not a
 * regular file, or an error of open(2).
 */
int root__open(u32 pid, const char *path, u64 resolve, struct stat *st);

/*
 * Same for the file that a process has mapped from start to end (as in /proc/PID/maps): the mapped file itself, even if
 * its name no longer exists or now refers to another file. device: as in struct mapping_line. A file system that did
 * not answer is not retried soon; a local file system (base/local.h) is accessed without a child. Needs
 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, else -EPERM.
 */
int root__open_mapped(u32 pid, u64 start, u64 end, u64 device, struct stat *st);

#endif /* TALLY_SYM_ROOT_H */
