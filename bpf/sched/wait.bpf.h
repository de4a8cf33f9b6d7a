/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures how long tasks wait for a CPU: from becoming runnable (woken, new, preempted, yielding) to being switched
 * in, including migrations between run queues. Produces one value per switch-in of a task; idle tasks do not wait. The
 * including file defines wait_ended(), which receives each value. The loader's side is tools/sched/waits.h.
 *
 * One of two sources is loaded (see docs/accuracy.md for reasons and figures):
 *  - wakeup, the default: a timestamp at each wakeup and each involuntary switch-out. Three hooks; needs nothing from
 *    the scheduler's own accounting.
 *  - accounting: at sched_switch, the kernel's own accounting (task_struct.sched_info, the numbers of
 *    /proc/PID/schedstat) plus the run queue's clock, which stands still between a wakeup and the switch that it
 *    causes. One hook, one state lookup; since 6.12 two more hooks that only act in a rare case (enum dozing).
 */
#ifndef TALLY_WAIT_BPF_H
#define TALLY_WAIT_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"

/* sched_switch passes prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

/*
 * delay and mark are from the kernel's accounting at the task's previous switch-in: its total run_delay including that
 * wait, and pcount + 1. since is the start of a wait that the accounting omits, or that the wakeup hooks saw; 0 if
 * there is none.
 */
struct wait_state {
	u64 delay;
	u64 mark;
	u64 since;
	u32 dozing;             /* enum dozing */
	u32 queued;             /* wakeup: number of switch-outs, if it remained queued while falling asleep; else 0 */
};

/*
 * Since 6.12 a task that falls asleep may remain queued for a while (EEVDF's delayed dequeue). If it is moved to
 * another CPU in that state, the kernel's accounting begins a wait immediately, and run_delay includes the sleep that
 * follows. Such a task is marked when it is moved, and timed from its wakeup.
 */
enum dozing {
	DOZING_NOT,
	DOZING_MOVED,           /* asleep, though accounted as waiting */
	DOZING_WOKEN,           /* awake at wait_state.since */
};

/* Approximate number of marked tasks: while it is 0, the wakeup hook does nothing. */
u64 dozing_tasks = 0;

TASK_STATE(wait_states, struct wait_state)

/* Called with interrupts off when a wait of t, which is in scope, ends now, by the clock of the source. */
static __always_inline void wait_ended(struct task_struct *t, u64 wait_ns, u64 now);

/* The clock of last_queued and run_delay; up to date, because programs run under its lock. */
static __always_inline u64 run_queue_clock(struct task_struct *t)
{
	return t->se.cfs_rq->rq->clock;
}

/*
 * A task preempted between setting its state and calling schedule() remains queued, but the kernel's accounting treats
 * it as asleep (sched_info_depart tests the state) and omits its wait.
 */
static __always_inline void preempted_while_falling_asleep(struct task_struct *prev, u64 now)
{
	struct wait_state *st = wait_states_get(prev, NULL);

	if (st)
		st->since = now;        /* otherwise the end of its wait has no begin, and is counted as such */
}

enum wait_kind {
	WAIT_ACCOUNTED,         /* from the kernel's accounting */
	WAIT_UNACCOUNTED,       /* not accounted, timed by this program */
	WAIT_CORRECTED,         /* accounted including sleep, timed by this program */
	WAIT_TOO_SHORT,         /* lacks the part before a migration, if there was one */
	WAIT_UNKNOWN,           /* its start was missed */
};

/* Computes the wait that ends now, for a task being switched in. */
static __always_inline enum wait_kind end_wait(struct task_struct *t, u64 now, u64 *wait_ns)
{
	u64 queued = t->sched_info.last_queued, delay = t->sched_info.run_delay;
	u64 mark = t->sched_info.pcount + 1, since;
	struct wait_state *st;
	enum wait_kind kind = WAIT_ACCOUNTED;
	bool first_seen;

	*wait_ns = queued ? now - queued : 0;
	delay += *wait_ns;              /* run_delay as it will be after the switch */
	st = wait_states_get(t, NULL);
	if (!st) {
		if (mark > 1)
			return WAIT_TOO_SHORT;
		*wait_ns = delay;       /* its first wait is the total */
		return WAIT_ACCOUNTED;
	}

	/*
	 * Each migration of a queued task adds its wait so far to run_delay and restarts last_queued, so the whole wait
	 * is the increase of both since the last switch-in. This requires that the switch-in was seen (pcount has grown
	 * by at most one), or that there was none.
	 */
	first_seen = !st->mark;
	if (first_seen ? mark == 1 : mark - st->mark <= 1)
		*wait_ns = delay - st->delay;
	else if (first_seen)
		kind = WAIT_TOO_SHORT;
	else
		count_lost_many(LOSS_MISSED, mark - st->mark - 1);
	st->delay = delay;
	st->mark = mark;
	since = st->since;
	st->since = 0;
	if (st->dozing) {
		st->dozing = DOZING_NOT;
		__sync_fetch_and_add(&dozing_tasks, -1);
		*wait_ns = (s64)(now - since) > 0 ? now - since : 0;
		return since ? WAIT_CORRECTED : WAIT_UNKNOWN;
	}
	if (since) {
		if ((s64)(now - since) > (s64)*wait_ns)
			*wait_ns = now - since;
		return WAIT_UNACCOUNTED;
	}
	if (!queued)
		return WAIT_UNKNOWN;
	return kind;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_accounting, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	enum wait_kind kind;
	u64 now, wait_ns;

	if (preempt && task_run_state(prev) != TASK_RUNNING && !is_idle(prev) &&
	    scope_for_life(prev))
		preempted_while_falling_asleep(prev, run_queue_clock(prev));

	if (is_idle(next) || !in_scope_for_life(next))
		return 0;
	now = run_queue_clock(next);
	kind = end_wait(next, now, &wait_ns);
	if (!armed || !in_scope_now(next))
		return 0;
	if (kind == WAIT_UNKNOWN) {
		count_lost(LOSS_UNMATCHED);
		return 0;
	}
	if (kind == WAIT_UNACCOUNTED)
		count_unaccounted();
	else if (kind == WAIT_CORRECTED)
		count_corrected();
	else if (kind == WAIT_TOO_SHORT)
		count_lost(LOSS_NO_STATE);
	wait_ended(next, wait_ns, now);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate_dozing, struct task_struct *t)
{
	struct wait_state *st;

	if (!bpf_core_field_exists(t->se.sched_delayed) || !t->se.sched_delayed ||
	    !scope_for_life(t))
		return 0;
	st = wait_states_get(t, NULL);
	if (!st) {
		count_lost(LOSS_NO_STATE);
		return 0;
	}
	if (st->dozing)
		return 0;
	st->dozing = DOZING_MOVED;
	st->since = 0;
	__sync_fetch_and_add(&dozing_tasks, 1);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup_dozing, struct task_struct *t)
{
	struct wait_state *st;

	if (!dozing_tasks || !scope_for_life(t))
		return 0;
	st = wait_states_get(t, NULL);
	if (st && st->dozing == DOZING_MOVED) {
		st->dozing = DOZING_WOKEN;
		st->since = run_queue_clock(t);
	}
	return 0;
}

/*
 * Initializes existing tasks from the kernel's accounting, so that their first wait is also right. Does not overwrite
 * what the switch hook has already written. For wakeup timestamps it creates the state, because the kernel may not get
 * memory in time when many tasks wake at once; the state also distinguishes waits that began before the run from those
 * with a hidden start.
 */
SEC("iter/task")
int seed_states(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct wait_state init = {};

	if (!t || is_idle(t) || !scope_for_life(t))
		return 0;
	init.delay = t->sched_info.run_delay;
	init.mark = t->sched_info.pcount;
	wait_states_get(t, &init);
	return 0;
}

static __always_inline u32 switch_outs(struct task_struct *t)
{
	return (u32)(t->nvcsw + t->nivcsw) ?: 1;
}

static __always_inline int woken_at(struct task_struct *t, u64 now)
{
	struct wait_state *st;

	if (is_idle(t) || !scope_for_life(t))
		return 0;
	st = wait_states_get(t, NULL);
	if (!st)
		return 0;               /* counted at the end of the wait, as a wait without a begin */
	/* The task never left the queue, and has waited since its preemption. */
	if (st->queued && st->queued == switch_outs(t))
		return 0;
	st->since = now;
	st->queued = 0;
	return 0;
}

/* For a task being switched out; the kernel has already counted the switch-out (__schedule()). */
static __always_inline void preempted_at(struct task_struct *prev, u32 state, u64 now)
{
	struct wait_state *st;

	if (is_idle(prev) || !scope_for_life(prev))
		return;
	st = wait_states_get(prev, NULL);
	if (!st)
		return;                 /* as above */
	st->since = now;
	st->queued = state == TASK_RUNNING ? 0 : switch_outs(prev);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *t)
{
	return woken_at(t, bpf_ktime_get_ns());
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *t)
{
	return woken_at(t, bpf_ktime_get_ns());
}

/*
 * Finds a wait whose start was not seen, because it was before the run or the kernel hid it. The kernel's accounting
 * has the wait, but only since the last migration, and by a clock that may stand still for a while.
 */
static __always_inline bool accounted_wait(struct task_struct *t, u64 *wait_ns)
{
	u64 queued;

	if (!bpf_core_field_exists(t->sched_info.last_queued) || !bpf_core_field_exists(t->se.cfs_rq))
		return false;
	queued = t->sched_info.last_queued;
	*wait_ns = run_queue_clock(t) - queued;
	return queued && (s64)*wait_ns > 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_wakeup, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 prev_state = have_prev_state ? (u32)ctx[3] : task_run_state(prev);
	struct wait_state *st;
	u64 now = bpf_ktime_get_ns(), since = 0, wait_ns;

	if (preempt || prev_state == TASK_RUNNING)
		preempted_at(prev, prev_state, now);
	if (is_idle(next) || !in_scope_for_life(next))
		return 0;
	st = wait_states_get(next, NULL);
	if (st) {
		since = st->since;
		st->since = 0;
	}
	if (!armed || !in_scope_now(next))
		return 0;
	if (since) {
		wait_ended(next, now - since, now);
	} else if (accounted_wait(next, &wait_ns)) {
		/* The task has not run since it was seeded, when the hooks were attached: its wait began before. */
		if (st && st->mark == next->sched_info.pcount)
			count_begun_before();
		else
			count_lost(LOSS_NO_STATE);
		wait_ended(next, wait_ns, now);
	} else {
		count_lost(LOSS_UNMATCHED);
	}
	return 0;
}

#endif /* TALLY_WAIT_BPF_H */
