/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by biotop.bpf.c and tools/disks/biotop.c. */
#ifndef TALLY_BIOTOP_H
#define TALLY_BIOTOP_H

#include "maximum.h"
#include "request.h"

/* An element belongs to one CPU, the one on which the requests completed: plain adds are exact. */
struct biotop_key {
	struct task_key task;
	struct request_parts parts;
	__u32 writer;
	__u32 pad;
};

/* Totals are cumulative since the gate was opened. */
struct biotop_sums {
	__u64 requests;
	__u64 bytes;
	__u64 queue_ns;
	__u64 device_ns;
	__u64 errors;
	__u64 requeues;
	struct interval_maximum slowest[MAXIMUM_SLOTS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

/* An element of a snapshot. */
struct biotop_element {
	struct biotop_key key;
	struct biotop_sums sums;
};

_Static_assert(sizeof(struct biotop_key) == 64, "biotop_key has padding");
_Static_assert(sizeof(struct biotop_sums) == 104, "biotop_sums has padding");

#endif /* TALLY_BIOTOP_H */
