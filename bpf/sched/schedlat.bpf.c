// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * For each task: how long it ran (slice.bpf.h), how often it was switched in, how long it waited
 * for that (wait.bpf.h), and the longest wait. Or, without the longest wait, from the kernel's totals (totals.bpf.h).
 */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "schedlat.h"
#include "slice.bpf.h"
#include "task_key.bpf.h"
#include "wait.bpf.h"
#include "writer.bpf.h"

/* The number of the current interval; written by the loader. */
u64 interval = 1;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct schedlat_key);
	__type(value, struct schedlat_task);
} tasks SEC(".maps");

/* A new element's first value. */
const struct schedlat_task no_task = {};

static __always_inline struct schedlat_task *task_of(struct task_struct *t, u32 writer)
{
	struct schedlat_key key = { .writer = writer };
	struct schedlat_task *e;
	long err;

	task_key_of(&key.task, t);
	e = bpf_map_lookup_elem(&tasks, &key);
	if (e)
		return e;
	err = bpf_map_update_elem(&tasks, &key, &no_task, BPF_NOEXIST);
	e = bpf_map_lookup_elem(&tasks, &key);
	if (!e)
		count_failed_update(err);
	return e;
}

static __always_inline void keep_longest(struct schedlat_longest *l, u64 number, u64 wait_ns)
{
	if (l->interval == number && l->wait_ns >= wait_ns)
		return;
	l->interval = number;
	l->wait_ns = wait_ns;
	l->at_ns = bpf_ktime_get_ns();
}

static __always_inline void wait_ended(struct task_struct *t, u64 wait_ns, u64 now)
{
	struct schedlat_task *e = task_of(t, this_writer());
	u64 number = *(volatile u64 *)&interval;

	if (!e)
		return;
	e->switches++;
	e->wait_ns += wait_ns;
	/* The verifier of 5.10 rejects an array of two with a variable index. */
	if (number & 1)
		keep_longest(&e->longest[1], number, wait_ns);
	else
		keep_longest(&e->longest[0], number, wait_ns);
	task_key_name(e->name, &e->name_stamp, t, now);
}

/* Events are waits: wait.bpf.h counts those out of scope as filtered, so this program does not. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_run, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct schedlat_task *e;
	u64 ran_ns;
	bool known;

	if (is_idle(prev) || !scope_for_life(prev))
		return 0;
	known = end_slice(prev, &ran_ns);
	if (!armed || !scope_now(prev))
		return 0;
	if (!known) {
		count_lost(LOSS_UNMATCHED);
		return 0;
	}
	e = task_of(prev, this_writer());
	if (!e)
		return 0;
	e->run_ns += ran_ns;
	if (!e->name_stamp)
		task_key_name(e->name, &e->name_stamp, prev, 1);
	return 0;
}

/*
 * Sends a struct schedlat_running for each current slice, for a report. The loader runs this on an
 * arbitrary CPU, so not where the CPU matters; there slices count when they end.
 */
SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct schedlat_running r = {};
	struct slice_state *st;
	u64 stamp;

	if (!t || is_idle(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	st = slice_states_get(t, NULL);
	if (!st || st->left != times_left(t))
		return 0;
	r.run_ns = t->se.sum_exec_runtime - st->ran;
	if ((s64)r.run_ns <= 0)
		return 0;
	task_key_of(&r.task, t);
	task_key_name(r.name, &stamp, t, 0);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

#include "totals.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
