/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owners of the kernel's sleeping locks, as the lock itself records them (kernel/locking/mutex.h, rwsem.c). The owner
 * may release the lock and exit at any time: the address of a task is not a reference to it.
 */
#ifndef TALLY_LOCK_OWNER_BPF_H
#define TALLY_LOCK_OWNER_BPF_H

#include "compat.bpf.h"

/* Flags in the low bits of an owner. First flag of a rwsem: a reader, possibly one of many. */
#define OWNER_FLAGS 7UL
#define RWSEM_READER_OWNED 1UL

/* The task that holds the mutex; NULL: none, or not known (PREEMPT_RT). */
static __always_inline struct task_struct *mutex_owner(u64 lock)
{
	struct mutex *mutex = (void *)lock;

	if (!bpf_core_field_exists(mutex->owner))
		return NULL;
	return (struct task_struct *)(BPF_CORE_READ(mutex, owner.counter) & ~OWNER_FLAGS);
}

/* The task that holds the rw_semaphore for writing; NULL: none, or not known. Readers are not recorded. */
static __always_inline struct task_struct *rwsem_writer(u64 lock)
{
	struct rw_semaphore *sem = (void *)lock;
	u64 owner;

	if (!bpf_core_field_exists(sem->owner))
		return NULL;
	owner = BPF_CORE_READ(sem, owner.counter);
	return owner & RWSEM_READER_OWNED ? NULL : (struct task_struct *)(owner & ~OWNER_FLAGS);
}

#endif /* TALLY_LOCK_OWNER_BPF_H */
