/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by uringstat.bpf.c and tools/calls/uringstat.c. */
#ifndef TALLY_URINGSTAT_H
#define TALLY_URINGSTAT_H

#include "hist.h"
#include "task_key.h"
#include "uring.h"

/* Key parts for --by, in addition to those of tasks. */
enum uring_part {
	BY_URING_OP = 1 << BY_PARTS,
	BY_URING_VIA = 1 << (BY_PARTS + 1),
	BY_URING_RESULT = 1 << (BY_PARTS + 2),
};

enum uring_via {
	URING_DIRECT, /* completed at submission, by a device, or by another request */
	URING_POLL,   /* io_uring waited until the file was ready */
	URING_WORKER, /* handed to a worker thread (io-wq), maybe after that */
	URING_VIAS,
};

struct uring_own {
	__u16 error; /* errno; 0: no error */
	__u8 op;     /* enum io_uring_op */
	__u8 via;    /* enum uring_via */
	__u32 pad;
};

struct uring_key {
	struct hist_slot slot; /* first; filled in by hist_add_key() */
	struct task_key task;
	struct uring_own own;
};

_Static_assert(sizeof(struct uring_key) == 64, "uring_key has padding");

/* Events that have no time. */
struct uring_counts {
	__u64 further;	 /* completions of multishot requests that stay active */
	__u64 silent;	 /* requests that ended without a completion event */
	__u64 overflows; /* completions for which the ring had no room */
	__u64 unknown;	 /* URING_WITHOUT_REQUEST: completions of no known request */
};

struct uring_request {
	__u64 start_ns;
	struct task_key task;
	char comm[TASK_KEY_COMM_LEN];
	__u32 op;
	__u32 via; /* enum uring_via */
};

#endif /* TALLY_URINGSTAT_H */
