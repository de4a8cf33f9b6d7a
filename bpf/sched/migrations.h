/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by migrations.bpf.c and tools/sched/migrations.c. */
#ifndef TALLY_MIGRATIONS_H
#define TALLY_MIGRATIONS_H

#include "task_key.h"

/* An element belongs to the CPU that moves the task: see struct counting_key. */
struct migrations_key {
	struct task_key task;
	__u32 from, to;         /* CPUs */
	__u32 writer;
	__u32 pad;
};

_Static_assert(sizeof(struct migrations_key) == 64, "migrations_key has padding");

struct migrations_count {
	__u64 count;
	__u64 name_stamp;       /* time name was written */
	char name[TASK_KEY_COMM_LEN];
};

#endif /* TALLY_MIGRATIONS_H */
