/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking up processes and namespaces. */
#ifndef TALLY_HOST_PROCESS_H
#define TALLY_HOST_PROCESS_H

#include <sys/types.h>

#include "base/types.h"

/* Is there such a process (tgid) or thread (tid)? */
bool process_exists(u32 pid);
bool thread_exists(u32 tid);

/*
 * Appends the pids of all processes but this one that are called so: by their name in the kernel (comm, which
 * has 15 characters) or by the last part of their first argument. *pids is for free(). Returns how many
 * there are, or a negative errno.
 */
int processes_named(const char *name, u32 **pids, size_t *n);

/* Inode number of the pid namespace of a process, "self" for 0. Returns 0 or a negative errno. */
int process_pidns(u32 pid, u32 *inode);

#endif /* TALLY_HOST_PROCESS_H */
