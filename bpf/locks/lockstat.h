/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lockstat.bpf.c and its loader (tools/locks/lockstat.c, tools/locks/lock_names.h) share. */
#ifndef TALLY_LOCKSTAT_H
#define TALLY_LOCKSTAT_H

#include "hist.h"
#include "task_key.h"

/* What a task waits for, from the flags of lock:contention_begin. */
enum lock_type {
	LOCK_SPINLOCK,
	LOCK_RWLOCK_READ,
	LOCK_RWLOCK_WRITE,
	LOCK_MUTEX,
	LOCK_RWSEM_READ,
	LOCK_RWSEM_WRITE,
	LOCK_PERCPU_READ,
	LOCK_PERCPU_WRITE,
	LOCK_RTMUTEX,
	LOCK_RT_READ,           /* PREEMPT_RT: rwlocks and rwsems made of an rtmutex */
	LOCK_RT_WRITE,
	LOCK_SEMAPHORE,
	LOCK_TYPES,
};

/* Locks that are known by where they are, seen from the task that waits. */
enum lock_place {
	LOCK_ELSEWHERE,
	LOCK_MMAP,              /* of its memory */
	LOCK_SIGLOCK,           /* of its process's signals */
	LOCK_RUN_QUEUE,         /* of some CPU */
};

/* How a wait ended. */
enum lock_end {
	LOCK_ACQUIRED,
	LOCK_GIVEN_UP,          /* for a signal, a deadlock, a timeout */
	LOCK_WAITING,           /* it had not ended at the end of the run */
};

/* What stands behind the task in keys; zero where it is not asked for. */
struct lock_parts {
	__u64 lock;             /* its address */
	__u64 caller;           /* a return address; 0: not found */
	__u32 type;
	__u32 place;
	__u32 end;              /* LOCK_WAITING is there in any case */
	__u32 owner;            /* tid of who held it when the wait began; 0: not known */
	char owner_comm[TASK_KEY_COMM_LEN];
};

struct lock_key {
	struct hist_slot slot;
	struct task_key task;
	struct lock_parts parts;
};

/* Code from start up to end. */
struct lock_text {
	__u64 start, end;
};

#define BY_LOCK (1 << (BY_PARTS + 0))
#define BY_TYPE (1 << (BY_PARTS + 1))
#define BY_CALLER (1 << (BY_PARTS + 2))
#define BY_END (1 << (BY_PARTS + 3))
#define BY_OWNER (1 << (BY_PARTS + 4))

_Static_assert(sizeof(struct lock_parts) == 48, "lock_parts has padding");
_Static_assert(sizeof(struct lock_key) == 104, "lock_key has padding");

#endif /* TALLY_LOCKSTAT_H */
