// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long tasks stay on a CPU (on_switch_on, slice.bpf.h), or off it: from being switched out to being switched in
 * again, by the run queue's clock (on_switch_off). One of the two is loaded. Slices and absences that began before the
 * gate was opened, or have not ended when the run ends, are not counted.
 */
#include "compat.bpf.h"
#include "cpudist.h"
#include "hist.bpf.h"
#include "scope.bpf.h"
#include "slice.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"

const volatile bool count_idle = false;
const volatile u32 absence = ABSENCE_ANY;
/* sched_switch passes prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

HIST_MAPS(slices, struct cpudist_key);

struct cpu_state {
	u64 begun;              /* a switch was seen after the gate was opened */
	u64 idle_since;         /* 0 if not idle, or idle since before the gate was opened */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_state);
} cpu_states SEC(".maps");

enum place {
	PLACE_UNKNOWN,
	PLACE_ON,
	PLACE_OFF,
};

struct absence_state {
	u64 since;              /* 0 if before the gate was opened */
	u32 place;              /* enum place: whether the task was last seen leaving or arriving */
	u32 preempted;
};

TASK_STATE(absences, struct absence_state)

static __always_inline void record(struct task_struct *t, u64 ns)
{
	struct cpudist_key key = {};
	struct hist_segment *h;

	if (!by) {
		hist_add(&slices, ns);
		return;
	}
	task_key_of(&key.task, t);
	h = hist_add_key(&keyed_slices, &key.slot, ns);
	if (h)
		task_key_name(h->name, &h->name_stamp, t, bpf_ktime_get_ns());
}

/*
 * The clock of this CPU's run queue, which the kernel's accounting uses. It is up to date, because programs run under
 * the queue's lock. Both tasks are on that queue; one of the two is not idle.
 */
static __always_inline u64 clock_of_switch(struct task_struct *prev, struct task_struct *next)
{
	if (!bpf_core_field_exists(prev->se.cfs_rq))
		return bpf_ktime_get_ns();
	return is_idle(next) ? prev->se.cfs_rq->rq->clock : next->se.cfs_rq->rq->clock;
}

static __always_inline bool counts_for_life(struct task_struct *t)
{
	if (is_idle(t) && !count_idle)
		return false;
	return in_scope_for_life(t);
}

/* --- on the CPU -------------------------------------------------------------------------------- */

/* Some kernels do not account run time to idle tasks, so the clock is used for them. */
static __always_inline bool end_idle(struct cpu_state *cpu, u64 now, u64 *idle_ns)
{
	*idle_ns = now - cpu->idle_since;
	return cpu->idle_since;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_on, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 zero = 0;
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpu_states, &zero);
	bool whole, known;
	u64 now = 0, ns;

	if (!cpu)
		return 0;
	if (count_idle)
		now = clock_of_switch(prev, next);
	/* The first switch on a CPU ends a slice that began before. */
	whole = cpu->begun;
	cpu->begun = armed;
	if (counts_for_life(prev)) {
		known = is_idle(prev) ? end_idle(cpu, now, &ns) : end_slice(prev, &ns);
		if (armed && whole && in_scope_now(prev)) {
			if (known)
				record(prev, ns);
			else
				count_lost(LOSS_UNMATCHED);
		}
	}
	if (count_idle)
		cpu->idle_since = is_idle(next) ? now : 0;
	return 0;
}

/* --- off the CPU ------------------------------------------------------------------------------- */

static __always_inline void leave(struct task_struct *t, u64 now, bool preempted)
{
	struct absence_state *st;

	if ((is_idle(t) && !count_idle) || !scope_for_life(t))
		return;
	st = absences_get(t, NULL);
	if (!st) {
		count_lost(LOSS_UNMATCHED);     /* so its next switch-in will also be counted as lost */
		return;
	}
	if (st->place == PLACE_OFF && st->since)
		count_lost(LOSS_MISSED);        /* its switch-in was missed */
	st->place = PLACE_OFF;
	st->since = armed ? now : 0;
	st->preempted = preempted;
}

static __always_inline bool is_wanted(const struct absence_state *st)
{
	return absence == ABSENCE_ANY || (absence == ABSENCE_PREEMPTED) == !!st->preempted;
}

static __always_inline void come_back(struct task_struct *t, u64 now)
{
	struct absence_state *st;
	u32 place;
	u64 since;

	if (!counts_for_life(t))
		return;
	st = absences_get(t, NULL);
	if (!st)
		return;                 /* counted when it left, or will be counted when it leaves again */
	place = st->place;
	since = st->since;
	st->place = PLACE_ON;
	st->since = 0;
	if (!armed)
		return;
	if (place == PLACE_ON)
		count_lost(LOSS_MISSED);        /* its switch-out was missed */
	if (!since || !is_wanted(st) || !in_scope_now(t))
		return;
	/* Clocks of two CPUs may differ slightly. */
	record(t, (s64)(now - since) > 0 ? now - since : 0);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_off, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 prev_state = have_prev_state ? (u32)ctx[3] : task_run_state(prev);
	u64 now = clock_of_switch(prev, next);

	if (preempt || !(prev_state & TASK_DEAD))
		leave(prev, now, preempt || prev_state == TASK_RUNNING);
	come_back(next, now);
	return 0;
}

/*
 * Initializes existing tasks, because the kernel may not get the memory in time when many tasks are switched at once.
 */
SEC("iter/task")
int seed_absences(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (t && (!is_idle(t) || count_idle) && scope_for_life(t))
		absences_get(t, NULL);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
