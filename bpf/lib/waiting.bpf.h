/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the tasks that are in a wait which a program measures, in total and by a hash of the task. Programs at context
 * switches and wakeups check these counts first: the lookup of a task's state is their largest cost, and most tasks
 * have no wait.
 *
 * A count may be too high: if the end of a wait was missed, the task may no longer exist. This only costs time.
 */
#ifndef TALLY_WAITING_BPF_H
#define TALLY_WAITING_BPF_H

#include "compat.bpf.h"

#define WAITING_HASHES 4096

u64 waiting = 0;
u32 waiting_of[WAITING_HASHES] = {};

/* The verifier allows no arithmetic on a pointer, except for the difference of two pointers. */
static __always_inline u32 *waiting_like(const struct task_struct *t)
{
	u64 difference = (u64)t - (u64)waiting_of;

	return &waiting_of[((u32)(difference >> 6) * 0x9e3779b1U >> 20) & (WAITING_HASHES - 1)];
}

/* The task begins a wait. */
static __always_inline void waiting_begins(const struct task_struct *t)
{
	__sync_fetch_and_add(&waiting, 1);
	__sync_fetch_and_add(waiting_like(t), 1);
}

static __always_inline void waiting_ends(const struct task_struct *t)
{
	__sync_fetch_and_add(&waiting, -1);
	__sync_fetch_and_add(waiting_like(t), -1);
}

/* Sets the time since which the task waits; 0 if it does not wait. The switches of one task never run concurrently. */
static __always_inline void waiting_since(const struct task_struct *t, u64 *since, u64 now)
{
	if (!*since && now)
		waiting_begins(t);
	else if (*since && !now)
		waiting_ends(t);
	*since = now;
}

/* False only if the task does not wait. */
static __always_inline bool waiting_may_be(const struct task_struct *t)
{
	return waiting && *waiting_like(t);
}

#endif /* TALLY_WAITING_BPF_H */
