/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile of the whole machine for a client of --listen: `tally profile --format pprof` in a child, so that neither
 * the measurements nor other clients wait for it. One at a time. Start it from a thread that lives as long as it: it
 * ends with that thread, whatever ends it.
 */
#ifndef TALLY_RUN_PROFILING_H
#define TALLY_RUN_PROFILING_H

#include <sys/types.h>

struct profiling {
	pid_t pid;              /* 0: none is being made */
	int pidfd;              /* readable when it has been made */
	int fd;                 /* what the child has printed, in memory */
};

/* Returns 0, or a negative errno with *p unchanged. */
int profiling__start(struct profiling *p, unsigned int seconds);

/*
 * Waits for the child. Returns the descriptor of the profile, which the caller closes, or -EIO if the child failed: it
 * has said why on standard error.
 */
int profiling__end(struct profiling *p);

/* Ends the child of a profile that is being made, without waiting for it: profiling__end() then fails. */
void profiling__kill(const struct profiling *p);

/* Ends the child before its time, and waits for it; does nothing if there is none. */
void profiling__stop(struct profiling *p);

#endif /* TALLY_RUN_PROFILING_H */
