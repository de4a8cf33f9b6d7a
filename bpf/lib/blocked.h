/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by blocked.bpf.h and its loaders (user/stack/blocked.h). */
#ifndef TALLY_BLOCKED_H
#define TALLY_BLOCKED_H

#include "stack.h"

/* The task by whose stack time is summed, and the end of a slice. */
enum blocked_view {
	BLOCKED_BY_TASK,        /* the blocked task; until it is on a CPU again */
	BLOCKED_BY_WAKER,       /* its waker; until the wakeup */
	BLOCKED_BY_BOTH,        /* both; until the wakeup */
};

/* The reason why a task left its CPU, from its state. */
enum blocked_why {
	BLOCKED_SLEEP,          /* interruptible: a signal can wake it */
	BLOCKED_DISK,           /* uninterruptible: mostly disk I/O or a kernel lock */
	BLOCKED_IDLE,           /* a kernel thread without work */
	BLOCKED_STOPPED,
	BLOCKED_TRACED,         /* stopped by a debugger */
	BLOCKED_OTHER,
	BLOCKED_PREEMPTED,      /* not blocked: still runnable */
	BLOCKED_WHYS,
	BLOCKED_ON_CPU = BLOCKED_WHYS,  /* did not leave its CPU: for tools that also sum on-CPU time */
};

struct blocked_key {
	/* The task's stack; all zero if it was lost or not taken (see notes). BLOCKED_ON_CPU has both parts in user. */
	struct stack_id kernel, user;
	struct stack_id waker;          /* both parts */
	struct task_key task;
	__u32 why;                      /* enum blocked_why, if requested */
	__u32 notes;                    /* enum blocked_note, ORed */
	char waker_comm[TASK_KEY_COMM_LEN];
	__u32 generation;               /* as in struct stack_key */
	__u32 pad;
};

enum blocked_note {
	BLOCKED_STILL = 1 << 0,         /* still blocked at the end of the run */
	BLOCKED_BEFORE = 1 << 1,        /* began before the run: counted from its start, without user stack */
	BLOCKED_NO_USER = 1 << 2,       /* a kernel thread: no user stack */
	BLOCKED_LATE = 1 << 3,          /* the user stack was requested but not taken in time */
	BLOCKED_WHOLE = 1 << 4,         /* lasted through the whole run; without on-CPU times: asleep or idle */
	BLOCKED_UNSAMPLED = 1 << 5,     /* on-CPU time that no sample has taken */
};

struct blocked_sum {
	__u64 ns;
	__u64 count;
	__u64 name_stamp;               /* as in struct stack_count */
	char name[TASK_KEY_COMM_LEN];
};

/* A slice of the next task on this CPU that counts and only lacks its user stack. */
struct blocked_kick {
	__u64 task;             /* 0 if none */
	__u64 flaw;             /* enum loss_reason of the other stacks, 0 if none */
	struct blocked_key key;
	struct blocked_sum gain;
};

/* A slice that has not ended when the run ends; one record per task. */
struct blocked_still {
	struct blocked_key key;
	struct blocked_sum sum;
};

_Static_assert(sizeof(struct blocked_key) == 128, "blocked_key has padding");
_Static_assert(sizeof(struct blocked_sum) == 40, "blocked_sum has padding");

#endif /* TALLY_BLOCKED_H */
