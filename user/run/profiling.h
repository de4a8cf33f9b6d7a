/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile of the whole machine for a client of --listen: runs `tally profile --format pprof` in a child, so that
 * neither the measurements nor other clients wait for it. Only one at a time. The kernel kills the child when the
 * thread that started it exits (PR_SET_PDEATHSIG), so that thread must outlive it.
 */
#ifndef TALLY_RUN_PROFILING_H
#define TALLY_RUN_PROFILING_H

#include <sys/types.h>

struct profiling {
	pid_t pid;              /* of the child; 0 if none runs */
	int pidfd;              /* readable when the child has ended */
	int fd;                 /* output of the child: a memfd */
};

/* Returns 0, or a negative errno with *p unchanged. */
int profiling__start(struct profiling *p, unsigned int seconds);

/*
 * Waits for the child. Returns the descriptor of the profile, which the caller closes, or -EIO if the child failed; it
 * has reported why on standard error.
 */
int profiling__end(struct profiling *p);

/* Kills a running child without waiting for it: profiling__end() then fails. */
void profiling__kill(const struct profiling *p);

/* Kills the child, waits for it and discards its output. No-op if none runs. */
void profiling__stop(struct profiling *p);

#endif /* TALLY_RUN_PROFILING_H */
