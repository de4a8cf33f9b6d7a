/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of bpf/calls/trace.bpf.c (--summary), over all CPUs, of an interval. */
#ifndef TALLY_SYSCALL_SUMS_H
#define TALLY_SYSCALL_SUMS_H

#include "base/types.h"

#include "bpf/calls/trace.h"

struct call_sum {
	u64 count, errors, ns;
	unsigned __int128 squares; /* of ns */
	u64 min_ns, max_ns;	   /* 0 where there is none */
};

/*
 * Ends the interval, and takes what is in all TRACE_SLOTS of it: all figures are of the same calls.
 * generation: elements__generation(). Takes an RCU grace period, some 10 ms. Returns 0 or a negative
 * errno.
 */
int call_sums__take(struct call_sum *sum, int map_fd, int cpus, volatile u32 *generation);

/* Standard error of the mean: the deviation of single calls by the root of their number. n > 1. */
double call_sum__error(const struct call_sum *sum);

#endif /* TALLY_SYSCALL_SUMS_H */
