/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of files whose tables are still to be read. */
#ifndef TALLY_UNWIND_WANTED_H
#define TALLY_UNWIND_WANTED_H

#include <sys/queue.h>

#include "base/types.h"

/* Limit of descriptors held open for the queue, if enough are available (base/descriptors.h). */
#define WANTED_MOST 256
/* Limit of queued files that root does not own. */
#define WANTED_USERS 192

struct wanted_file {
	TAILQ_ENTRY(wanted_file) next;
	u32 token;              /* >= 1, unique per file */
	int fd;
	u64 size;               /* of the file, in bytes */
	u32 uid;                /* file_owner() */
	u32 *mark;              /* where to store the result (struct symbols_code) */
};

struct wanted_files {
	TAILQ_HEAD(wanted_queue, wanted_file) files;
	u32 n, nusers;          /* all files; files not owned by root */
	const u32 *lacks;       /* see UNWIND_LACKS; NULL: unknown */
	u32 last_token;         /* number of files queued so far */
};

void wanted__init(struct wanted_files *w);
void wanted__free(struct wanted_files *w);

/*
 * Takes ownership of fd, also on failure. soon: put it at the front. Returns the token; 0: the queue is full, few
 * descriptors are left, or no memory.
 */
u32 wanted__add(struct wanted_files *w, int fd, u32 *mark, bool soon);

/* Moves the file to the front, if it is still queued. */
void wanted__hasten(struct wanted_files *w, u32 token);

/*
 * Takes the file whose table was missed by most walks relative to its size, which minimizes the walks that miss a table
 * until all are read. If no table was missed, takes the first file of the queue. Considers only files of at most `most`
 * bytes and, unless users is set, only files owned by root. The caller owns the file, closes fd and frees it. NULL:
 * none.
 */
struct wanted_file *wanted__take(struct wanted_files *w, u64 most, bool users);

#endif /* TALLY_UNWIND_WANTED_H */
