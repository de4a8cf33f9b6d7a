/* SPDX-License-Identifier: BSD-2-Clause */
/* Files whose tables are still to be read, in the order in which they will be. */
#ifndef TALLY_UNWIND_WANTED_H
#define TALLY_UNWIND_WANTED_H

#include <sys/queue.h>

#include "base/types.h"

/* So many descriptors are held open for that, where there are enough of them (base/descriptors.h). */
#define WANTED_MOST 256

struct wanted_file {
	TAILQ_ENTRY(wanted_file) next;
	u32 token;              /* 1 and up: no two files have the same */
	int fd;
	u32 *mark;              /* where it is noted what came of it (struct symbols_code) */
};

struct wanted_files {
	TAILQ_HEAD(wanted_queue, wanted_file) files;
	u32 n;
	u32 last_token;         /* how many have been wanted so far */
};

void wanted__init(struct wanted_files *w);
void wanted__free(struct wanted_files *w);

/*
 * fd is taken over, also on failure. soon: before the others. Returns the token; 0: there are too many, few
 * descriptors are left, or there is no memory.
 */
u32 wanted__add(struct wanted_files *w, int fd, u32 *mark, bool soon);

/* To the front, if it has not been taken yet. */
void wanted__hasten(struct wanted_files *w, u32 token);

/* The next one, which is the caller's: its fd is to be closed, and it is to be freed. NULL: none. */
struct wanted_file *wanted__take(struct wanted_files *w);

#endif /* TALLY_UNWIND_WANTED_H */
