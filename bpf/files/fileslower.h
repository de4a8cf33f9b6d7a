/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What fileslower.bpf.c and tools/files/fileslower.c share. */
#ifndef TALLY_FILESLOWER_H
#define TALLY_FILESLOWER_H

#include "file.h"

#define FILESLOWER_NO_OFFSET (-1LL)

/* One call; its last member is sent as far as it is filled. */
struct fileslower_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC, when it ended or was looked at */
	__u64 took_ns;
	__s64 result;           /* bytes, or a negative errno */
	__s64 offset;           /* in the file; FILESLOWER_NO_OFFSET */
	__u32 pid, tid, cpu;
	__u32 op;               /* enum file_op */
	__u32 unfinished;       /* it goes on */
	__u32 pad;
	char comm[TASK_KEY_COMM_LEN];
	char fs[FILE_FS_LEN];
	struct file_name name;
};

#endif /* TALLY_FILESLOWER_H */
