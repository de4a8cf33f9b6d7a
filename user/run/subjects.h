/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of -p: with the last of them the run has nothing left to measure. */
#ifndef TALLY_RUN_SUBJECTS_H
#define TALLY_RUN_SUBJECTS_H

#include "base/types.h"

struct subjects {
	int epoll_fd;           /* readable when one has ended; -1: none are watched */
	size_t alive;
};

/* Begins to watch. Returns 0 or a negative errno; one that has gone already is not an error. */
int subjects__watch(struct subjects *s, const u32 *pids, size_t n);

/* After epoll_fd became readable: have all ended? */
bool subjects__all_ended(struct subjects *s);

void subjects__release(struct subjects *s);

#endif /* TALLY_RUN_SUBJECTS_H */
