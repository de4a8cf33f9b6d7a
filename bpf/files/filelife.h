/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that filelife.bpf.c stores about created files and sends about deleted ones. */
#ifndef TALLY_FILELIFE_H
#define TALLY_FILELIFE_H

#include "file.h"

struct filelife_birth {
	__u64 born_ns;          /* CLOCK_MONOTONIC */
	__u64 mount;            /* address of the mount on which it was created */
	__u32 pid;
	__u32 pad;
	char comm[TASK_KEY_COMM_LEN];
};

/* A file whose deletion has begun; keyed by the address of its dentry. */
struct filelife_leaving {
	struct file_id id;
	__u64 inode;            /* address of the inode, valid because the call holds a reference */
};

struct filelife_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC, at the deletion */
	__u64 age_ns;
	__u32 pid, tid, cpu;    /* deleting task */
	__u32 maker_pid;
	char comm[TASK_KEY_COMM_LEN];
	char maker_comm[TASK_KEY_COMM_LEN];
	struct file_name name;  /* its last member is sent only up to its used size */
};

_Static_assert(sizeof(struct filelife_birth) == 40, "filelife_birth has padding");
_Static_assert(sizeof(struct filelife_leaving) == 24, "filelife_leaving has padding");

#endif /* TALLY_FILELIFE_H */
