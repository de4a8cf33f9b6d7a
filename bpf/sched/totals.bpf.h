/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Run time, switches and waits of each task without a program at context switches. The kernel's own totals
 * (se.sum_exec_runtime and sched_info, the three numbers of /proc/PID/schedstat) are read when the run begins, at each
 * report, and when a task exits and is freed. They have the limits of the source "accounting" of wait.bpf.h: some waits
 * are missing, and short ones are some us too short. A task is freed an RCU grace period after its parent has reaped
 * it: if that period is not over at a report, the end of the task is in the next report.
 *
 * The including file defines sums_of_task().
 */
#ifndef TALLY_TOTALS_BPF_H
#define TALLY_TOTALS_BPF_H

#include "wait.bpf.h"

/* True while the run is in progress; written by the loader. While false, visit_totals only stores current totals. */
bool counting = false;

/* Start of the run, CLOCK_MONOTONIC; written by the loader. */
u64 began_ns = 0;

/*
 * The totals that have been counted so far. Since 6.12 the kernel's waits may contain sleep (enum dozing of
 * wait.bpf.h); excess is subtracted to correct this.
 */
struct totals_state {
	u64 run_ns, switches, wait_ns;
	u64 excess;
	u64 moved;              /* DOZING_MOVED: run_delay before it was moved */
	u32 dozing;             /* enum dozing */
	u16 seen;               /* the totals above are valid, that is, after the first visit */
	u16 in_scope;           /* as of the last visit before the task was reaped */
	u64 holders;            /* preempt.bpf.h: claim_alone() */
};

static __always_inline void visit_freed(struct task_struct *t);

/*
 * A task releases its memory after sched_process_exit, which takes much of the time of a short process. This program
 * must precede the program of TASK_STATE() that deletes the state in a hash: programs are attached in this order.
 */
SEC("tp_btf/sched_process_free")
int UNPREEMPTED_PROG(on_free_totals, struct task_struct *t)
{
	visit_freed(t);
	return 0;
}

TASK_STATE(totals_states, struct totals_state)

static __always_inline u64 waited(struct task_struct *t, const struct totals_state *st)
{
	u64 delay = t->sched_info.run_delay;

	barrier_var(delay);     /* prevents one load from two kinds of pointers, which the verifier rejects */
	return (st->dozing == DOZING_MOVED ? st->moved : delay) - st->excess;
}

static __always_inline void add_totals(struct task_struct *t, u64 run_ns, u64 switches, u64 wait_ns)
{
	long err;
	struct schedlat_sums *e = sums_of_task(t, shared_writer(), &err);

	if (!e) {
		count_failed_updates(err, switches);
		return;
	}
	__sync_fetch_and_add(&e->run_ns, run_ns);
	__sync_fetch_and_add(&e->switches, switches);
	__sync_fetch_and_add(&e->wait_ns, wait_ns);
	task_key_name(e->name, &e->name_stamp, t, bpf_ktime_get_ns());
}

/* The caller must have claimed the state. */
static __always_inline void take_totals(struct task_struct *t, struct totals_state *st)
{
	u64 run_ns = t->se.sum_exec_runtime, switches = t->sched_info.pcount, wait_ns = waited(t, st);
	u64 ran = run_ns - st->run_ns, switched = switches - st->switches, wait = wait_ns - st->wait_ns;
	bool known = st->seen || !is_older_than(t, began_ns);

	/* At a wakeup, excess grows by a time that run_delay gains only at the switch-in. */
	if ((s64)wait < 0) {
		wait = 0;
		wait_ns = st->wait_ns;
	}
	st->run_ns = run_ns;
	st->switches = switches;
	st->wait_ns = wait_ns;
	st->seen = true;
	/* A reaped task has no pid namespace any more. */
	if (t->thread_pid)
		st->in_scope = scope_now(t);
	if (!counting || !st->in_scope)
		return;
	if (!known)
		count_lost(LOSS_UNMATCHED);
	else if (ran || switched || wait)
		add_totals(t, ran, switched, wait);
}

static __always_inline bool is_counted(struct task_struct *t)
{
	return !is_idle(t) && scope_for_life(t);
}

/* Returns false if another program has claimed the state, which then reads the same totals. */
static __always_inline bool visit(struct task_struct *t, struct totals_state *st)
{
	if (!claim_alone(&st->holders))
		return false;
	take_totals(t, st);
	give_up_claim(&st->holders);
	return true;
}

SEC("iter/task")
int visit_totals(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct totals_state *st;

	if (!t || !is_counted(t))
		return 0;
	st = totals_states_get(t, NULL);
	if (st)
		visit(t, st);
	else if (counting)
		count_lost(LOSS_NO_STORAGE);
	return 0;
}

/* If the task's totals are being read at this moment, it may have run since that read. */
SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(on_exit_totals, struct task_struct *t)
{
	struct totals_state *st;

	if (!counting || !is_counted(t))
		return 0;
	st = totals_states_get(t, NULL);
	if (!st)
		count_lost(LOSS_NO_STORAGE);
	else if (!visit(t, st))
		count_lost(LOSS_UNMATCHED);
	return 0;
}

static __always_inline void visit_freed(struct task_struct *t)
{
	struct totals_state *st;

	if (!counting)
		return;
	/*
	 * The existing state shows that the task is in scope for life: scope.bpf.h has just removed its process. A
	 * newly created state would count all totals again.
	 */
	st = totals_states_find(t);
	if (st && !visit(t, st))
		count_lost(LOSS_UNMATCHED);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate_totals, struct task_struct *t)
{
	struct totals_state *st;

	if (!bpf_core_field_exists(t->se.sched_delayed) || !t->se.sched_delayed || !scope_for_life(t))
		return 0;
	st = totals_states_get(t, NULL);
	if (!st || st->dozing == DOZING_MOVED)
		return 0;
	st->moved = t->sched_info.run_delay;
	st->dozing = DOZING_MOVED;
	__sync_fetch_and_add(&dozing_tasks, 1);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup_totals, struct task_struct *t)
{
	struct totals_state *st;
	u64 queued, asleep;

	if (!dozing_tasks || !scope_for_life(t))
		return 0;
	st = totals_states_get(t, NULL);
	if (!st || st->dozing != DOZING_MOVED)
		return 0;
	/* The clock is that of the run queue, which is not reachable on kernels without task groups. */
	queued = bpf_core_field_exists(t->se.cfs_rq) ? t->sched_info.last_queued : 0;
	asleep = queued ? run_queue_clock(t) - queued : 0;
	count_corrected();
	st->excess += t->sched_info.run_delay - st->moved + ((s64)asleep > 0 ? asleep : 0);
	st->dozing = DOZING_NOT;
	__sync_fetch_and_add(&dozing_tasks, -1);
	return 0;
}

#endif /* TALLY_TOTALS_BPF_H */
