/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking up processes and namespaces. */
#ifndef TALLY_HOST_PROCESS_H
#define TALLY_HOST_PROCESS_H

#include <sys/types.h>

#include "base/types.h"

/* Is there such a process (tgid) or thread (tid)? */
bool process_exists(u32 pid);
bool thread_exists(u32 tid);

/* Inode number of the pid namespace of a process, "self" for 0. Returns 0 or a negative errno. */
int process_pidns(u32 pid, u32 *inode);

#endif /* TALLY_HOST_PROCESS_H */
