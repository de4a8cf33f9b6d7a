/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of -p: once all have ended, the run has nothing left to measure. */
#ifndef TALLY_RUN_SUBJECTS_H
#define TALLY_RUN_SUBJECTS_H

#include "base/types.h"

struct subjects {
	int epoll_fd;           /* readable when a process has ended; -1 if none is watched */
	size_t alive;
};

/*
 * Starts watching. Returns 0 or a negative errno; a process that has already ended is not an error.
 */
int subjects__watch(struct subjects *s, const u32 *pids, size_t n);

/* Call when epoll_fd is readable. Returns true if all have ended. */
bool subjects__all_ended(struct subjects *s);

void subjects__release(struct subjects *s);

#endif /* TALLY_RUN_SUBJECTS_H */
