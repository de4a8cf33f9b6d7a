/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The task properties of --by, as a map key. Only the requested parts are filled in; the rest is zero. Filled in by
 * task_key.bpf.h, shown by user/cli/task_key.h.
 */
#ifndef TALLY_TASK_KEY_H
#define TALLY_TASK_KEY_H

#define TASK_KEY_COMM_LEN 16

/* The requested parts, as bits, in display order. */
enum task_key_part {
	BY_CPU = 1 << 0,
	BY_CGROUP = 1 << 1,
	BY_PIDNS = 1 << 2,
	BY_UID = 1 << 3,
	BY_PID = 1 << 4,
	BY_TID = 1 << 5,
	BY_COMM = 1 << 6,
};
#define BY_PARTS 7

/*
 * If a map's keys end with this struct, they may be truncated after the last requested part (task_key__size()), to save
 * the time for hashing and comparing the rest. Members are ordered by how often they are requested.
 */
struct task_key {
	__u32 pid;              /* tgid in the initial pid namespace */
	__u32 tid;
	char comm[TASK_KEY_COMM_LEN];
	__u32 uid;              /* real uid */
	__u32 cpu;              /* CPU on which the event happened */
	__u32 pidns;            /* inode number; 0: the exiting task has left its namespace */
	__u32 event;            /* number of the event, in tools that count several */
	__u64 cgroup;           /* id in the hierarchy of scope_config.hierarchy */
};

_Static_assert(sizeof(struct task_key) == 48, "task_key has padding");

#endif /* TALLY_TASK_KEY_H */
