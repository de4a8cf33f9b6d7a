/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, in ns. */
#ifndef TALLY_BASE_CLOCK_H
#define TALLY_BASE_CLOCK_H

#include <time.h>

#include "base/types.h"

static inline u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The clock of bpf_ktime_get_ns(): CLOCK_MONOTONIC of the host, also for a process in a time namespace. */
u64 monotonic_ns(void);

/*
 * Time when this program began, on the clock of monotonic_ns(). Older children of this process belong to the program
 * that called execve(2) to start this one.
 */
u64 began_ns(void);

/* Converts a time of monotonic_ns() to this process's own CLOCK_MONOTONIC, for timers and absolute sleeps. */
struct timespec own_monotonic(u64 moment_ns);

/* Time since 1970-01-01 UTC. */
static inline u64 realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

#endif /* TALLY_BASE_CLOCK_H */
