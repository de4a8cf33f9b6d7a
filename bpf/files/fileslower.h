/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by fileslower.bpf.c and tools/files/fileslower.c. */
#ifndef TALLY_FILESLOWER_H
#define TALLY_FILESLOWER_H

#include "file.h"

#define FILESLOWER_NO_OFFSET (-1LL)

/* The kind of a record. */
enum fileslower_end {
	FILESLOWER_ENDED,
	FILESLOWER_UNFINISHED,  /* a call, or with --waits a wait, still in progress */
	FILESLOWER_WAITED,      /* a wait that has ended; its call continues */
};

/* One call or wait; the last member is sent only up to its used size. */
struct fileslower_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC: its end, or the time it was examined */
	__u64 took_ns;
	__s64 result;           /* bytes, or a negative errno, of an ended call */
	__s64 offset;           /* in the file, or FILESLOWER_NO_OFFSET */
	__u32 pid, tid, cpu;
	__u32 op;               /* enum file_op */
	__u32 end;              /* enum fileslower_end */
	__u32 pad;
	char comm[TASK_KEY_COMM_LEN];
	char fs[FILE_FS_LEN];
	struct file_name name;
};

#endif /* TALLY_FILESLOWER_H */
