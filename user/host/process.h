/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up processes and namespaces. */
#ifndef TALLY_HOST_PROCESS_H
#define TALLY_HOST_PROCESS_H

#include <ctype.h>
#include <sys/types.h>

#include "base/types.h"

struct scope_glob;

/* Whether a process (tgid) or thread (tid) exists. */
bool process_exists(u32 pid);
bool thread_exists(u32 tid);

#define PROCESS_NAME_SPACE 64   /* names of kernel threads are longer than a comm */

/*
 * Calls visit with each process except this one, and its name in the kernel. Returns 0, a negative errno, or the first
 * nonzero value that visit returns, which ends the visit.
 */
int processes__visit(int (*visit)(void *context, u32 pid, const char *name), void *context);

/* Whether the comm of any thread of the process matches. */
bool process_has_thread_named(u32 pid, const struct scope_glob *names);

/*
 * Whether -p accepts this text as a name. Numbers are pids. In UTF-8, letters beyond ASCII begin with a byte of at
 * least 0x80.
 */
static inline bool begins_process_name(const char *text)
{
	return isalpha((unsigned char)*text) || (unsigned char)*text >= 0x80;
}

/*
 * Appends the pids of all other processes with this name: their comm (at most 15 bytes) or the last
 * path component of argv[0]. The caller frees *pids with free(). Returns the number found, or a
 * negative errno.
 */
int processes_named(const char *name, u32 **pids, size_t *n);

/*
 * Stores the inode number of the pid namespace of a process. pid: 0 for this process. Returns 0 or a
 * negative errno.
 */
int process_pidns(u32 pid, u32 *inode);

#endif /* TALLY_HOST_PROCESS_H */
