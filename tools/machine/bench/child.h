/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that `tally bench` starts, each with all it starts in a process group of its own, so
 * that nothing of it is left whatever happens: they are killed with their group and reaped, also
 * those whose parent has ended before them; if this process is killed, they are sent a signal.
 */
#ifndef TALLY_BENCH_CHILD_H
#define TALLY_BENCH_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/types.h"

/* SIGINT, SIGTERM and SIGHUP, held back from this process; readable when one has come. */
struct child_signals {
	int fd;
	sigset_t before;        /* the mask that children are given */
};

/*
 * Also makes this process the one that reaps orphans of its children. Returns 0 or a negative
 * errno.
 */
int child_signals__take(struct child_signals *s);

/* One has come: the next one ends this process. */
void child_signals__restore(const struct child_signals *s);

struct child {
	pid_t pid;              /* 0: none */
	int pidfd;
};

enum child_event {
	CHILD_ENDED,
	CHILD_READABLE,         /* the descriptor is, or closed at its other end */
	CHILD_SIGNAL,           /* one has come for this process */
	CHILD_TIMEOUT,
};

/*
 * As fork(2): 1 in the parent, 0 in the child, or a negative errno. The child gets the signal when
 * this process dies.
 */
int child__start(struct child *c, const struct child_signals *s, int parent_dies);

/*
 * Waits for the first of: the end of the child, fd (-1: none), a signal (s may be NULL), so many
 * ns (UINT64_MAX: for ever).
 */
enum child_event child__await(const struct child *c, const struct child_signals *s, int fd,
			      u64 timeout_ns);

bool child__has_ended(const struct child *c);

/*
 * Kills it and what is left of its group, and reaps them all. Returns its status, as of waitpid(2).
 */
int child__end(struct child *c);

#endif /* TALLY_BENCH_CHILD_H */
