/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What syscount.bpf.c and its loader share. */
#ifndef TALLY_SYSCOUNT_H
#define TALLY_SYSCOUNT_H

#include "hist.h"
#include "syscalls.h"
#include "task_key.h"

/* Parts of keys that are syscount's own: BY_OWN(0), BY_OWN(1) of user/cli/task_key.h. */
#define BY_SYSCALL (1 << BY_PARTS)
#define BY_ERRNO (1 << (BY_PARTS + 1))

/*
 * A call: its table and number. The last number stands for all that are beyond the tables (those of
 * x32, and nonsense).
 */
#define CALL_NUMBER_BITS 10
#define CALL_BITS (CALL_NUMBER_BITS + 1)
#define CALLS (1 << CALL_BITS)
#define CALL_BEYOND (SYSCALL_NUMBERS - 1)

#define call_number(call) ((call) & (SYSCALL_NUMBERS - 1))
#define call_abi(call) ((call) >> CALL_NUMBER_BITS)

/* What is known of a call beforehand. */
enum call_traits {
	CALL_ASKED = 1,         /* it is to be counted */
	CALL_FORKS = 2,         /* it returns a second time, in the child, with 0 */
	CALL_SIGRETURN = 4,     /* it returns from a signal handler, to somebody else's result */
};

/*
 * A call and how it ended, as in keys: of errno 1 stands for any unless errors are told apart, the
 * call is 0 unless calls are.
 */
#define OUTCOME_ERRNO_BITS 12
#define OUTCOME(call, errno_) ((__u32)(call) << OUTCOME_ERRNO_BITS | (errno_))
#define outcome_call(outcome) ((outcome) >> OUTCOME_ERRNO_BITS)
#define outcome_errno(outcome) ((outcome) & ((1 << OUTCOME_ERRNO_BITS) - 1))

/* Where only calls are told apart: an array. */
#define OUTCOME_INDEX(call, failed) ((__u32)(call) << 1 | (failed))
#define OUTCOME_INDEXES (CALLS * 2)

/*
 * An element belongs to one CPU, so it has one writer: plain adds are exact. Ids stand here and not
 * in task. Where a key is made of nothing else, the map's keys end before it (SYSCOUNT_IDS_SIZE):
 * that takes some 10 ns off each call.
 */
struct syscount_key {
	__u32 outcome;
	__u32 writer;
	__u32 pid;
	__u32 tid;
	struct task_key task;
};

#define SYSCOUNT_IDS (BY_SYSCALL | BY_ERRNO | BY_PID | BY_TID)
#define SYSCOUNT_IDS_SIZE __builtin_offsetof(struct syscount_key, task)

struct syscount_count {
	__u64 count;
	__u64 name_stamp;       /* when the name was taken */
	char name[TASK_KEY_COMM_LEN];
};

struct syscount_time_key {
	struct hist_slot slot;  /* first: hist_add_key() fills it */
	struct task_key task;
	__u64 outcome;
};

/* Where only calls are told apart: a key of this size costs a third less time than that one. */
struct syscount_call_key {
	struct hist_slot slot;
	__u64 outcome;
};

/* A call that goes on. */
struct syscount_running {
	struct task_key task;
	__u64 outcome;
	__u64 elapsed_ns;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct syscount_key) == 64, "syscount_key has padding");
_Static_assert(sizeof(struct syscount_running) == 80, "syscount_running has padding");

#endif /* TALLY_SYSCOUNT_H */
