/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What memleak.bpf.c and its loader share. */
#ifndef TALLY_MEMLEAK_H
#define TALLY_MEMLEAK_H

#include "outstanding.h"
#include "task_key.h"

/*
 * An allocation: after a fork the same address is another one in the child, after an exec nothing
 * is left of what was there before.
 */
struct memleak_key {
	__u64 address;
	__u64 exec;             /* task_struct.self_exec_id */
	__u32 tgid;
	__u32 pad;
};

struct memleak_live {
	struct task_key task;
	struct outstanding_item item;
	char name[TASK_KEY_COMM_LEN];
};

/* Of the whole run, per CPU. */
struct memleak_totals {
	__u64 allocs;           /* that succeeded */
	__u64 bytes;            /* with the next one a number of 128 bits (wide.h) */
	__u64 bytes_high;
	__u64 frees;            /* of those */
	__u64 unseen;           /* likewise, known only by the address being given out again */
};

_Static_assert(sizeof(struct memleak_live) == 96, "memleak_live has padding");

#endif /* TALLY_MEMLEAK_H */
