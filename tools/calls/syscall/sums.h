/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of bpf/calls/trace.bpf.c (--summary) in an interval, over all CPUs. */
#ifndef TALLY_SYSCALL_SUMS_H
#define TALLY_SYSCALL_SUMS_H

#include "base/types.h"

#include "bpf/calls/trace.h"

struct call_sum {
	u64 count, errors, ns;
	unsigned __int128 squares; /* in square ns */
	u64 min_ns, max_ns;	   /* 0 if there were no calls */
};

/*
 * Ends the interval, and reads all TRACE_SLOTS, so that all figures cover the same calls.
 * generation: see elements__generation(). Waits for an RCU grace period, about 10 ms. Returns 0 or
 * a negative errno.
 */
int call_sums__take(struct call_sum *sum, int map_fd, int cpus, volatile u32 *generation);

/*
 * Standard error of the mean: the deviation of single calls divided by the square root of their
 * number, which must be greater than 1.
 */
double call_sum__error(const struct call_sum *sum);

#endif /* TALLY_SYSCALL_SUMS_H */
