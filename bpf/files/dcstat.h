/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by dcstat.bpf.c and its loader. */
#ifndef TALLY_DCSTAT_H
#define TALLY_DCSTAT_H

#include "task_key.h"

/* Key parts for --by, in addition to those of tasks. */
enum dcstat_part {
	BY_LOOKUP_NAME = 1 << BY_PARTS,
};

/* Result of looking up a path component. */
enum dcstat_count {
	DCSTAT_HIT,             /* the cache has the file */
	DCSTAT_NEGATIVE,        /* the cache knows that the file does not exist */
	DCSTAT_MISS,            /* the file system was asked */
	DCSTAT_COUNTS,
};

#define DCSTAT_NAME_LEN 48

struct dcstat_key {
	char file[DCSTAT_NAME_LEN];     /* the name, truncated to fit, and a NUL */
	struct task_key task;
	__u32 writer;           /* of no CPU: all CPUs add to one element */
	__u32 pad;
};

/* Cumulative since the gate was opened. */
struct dcstat_sums {
	__u64 sum[DCSTAT_COUNTS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct dcstat_key) == 104, "dcstat_key has padding");

#endif /* TALLY_DCSTAT_H */
