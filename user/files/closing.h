/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes descriptors whose closing waits for the kernel. A link or perf event that ran a program is
 * gone only after a grace period, 20 to 120 ms for each; those that begin together end together.
 */
#ifndef TALLY_FILES_CLOSING_H
#define TALLY_FILES_CLOSING_H

#include <stddef.h>

/*
 * Closes all of them, each in a thread where threads can be had, and returns when all are closed.
 * Perf events of kprobes and uprobes wait for one another even so, as the kernel closes them with
 * one lock held (event_mutex).
 */
void close_together(const int *fd, size_t n);

#endif /* TALLY_FILES_CLOSING_H */
