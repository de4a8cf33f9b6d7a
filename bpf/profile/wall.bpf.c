// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Time of tasks by stack, on a CPU and off it. blocked.bpf.h handles the time off CPU. Run time is equally exact, from
 * the same context switches; a timer on each CPU shows where it is spent: a sample gets all the time that its task has
 * run since its previous sample. So both parts add up to the elapsed time, no matter how many samples there are, and
 * the time of a missing sample goes to the next one.
 */
#define SCOPE_CURRENT
#include "blocked.bpf.h"

SEC("perf_event")
int on_cpu_sample(void *ctx)
{
	struct task_struct *t = calling_task();
	struct blocked_key key = {};
	struct blocked_sum gain = {};
	struct blocked_state *st;
	u64 now;
	u32 flaw;

	if (!is_open() || !(u32)bpf_get_current_pid_tgid())
		return 0;
	if (!scope_for_life(t))
		return 0;
	/* If the state was busy, or the task's last switch was missed, the next sample gets the time. */
	st = blocked_states_find(t);
	if (!st || !st->ran_since)
		return 0;
	now = bpf_ktime_get_ns();
	gain.ns = take_run_time(st, now);
	st->ran_since = now;
	if (!in_scope_now(t))
		return 0;
	key.why = BLOCKED_ON_CPU;
	task_key_of(&key.task, t);
	flaw = stack_take(&key.user, ctx, take | STACK_REGS);
	if (key.user.tgid)
		stack_see();
	task_key_name(gain.name, &gain.name_stamp, t, now);
	add(&key, &gain, flaw);
	return 0;
}

/* Runs at the end of the run: sends the time that tasks have run since their last sample. */
SEC("iter/task")
int show_ran(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct blocked_still still = {};
	struct blocked_state *st;

	if (!t || is_idle(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	st = blocked_states_get(t, NULL);
	if (!st)
		return 0;
	still.sum.ns = take_run_time(st, ended_ns);
	if (!still.sum.ns)
		return 0;
	still.sum.count = 1;
	still.key.why = BLOCKED_ON_CPU;
	still.key.notes = BLOCKED_UNSAMPLED;
	task_key_of(&still.key.task, t);
	task_key_name(still.sum.name, &still.sum.name_stamp, t, ended_ns);
	bpf_seq_write(ctx->meta->seq, &still, sizeof(still));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
