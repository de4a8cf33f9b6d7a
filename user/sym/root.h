/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files by the names a process knows them by. The process may have built its part of the file
 * system to harm whoever opens files there with more rights: names do not leave its root, and
 * only regular files are opened, since opening others may do things or never return.
 */
#ifndef TALLY_SYM_ROOT_H
#define TALLY_SYM_ROOT_H

#include <sys/stat.h>

#include "base/types.h"

/*
 * Opens path, which begins with a slash, for reading, below the root of process pid (0: our own).
 * resolve: more RESOLVE_ flags of openat2(2). Returns a descriptor with *st filled in, -ENOEXEC if
 * it is not a regular file, or what open(2) says.
 */
int root__open(u32 pid, const char *path, u64 resolve, struct stat *st);

/*
 * The same with what a process has mapped from start to end (as /proc/PID/maps has them): the
 * file itself, even if its name is gone or another file's now. Needs CAP_CHECKPOINT_RESTORE or
 * CAP_SYS_ADMIN, else -EPERM.
 */
int root__open_mapped(u32 pid, u64 start, u64 end, struct stat *st);

#endif /* TALLY_SYM_ROOT_H */
