/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by fsdist.bpf.c and tools/files/fsdist.c. */
#ifndef TALLY_FSDIST_H
#define TALLY_FSDIST_H

#include "file.h"
#include "hist.h"
#include "task_key.h"

/* Key parts for --by, in addition to those of tasks. Every key contains the first. */
enum fsdist_part {
	BY_FILE_OP = 1 << BY_PARTS,
	BY_FILE_FS = 1 << (BY_PARTS + 1),
	BY_FILE_MOUNT = 1 << (BY_PARTS + 2),
};

#define FSDIST_FAILED 0x100

struct fsdist_own {
	char fs[FILE_FS_LEN];   /* empty if no file was opened */
	__u32 op;               /* enum file_op; | FSDIST_FAILED */
	struct file_mount mount;
};

struct fsdist_key {
	struct hist_slot slot;          /* first; filled in by hist_add_key() */
	struct task_key task;
	struct fsdist_own own;
};

_Static_assert(sizeof(struct fsdist_key) == 88, "fsdist_key has padding");

#endif /* TALLY_FSDIST_H */
