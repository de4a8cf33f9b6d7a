/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures how long tasks run, from switch-in to switch-out, as the kernel charges them (se.sum_exec_runtime, the first
 * number of /proc/PID/schedstat). Every scheduling class updates this before the switch, and it does not change while
 * the task is off the CPU, so its increase from one switch-out to the next is the slice in between: one hook and one
 * state lookup.
 */
#ifndef TALLY_SLICE_BPF_H
#define TALLY_SLICE_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"

/* State as of the task's last switch-out. All zero for a task that has never run. */
struct slice_state {
	u64 ran;                /* se.sum_exec_runtime */
	u64 left;               /* number of its switch-outs */
	u64 lost;               /* schedlat: the switch-out that ends the slice whose wait was counted as lost */
};

TASK_STATE(slice_states, struct slice_state)

/* The kernel counts a switch-out, voluntary or not, just before the tracepoint. */
static __always_inline u64 times_left(struct task_struct *t)
{
	return t->nvcsw + t->nivcsw;
}

/*
 * Computes the length of the slice that ends now, for a task being switched out. Returns false if its start is unknown.
 * Hidden switch-outs merge slices, and are counted as missed.
 */
static __always_inline bool end_slice(struct task_struct *t, u64 *ran_ns)
{
	struct slice_state *st = slice_states_get(t, NULL);
	u64 ran = t->se.sum_exec_runtime, left = times_left(t);
	bool known;

	if (!st) {
		*ran_ns = ran;
		return left == 1;       /* its first slice is the total */
	}
	known = st->left || left == 1;
	if (known && (s64)(left - st->left) > 1)
		count_lost_many(LOSS_MISSED, left - st->left - 1);
	*ran_ns = ran - st->ran;
	st->ran = ran;
	st->left = left;
	return known;
}

/*
 * Initializes existing tasks. Does not overwrite what the switch hook has already written. The run time of a task on a
 * CPU may be out of date by at most a tick.
 */
SEC("iter/task")
int seed_slices(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct slice_state init = {};

	if (!t || is_idle(t) || !scope_for_life(t))
		return 0;
	init.ran = t->se.sum_exec_runtime;
	init.left = times_left(t);
	slice_states_get(t, &init);
	return 0;
}

#endif /* TALLY_SLICE_BPF_H */
