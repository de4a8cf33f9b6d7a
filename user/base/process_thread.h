/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_BASE_PROCESS_THREAD_H
#define TALLY_BASE_PROCESS_THREAD_H

#include "base/types.h"

/*
 * Returns the number below /proc for the mappings, memory, root, executable and namespaces of a process. This is the
 * pid, unless the main thread has exited and others continue (launchers of the JVM, daemons): /proc/PID is then a
 * zombie without any of these, but /proc/TID of another thread has all of them (proc(5)). Returns pid if no such thread
 * exists.
 */
u32 process_thread(u32 pid);

#endif /* TALLY_BASE_PROCESS_THREAD_H */
