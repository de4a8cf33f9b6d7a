/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_BASE_PROCESS_THREAD_H
#define TALLY_BASE_PROCESS_THREAD_H

#include "base/types.h"

/*
 * The number below /proc for what a process has: its mappings, memory, root, executable and namespaces.
 * It is its pid, unless its first thread has ended and others go on (launchers of the JVM, daemons):
 * /proc/PID then belongs to a zombie, which has none of these, but /proc/TID of another thread has them
 * all (proc(5)). If there is no such thread, the result is pid.
 */
u32 process_thread(u32 pid);

#endif /* TALLY_BASE_PROCESS_THREAD_H */
