/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of an open that opensnoop's program sends. */
#ifndef TALLY_OPENSNOOP_H
#define TALLY_OPENSNOOP_H

#include "stack.h"

/* The kernel's limit for paths, including the NUL (include/uapi/linux/limits.h: PATH_MAX). */
#define OPEN_PATH_MOST 4096

enum open_call {
	OPEN_NONE,
	OPEN_OPEN,
	OPEN_CREAT,
	OPEN_OPENAT,
	OPEN_OPENAT2,
};

/* Opens by io_uring that have not completed; the kernel allocates them on demand. */
#define OPEN_REQUESTS 16384

struct open_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC, at the end */
	__u64 elapsed_ns;       /* 0 if not requested; a lower bound if the call began before the run */
	__u64 flags;            /* as passed by the caller */
	__s32 result;           /* descriptor or -errno */
	__u32 mode;
	__s32 dirfd;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u8 call;              /* enum open_call */
	__u8 bad_how;           /* openat2: its flags could not be read */
	__u16 length;           /* of the path, including the NUL; 0: unreadable; above the limit: truncated */
	__u8 comm[16];
	__u8 no_start;          /* it began before the run, or the kernel did not run it */
	__u8 by_uring;          /* its times are those of the request */
	__u8 has_slot;          /* io_uring: the result is no descriptor of the process */
	__u8 padding;
	struct stack_id stack;  /* stack of the call; zero if not taken */
	char path[OPEN_PATH_MOST + 8];  /* only length bytes are sent */
};

#define OPEN_RECORD_LEAST __builtin_offsetof(struct open_record, path)

#endif /* TALLY_OPENSNOOP_H */
