/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of bpf/trace.bpf.c (--summary), over all CPUs: snapshots and their differences. */
#ifndef TALLY_SYSCALL_SUMS_H
#define TALLY_SYSCALL_SUMS_H

#include "base/types.h"

#include "bpf/trace.h"

struct call_sum {
	u64 count, errors, ns;
	unsigned __int128 squares; /* of ns */
	u64 min_ns, max_ns;	   /* of the interval that was asked for */
};

/*
 * Reads all TRACE_SLOTS; min and max are of that interval (0 where nothing was in it). What is
 * added meanwhile may be in some of a call's figures and not yet in others, except in the last
 * report, when nothing is. Returns 0 or a negative errno.
 */
int call_sums__read(struct call_sum *sum, int map_fd, int cpus, u64 interval);

/* later - earlier; min and max are later's. */
struct call_sum call_sum__difference(const struct call_sum *later, const struct call_sum *earlier);

/* Standard error of the mean: the deviation of single calls by the root of their number. n > 1. */
double call_sum__error(const struct call_sum *sum);

#endif /* TALLY_SYSCALL_SUMS_H */
