/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by syscount.bpf.c and its loader. */
#ifndef TALLY_SYSCOUNT_H
#define TALLY_SYSCOUNT_H

#include "hist.h"
#include "syscalls.h"
#include "task_key.h"

/* Key parts of syscount: BY_OWN(0), BY_OWN(1) of user/cli/task_key.h. */
#define BY_SYSCALL (1 << BY_PARTS)
#define BY_ERRNO (1 << (BY_PARTS + 1))

/*
 * A call: its table and its number. The last number represents all calls beyond the tables (x32 calls and invalid
 * numbers).
 */
#define CALL_NUMBER_BITS 10
#define CALL_BITS (CALL_NUMBER_BITS + 1)
#define CALLS (1 << CALL_BITS)
#define CALL_BEYOND (SYSCALL_NUMBERS - 1)

#define call_number(call) ((call) & (SYSCALL_NUMBERS - 1))
#define call_abi(call) ((call) >> CALL_NUMBER_BITS)

/* Properties of a call that the loader knows. */
enum call_traits {
	CALL_ASKED = 1,         /* counted */
	CALL_FORKS = 2,         /* returns a second time, in the child, with 0 */
	CALL_SIGRETURN = 4,     /* returns from a signal handler, with the result of the interrupted code */
};

/*
 * A call and its outcome, as in keys. errno is 1 for any error unless errors are distinguished; the call is 0 unless
 * calls are distinguished.
 */
#define OUTCOME_ERRNO_BITS 12
#define OUTCOME(call, errno_) ((__u32)(call) << OUTCOME_ERRNO_BITS | (errno_))
#define outcome_call(outcome) ((outcome) >> OUTCOME_ERRNO_BITS)
#define outcome_errno(outcome) ((outcome) & ((1 << OUTCOME_ERRNO_BITS) - 1))

/* Index into an array, used if only calls are distinguished. */
#define OUTCOME_INDEX(call, failed) ((__u32)(call) << 1 | (failed))
#define OUTCOME_INDEXES (CALLS * 2)

/*
 * An element belongs to one CPU, so it has one writer: plain adds are exact. Keys of the map end after the last
 * requested part of task, to reduce the cost of hashing and comparing them.
 */
struct syscount_key {
	__u32 outcome;
	__u32 writer;
	struct task_key task;
};

struct syscount_count {
	__u64 count;
	__u64 name_stamp;       /* time name was written */
	char name[TASK_KEY_COMM_LEN];
};

struct syscount_time_key {
	struct hist_slot slot;  /* first; filled in by hist_add_key() */
	struct task_key task;
	__u64 outcome;
};

/* Used if only calls are distinguished: a key of this size takes a third less time than struct syscount_time_key. */
struct syscount_call_key {
	struct hist_slot slot;
	__u64 outcome;
};

/* A call that has not returned. */
struct syscount_running {
	struct task_key task;
	__u64 outcome;
	__u64 elapsed_ns;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct syscount_key) == 56, "syscount_key has padding");
_Static_assert(sizeof(struct syscount_running) == 80, "syscount_running has padding");

#endif /* TALLY_SYSCOUNT_H */
