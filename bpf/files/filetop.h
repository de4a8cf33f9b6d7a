/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by filetop.bpf.c and its loader. */
#ifndef TALLY_FILETOP_H
#define TALLY_FILETOP_H

#include "file.h"
#include "task_key.h"

/* Key parts for --by, in addition to those of tasks. */
enum filetop_part {
	BY_FILE = 1 << BY_PARTS,
	BY_FILE_FS = 1 << (BY_PARTS + 1),
	BY_FILE_MOUNT = 1 << (BY_PARTS + 2),
};

/* An element belongs to one CPU, so it has one writer: plain adds are exact. */
struct filetop_key {
	struct file_id id;
	struct task_key task;
	char fs[FILE_FS_LEN];
	struct file_mount mount;
	__u32 writer;              /* last, so that the members before it form the key in reports */
};

/* One direction: successful calls, their bytes, their duration. */
struct filetop_way {
	__u64 calls;
	__u64 bytes;
	__u64 ns;
};

/* Cumulative since the gate was opened. */
struct filetop_sums {
	struct filetop_way read, written;
	__u64 failed;
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct filetop_key) == 96, "filetop_key has padding");
_Static_assert(sizeof(struct filetop_sums) == 80, "filetop_sums has padding");

#endif /* TALLY_FILETOP_H */
