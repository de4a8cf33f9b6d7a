/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What offcputime.bpf.c and tools/sched/blocked.h share. */
#ifndef TALLY_OFFCPUTIME_H
#define TALLY_OFFCPUTIME_H

#include "stack.h"

/* Whose stacks the time is summed up by. */
enum blocked_view {
	BLOCKED_BY_TASK,        /* of the task that blocked; until it is on a CPU again */
	BLOCKED_BY_WAKER,       /* of the task that woke it; until it is woken */
	BLOCKED_BY_BOTH,        /* until it is woken */
};

/* Why a task left its CPU, by the state it was in. */
enum blocked_why {
	BLOCKED_SLEEP,          /* can be woken by a signal */
	BLOCKED_DISK,           /* cannot: mostly waits for a disk, or for a lock in the kernel */
	BLOCKED_IDLE,           /* a kernel thread that has nothing to do */
	BLOCKED_STOPPED,
	BLOCKED_TRACED,         /* stopped by a debugger */
	BLOCKED_OTHER,
	BLOCKED_PREEMPTED,      /* not blocked: it could have gone on */
	BLOCKED_WHYS,
};

struct blocked_key {
	struct stack_id kernel, user;   /* of the task; all zero: lost, or not taken (notes say why) */
	struct stack_id waker;          /* both parts */
	struct task_key task;
	__u32 why;                      /* if it is asked for */
	__u32 notes;                    /* enum blocked_note, ORed */
	char waker_comm[TASK_KEY_COMM_LEN];
	__u32 generation;               /* as in struct stack_key */
	__u32 pad;
};

enum blocked_note {
	BLOCKED_STILL = 1 << 0,         /* it had not ended at the end of the run */
	BLOCKED_BEFORE = 1 << 1,        /* it began before the run: counted from there, user's part unknown */
	BLOCKED_NO_USER = 1 << 2,       /* a kernel thread's: there is no user's part */
	BLOCKED_LATE = 1 << 3,          /* the user's part was asked for and did not come */
};

struct blocked_sum {
	__u64 ns;
	__u64 count;
	__u64 name_stamp;               /* as in struct stack_count */
	char name[TASK_KEY_COMM_LEN];
};

/* A slice that counts, of the task that comes next on this CPU, and lacks its user's part. */
struct blocked_kick {
	__u64 task;             /* 0: none */
	__u64 flaw;             /* of the other stacks: enum loss_reason, 0: none */
	struct blocked_key key;
	struct blocked_sum gain;
};

/* What goes on at the end of the run: written for each such task. */
struct blocked_still {
	struct blocked_key key;
	struct blocked_sum sum;
};

_Static_assert(sizeof(struct blocked_key) == 128, "blocked_key has padding");
_Static_assert(sizeof(struct blocked_sum) == 40, "blocked_sum has padding");

#endif /* TALLY_OFFCPUTIME_H */
