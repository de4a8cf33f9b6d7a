/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by biotop.bpf.c and tools/disks/sums.h. */
#ifndef TALLY_BIOTOP_H
#define TALLY_BIOTOP_H

#include "request.h"

/* An element belongs to one CPU, on which the requests completed: plain adds are exact. */
struct biotop_key {
	struct task_key task;
	struct request_parts parts;
	__u32 writer;
	__u32 pad;
};

/*
 * The slowest request of an interval; the loader numbers intervals from 1, 0 means none. A maximum
 * cannot be computed as a difference of snapshots, so there are two, for even and odd intervals,
 * each reset when its interval begins. The loader reads the previous interval's while programs
 * write the other.
 */
struct biotop_slowest {
	__u64 interval;
	__u64 ns;
};

/* Totals are cumulative since the gate was opened. */
struct biotop_sums {
	__u64 requests;
	__u64 bytes;
	__u64 queue_ns;
	__u64 device_ns;
	__u64 errors;
	__u64 requeues;
	struct biotop_slowest slowest[2];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct biotop_key) == 64, "biotop_key has padding");
_Static_assert(sizeof(struct biotop_sums) == 104, "biotop_sums has padding");

#endif /* TALLY_BIOTOP_H */
