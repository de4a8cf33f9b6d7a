/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel lock that a task waits for, from lock:contention_begin and contention_end (5.19). The loader loads on_lock
 * and on_locked where the kernel has these tracepoints.
 *
 * Include this header after the definitions of u64 ended_ns, after which nothing changes, and of
 *  u64 *lock_of(struct task_struct *t)
 * which returns the address of the lock in the state of a task (value 0: none), or NULL if the task has no state.
 */
#ifndef TALLY_WHY_LOCKS_BPF_H
#define TALLY_WHY_LOCKS_BPF_H

#include "compat.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"

/* include/linux/lockdep.h, 5.19: flags of lock:contention_begin */
#define LCB_F_SPIN (1U << 0)

SEC("tp_btf/contention_begin")
int UNPREEMPTED_PROG(on_lock, void *lock, u32 flags)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 *place;

	/* The idle task and interrupts only spin. */
	if (flags & LCB_F_SPIN || ended_ns || !scope_for_life(t))
		return 0;
	place = lock_of(t);
	if (place)
		*place = (u64)lock;
	return 0;
}

SEC("tp_btf/contention_end")
int UNPREEMPTED_PROG(on_locked, void *lock, int ret)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 *place;

	if (ended_ns || !scope_for_life(t))
		return 0;
	place = lock_of(t);
	if (place && *place == (u64)lock)
		*place = 0;
	return 0;
}

#endif /* TALLY_WHY_LOCKS_BPF_H */
