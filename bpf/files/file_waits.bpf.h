/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits of tasks in file calls, by context switches alone. on_wait replaces the system call hooks of file.bpf.h, which
 * turn on the slow path of every system call on the machine. The registers of the task that leaves its CPU identify the
 * call. The including file defines file_waited(), which receives each wait of a task in scope. A task that is preempted
 * does not wait.
 *
 * The loader's side: --waits of user/files/calls.h.
 */
#ifndef TALLY_FILE_WAITS_BPF_H
#define TALLY_FILE_WAITS_BPF_H

#include "file.bpf.h"
#include "waiting.bpf.h"

/*
 * Called when a task that has waited since that time (CLOCK_MONOTONIC) continues on this CPU. It is about to become the
 * current task.
 */
static __always_inline void file_waited(struct task_struct *t, const struct file_state *st, u64 since, u64 now);

/* The operation of the call. A call with two files waits for the one that is traced, or else for the first. */
static __always_inline u32 file_op_of(const struct file_state *st)
{
	return file_call_opens(st->call) ? FILE_OPEN : st->side[0].op ?: st->side[1].op;
}

/* The file of the operation. */
static __always_inline const struct file_side *file_side_of(const struct file_state *st)
{
	return st->side[0].op ? &st->side[0] : &st->side[1];
}

static __always_inline void begin_wait(struct task_struct *t)
{
	struct file_state *st;
	u64 arg[6] = {};
	struct call c;
	int i;

	if (!call_now(&c) || !in_scope(t))
		return;
	st = file_states_get(t, NULL);
	if (!st) {
		count_lost(LOSS_NO_STORAGE);
		return;
	}
#pragma unroll
	for (i = 0; i < 4; i++)
		arg[i] = c.arg[i];
	if (st->start_ns)
		count_lost(LOSS_MISSED);        /* its switch-in was missed */
	waiting_since(t, &st->start_ns, 0);
	if (!file_call_begins(st, &c, arg))
		return;
	st->call = c.which;
	waiting_since(t, &st->start_ns, bpf_ktime_get_ns());
}

/*
 * The number of the call is checked before the state is looked up. If the end of a wait was missed, a later end is not
 * taken for it.
 */
static __always_inline void end_wait(struct task_struct *t)
{
	struct file_state *st = call_may_be_of(t) ? file_states_find(t) : NULL;
	u64 since, now;

	if (!st || !st->start_ns)
		return;
	since = st->start_ns;
	waiting_since(t, &st->start_ns, 0);
	now = bpf_ktime_get_ns();
	if (since <= now)
		file_waited(t, st, since, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_wait, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (!armed)
		return 0;
	/* A switch on the way back to user space does not have the preempt flag, but the task is runnable. */
	if (!preempt && task_run_state(prev) != TASK_RUNNING && !(prev->flags & PF_KTHREAD))
		begin_wait(prev);
	if (waiting_may_be(next))
		end_wait(next);
	return 0;
}

#endif /* TALLY_FILE_WAITS_BPF_H */
