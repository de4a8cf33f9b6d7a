// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * For each task: how long it ran (slice.bpf.h), how often it was switched in, how long it waited for that (wait.bpf.h),
 * and the longest wait. Or the same without the longest wait, from the kernel's totals (totals.bpf.h).
 */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "maximum.bpf.h"
#include "schedlat.h"
#include "slice.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "wait.bpf.h"
#include "writer.bpf.h"

SUMS(struct schedlat_key, struct schedlat_sums)

/* Returns NULL if there is no room; pass *err to count_failed_update(). */
static __always_inline struct schedlat_sums *sums_of_task(struct task_struct *t, u32 writer, long *err)
{
	struct schedlat_key key = { .writer = writer };

	task_key_of(&key.task, t);
	return sums_try(&key, err);
}

/* A wait and the slice that follows it are one event. */
static __always_inline void lose_wait(struct task_struct *t, long err)
{
	struct slice_state *st = slice_states_get(t, NULL);

	count_failed_update(err);
	if (st)
		st->lost = times_left(t) + 1;
}

static __always_inline void lose_slice(struct task_struct *t, long err)
{
	struct slice_state *st = slice_states_get(t, NULL);

	if (!st || st->lost != times_left(t))
		count_failed_update(err);
}

static __always_inline void wait_ended(struct task_struct *t, u64 wait_ns, u64 now)
{
	long err;
	struct schedlat_sums *e = sums_of_task(t, this_writer(), &err);

	if (!e) {
		lose_wait(t, err);
		return;
	}
	e->switches++;
	e->wait_ns += wait_ns;
	timed_maximum_keep(e->longest, wait_ns);
	task_key_name(e->name, &e->name_stamp, t, now);
}

/* Events are waits: wait.bpf.h counts those out of scope as filtered, so this program does not. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_run, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct schedlat_sums *e;
	u64 ran_ns;
	bool known;
	long err;

	if (is_idle(prev) || !scope_for_life(prev))
		return 0;
	known = end_slice(prev, &ran_ns);
	if (!armed || !scope_now(prev))
		return 0;
	if (!known) {
		count_lost(LOSS_UNMATCHED);
		return 0;
	}
	e = sums_of_task(prev, this_writer(), &err);
	if (!e) {
		lose_slice(prev, err);
		return 0;
	}
	e->run_ns += ran_ns;
	if (!e->name_stamp)
		task_key_name(e->name, &e->name_stamp, prev, 1);
	return 0;
}

/*
 * Sends a struct schedlat_element for each current slice, for a report. The loader runs this on an arbitrary CPU, so it
 * is not used if the CPU matters; slices then count when they end.
 */
SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct schedlat_element r = {};
	struct slice_state *st;

	if (!t || is_idle(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	st = slice_states_get(t, NULL);
	if (!st || st->left != times_left(t))
		return 0;
	r.sums.run_ns = t->se.sum_exec_runtime - st->ran;
	if ((s64)r.sums.run_ns <= 0)
		return 0;
	task_key_of(&r.key.task, t);
	task_key_name(r.sums.name, &r.sums.name_stamp, t, 0);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

#include "totals.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
