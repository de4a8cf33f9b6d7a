/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many tasks wait for what a program measures, in all and by hash of the task. Programs at each context switch and
 * each wakeup ask here first: the state of a task takes longer to find than all else that they do, and most tasks have
 * none that matters.
 *
 * Each number is as high as that of the tasks, or higher: a task whose end of a wait was not seen may have ended. That
 * costs time only.
 */
#ifndef TALLY_WAITING_BPF_H
#define TALLY_WAITING_BPF_H

#include "compat.bpf.h"

#define WAITING_HASHES 4096

u64 waiting = 0;
u32 waiting_of[WAITING_HASHES] = {};

/* To the verifier a pointer is no number to hash, but the difference of two is. */
static __always_inline u32 *waiting_like(const struct task_struct *t)
{
	u64 difference = (u64)t - (u64)waiting_of;

	return &waiting_of[((u32)(difference >> 6) * 0x9e3779b1U >> 20) & (WAITING_HASHES - 1)];
}

/* Counts the begin of a wait of the task. */
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

/* Sets the time since which the task waits, 0 if it does not. The switches of one task follow each other. */
static __always_inline void waiting_since(const struct task_struct *t, u64 *since, u64 now)
{
	if (!*since && now)
		waiting_begins(t);
	else if (*since && !now)
		waiting_ends(t);
	*since = now;
}

/* False: the task does not wait. */
static __always_inline bool waiting_may_be(const struct task_struct *t)
{
	return waiting && *waiting_like(t);
}

#endif /* TALLY_WAITING_BPF_H */
