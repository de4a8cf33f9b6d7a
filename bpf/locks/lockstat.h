/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by lockstat.bpf.c and its loader (tools/locks/lockstat.c, tools/locks/lock_names.h). */
#ifndef TALLY_LOCKSTAT_H
#define TALLY_LOCKSTAT_H

#include "hist.h"
#include "task_key.h"

/* The type of lock, from the flags of lock:contention_begin. */
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
	LOCK_RT_READ,           /* PREEMPT_RT: rwlocks and rwsems based on an rtmutex */
	LOCK_RT_WRITE,
	LOCK_SEMAPHORE,
	LOCK_TYPES,
};

/* Locks identified by their location, relative to the waiting task. */
enum lock_place {
	LOCK_ELSEWHERE,
	LOCK_MMAP,              /* its mmap lock */
	LOCK_SIGLOCK,           /* its process's siglock */
	LOCK_RUN_QUEUE,         /* of any CPU */
};

/* How a wait ended. */
enum lock_end {
	LOCK_ACQUIRED,
	LOCK_GIVEN_UP,          /* because of a signal, a deadlock, a timeout */
	LOCK_WAITING,           /* still waiting at the end of the run */
};

/* Key parts in addition to the task; zero if not requested. */
struct lock_parts {
	__u64 lock;             /* address of the lock */
	__u64 caller;           /* a return address; 0 if not found */
	__u32 type;
	__u32 place;
	__u32 end;              /* LOCK_WAITING: set even if not requested */
	__u32 owner;            /* tid of the owner when the wait began; 0: unknown */
	char owner_comm[TASK_KEY_COMM_LEN];
};

struct lock_key {
	struct hist_slot slot;
	struct task_key task;
	struct lock_parts parts;
};

/* A range of kernel code, end excluded. */
struct lock_text {
	__u64 start, end;
};

/* Locks selected by name: the maximum number of variables that contain them. */
#define CHOSEN_LOCKS 32

#define BY_LOCK (1 << (BY_PARTS + 0))
#define BY_TYPE (1 << (BY_PARTS + 1))
#define BY_CALLER (1 << (BY_PARTS + 2))
#define BY_END (1 << (BY_PARTS + 3))
#define BY_OWNER (1 << (BY_PARTS + 4))

_Static_assert(sizeof(struct lock_parts) == 48, "lock_parts has padding");
_Static_assert(sizeof(struct lock_key) == 104, "lock_key has padding");

#endif /* TALLY_LOCKSTAT_H */
