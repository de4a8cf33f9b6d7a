/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What --by can name about a task, as a map key. Only the parts asked for are filled, the rest
 * stays zero. Filled by task_key.bpf.h, shown by user/agg/task_key.h.
 */
#ifndef TALLY_TASK_KEY_H
#define TALLY_TASK_KEY_H

#define TASK_KEY_COMM_LEN 16

/* Bits of the keys asked for, in the order in which they are shown. */
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

struct task_key {
	__u64 cgroup;           /* id in the hierarchy of scope_config.hierarchy */
	__u32 cpu;              /* the CPU the event happened on */
	__u32 pidns;            /* inode number; 0: the task has left its namespace (it is exiting) */
	__u32 uid;              /* real uid */
	__u32 pid;              /* process (tgid) in the initial pid namespace */
	__u32 tid;
	__u32 event;            /* number of the event, where a tool counts several */
	char comm[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct task_key) == 48, "task_key has padding");

#endif /* TALLY_TASK_KEY_H */
