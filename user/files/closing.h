/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes descriptors for which close(2) waits in the kernel. A link or perf event that ran a program is freed only
 * after a grace period of 20 to 120 ms; grace periods that begin together end together.
 */
#ifndef TALLY_FILES_CLOSING_H
#define TALLY_FILES_CLOSING_H

#include <stddef.h>

/*
 * Closes all descriptors, in parallel as far as threads can be created, and returns when all are closed. Perf events of
 * kprobes and uprobes still wait for one another, since the kernel closes them with a lock held (event_mutex).
 */
void close_together(const int *fd, size_t n);

#endif /* TALLY_FILES_CLOSING_H */
