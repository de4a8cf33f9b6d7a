/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on input that may be out to harm us, done by a child process that can do nothing else: no
 * user's and no capabilities' rights, no open files but those it is given, system calls for
 * memory and for reading and writing those, and limits on time, memory and what it answers. What
 * it answers is no more to be trusted than its input.
 */
#ifndef TALLY_SYM_CONFINED_H
#define TALLY_SYM_CONFINED_H

#include <sys/types.h>

#include "base/types.h"

/* Where the work's answer goes. Sticky: after an error nothing more is written. */
struct answer {
	int fd;
	int err;
};

void answer__put(struct answer *a, const void *data, size_t size);

/*
 * Runs in the child, with fd[i] as file descriptor i. It may crash, hang or lie; it must not use
 * what needs other system calls (stdio, opening files).
 */
typedef void (*confined_work)(struct answer *answer, void *arg);

#define CONFINED_MAX_FILES 2
#define CONFINED_MAX_ANSWER (1ULL << 30)
#define CONFINED_MEMORY (2ULL << 30)    /* address space on top of what this process has */
#define CONFINED_SECONDS 20

/*
 * Runs work with arg and these files (at most CONFINED_MAX_FILES) and waits for it. Returns 0 and
 * what was written, to be freed; -EBADMSG when the child did not come to its end or wrote too
 * much; -ETIME; or what fork(2) and pipe(2) say.
 */
int confined__run(confined_work work, void *arg, const int *fd, size_t nfds, void **data,
		  size_t *size);

/*
 * The same without waiting: the work goes on until confined__end(), or until its time is up
 * (CONFINED_SECONDS of the CPU's). answer_fd is what it writes to, and may be a socket on which
 * it is asked. Returns 0 or a negative errno.
 */
int confined__start(confined_work work, void *arg, const int *fd, size_t nfds, int answer_fd,
		    pid_t *pid);
/* Ends it, or waits for its end. Did it end by itself and well? */
bool confined__end(pid_t pid, bool kill_it);

#endif /* TALLY_SYM_CONFINED_H */
