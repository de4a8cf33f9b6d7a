/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_BASE_PROCESS_THREAD_H
#define TALLY_BASE_PROCESS_THREAD_H

#include "base/types.h"

/*
 * The number below /proc for the mappings, memory, root, executable and namespaces of a process. It is the pid, unless
 * the main thread has ended and others continue (launchers of the JVM, daemons): /proc/PID is then a zombie, which has
 * none of these, but /proc/TID of another thread has them all (proc(5)). If there is no such thread, returns pid.
 */
u32 process_thread(u32 pid);

#endif /* TALLY_BASE_PROCESS_THREAD_H */
