/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that execsnoop's programs send about execs. */
#ifndef TALLY_EXECSNOOP_H
#define TALLY_EXECSNOOP_H

#include "stack.h"

/* The kernel's limit for paths, including the NUL (include/uapi/linux/limits.h: PATH_MAX). */
#define EXEC_PATH_MOST 4096
/* Limits of arguments: total bytes; for a failed exec also the number of arguments, and the bytes of each. */
#define EXEC_ARGS_MOST 16384
#define EXEC_ARGS_FAILED_MOST 64
#define EXEC_ARG_FAILED_MOST 4096

enum exec_call {
	EXEC_NONE,
	EXEC_EXECVE,
	EXEC_EXECVEAT,
};

struct exec_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__s32 result;           /* 0 or -errno */
	__s32 dirfd;            /* of a failed execveat, otherwise AT_FDCWD */
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 uid;
	__u32 cpu;
	__u32 path_length;      /* including the NUL; 0 if it could not be read */
	__u32 args_length;      /* total, including a NUL after each */
	__u8 args_cut;          /* more arguments exist */
	__u8 args_fault;        /* the rest could not be read */
	__u8 padding[2];
	__u8 comm[16];
	struct stack_id stack;  /* stack of the call; zero if not taken */
	/* The path and the arguments; only the bytes in use are sent. */
	char text[EXEC_PATH_MOST + EXEC_ARGS_MOST + EXEC_ARG_FAILED_MOST];
};

#define EXEC_RECORD_LEAST __builtin_offsetof(struct exec_record, text)

#endif /* TALLY_EXECSNOOP_H */
