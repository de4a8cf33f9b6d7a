/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that `tally bench` starts, each in a process group of its own, so that none is left
 * behind. They are killed with their group and reaped, including processes whose parent ended
 * before. If tally itself is killed, they get a signal.
 */
#ifndef TALLY_BENCH_CHILD_H
#define TALLY_BENCH_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/types.h"

/* SIGINT, SIGTERM and SIGHUP, blocked in this process; fd is readable once one is pending. */
struct child_signals {
	int fd;
	sigset_t before;        /* the signal mask for children */
};

/* Also makes this process the reaper of its children's orphans. Returns 0 or a negative errno. */
int child_signals__take(struct child_signals *s);

/* To be called when a signal has arrived: the next one ends this process. */
void child_signals__restore(const struct child_signals *s);

struct child {
	pid_t pid;              /* 0 if there is none */
	int pidfd;
};

enum child_event {
	CHILD_ENDED,
	CHILD_READABLE,         /* the descriptor is readable, or closed at its other end */
	CHILD_SIGNAL,           /* this process got a signal */
	CHILD_TIMEOUT,
};

/*
 * Like fork(2): returns 1 in the parent, 0 in the child, or a negative errno. The child gets the
 * signal parent_dies when its parent dies.
 */
int child__start(struct child *c, const struct child_signals *s, int parent_dies);

/*
 * Waits for the first of these events: the end of the child, fd becoming readable (-1: none), a
 * signal (s may be NULL), a timeout in ns (UINT64_MAX: none).
 */
enum child_event child__await(const struct child *c, const struct child_signals *s, int fd,
			      u64 timeout_ns);

bool child__has_ended(const struct child *c);

/*
 * Kills the child and the rest of its group, and reaps them all. Returns the child's status, as in
 * waitpid(2).
 */
int child__end(struct child *c);

#endif /* TALLY_BENCH_CHILD_H */
