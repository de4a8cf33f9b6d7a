/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maximum of an interval. It cannot be computed as a difference of snapshots, so an element has two slots, one for
 * even and one for odd intervals, each reset when its interval begins. The loader reads the slot of the last interval
 * while programs write the other slot (agg/sum_set.h).
 */
#ifndef TALLY_MAXIMUM_H
#define TALLY_MAXIMUM_H

struct interval_maximum {
	__u64 interval;         /* numbered from 1 by the loader; 0 if there is no value yet */
	__u64 value;
};

/* As struct interval_maximum, with the time of the maximum. */
struct timed_maximum {
	__u64 interval;
	__u64 value;
	__u64 at_ns;            /* CLOCK_MONOTONIC */
};

#define MAXIMUM_SLOTS 2

#endif /* TALLY_MAXIMUM_H */
