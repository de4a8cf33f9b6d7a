// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each switch, with the run time of the leaving task and the absence before it; and, if requested, wakeups and
 * migrations. The subject of a switch is the task that leaves; the subject of other events is the task that is woken or
 * moved. If CPUs are drawn (want_arrivals), switches to a task in scope are also sent, whichever task leaves.
 *
 * Records are streamed, or only the worst are kept (keep_worst), in one heap per CPU.
 *
 * Stacks of leaving tasks are taken if requested; with keep_worst, only for the records that are kept.
 */
#include "compat.bpf.h"
#include "callers.bpf.h"
#include "loss.bpf.h"
#include "scope.bpf.h"
#include "slice.bpf.h"
#include "switches.bpf.h"
#include "wait.bpf.h"

const volatile bool want_arrivals = false;
const volatile u32 keep_worst = 0;      /* records per CPU; 0 to stream */
const volatile u32 worst_by = SWITCHES_BY_WAIT;
/* True if waits, and so also absences, are timed by bpf_ktime_get_ns() (wait.bpf.h). */
const volatile bool by_timestamps = false;

/* For a task on a CPU: how it got there. For other tasks: when they left. */
struct stay {
	u64 left_at;            /* 0 if not seen */
	u64 off_ns;
	u64 wait_ns;
	u64 known;              /* enum stay_known, ORed */
	struct switches_task before;
	struct stack_id before_stack;
};

enum stay_known {
	STAY_ON = 1,            /* it is on a CPU */
	STAY_OFF_NS = 2,
	STAY_WAIT_NS = 4,
	STAY_BEFORE_STACK = 8,
};

TASK_STATE(stays, struct stay)

static __always_inline void wait_ended(struct task_struct *t, u64 wait_ns, u64 now)
{
	struct stay *st = stays_get(t, NULL);

	if (!st)
		return;                 /* counted when it leaves */
	st->wait_ns = wait_ns;
	st->known |= STAY_WAIT_NS;
}

/* The clock that times waits; both tasks are on this CPU's queue, and one is not idle. */
static __always_inline u64 clock_of_switch(struct task_struct *prev, struct task_struct *next)
{
	if (by_timestamps)
		return bpf_ktime_get_ns();
	return run_queue_clock(is_idle(next) ? prev : next);
}

/* --- the worst --------------------------------------------------------------------------------- */

/*
 * A heap: the least element comes first, and the children of i are 2i + 1 and 2i + 2. Initially all elements are zero,
 * so each new element replaces the first one and sinks.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u32);
	__type(value, struct switches_worst);
} worst SEC(".maps");

/*
 * Always 0, which the verifier does not know: it therefore checks each level of the heap once, instead of each index.
 */
u32 heap_root = 0;

/* Makes room for a value: moves smaller values up, and returns the free element. */
static __always_inline struct switches_worst *sink(struct switches_worst *free, u64 value)
{
	struct switches_worst *left, *right;
	u32 at = *(volatile u32 *)&heap_root, below, level;

	for (level = 0; level < SWITCHES_WORST_LEVELS; level++) {
		below = 2 * at + 1;
		left = bpf_map_lookup_elem(&worst, &below);
		if (!left)
			break;
		at = below++;
		right = bpf_map_lookup_elem(&worst, &below);
		if (right && right->value < left->value) {
			left = right;
			at = below;
		}
		if (left->value >= value)
			break;
		*free = *left;
		free = left;
	}
	return free;
}

static __always_inline u64 value_of(const struct switches_record *r)
{
	u64 value = worst_by == SWITCHES_BY_OFF ? r->off_ns :
		    worst_by == SWITCHES_BY_RUN ? r->run_ns : r->wait_ns;

	return value == SWITCHES_UNKNOWN ? 0 : value;
}

/*
 * Returns the first element of the heap if the value exceeds it, or NULL if the value is not among the worst.
 */
static __always_inline struct switches_worst *replaced_by(u64 value)
{
	struct switches_worst *w;
	u32 zero = 0;

	w = bpf_map_lookup_elem(&worst, &zero);
	return w && value > w->value ? w : NULL;
}

static __always_inline void fill_before(struct switches_worst *w, const struct stay *st)
{
	w->before = st->before;
	w->before_stack = st->before_stack;
	w->taken = st->known & STAY_BEFORE_STACK ? SWITCHES_BEFORE_STACK : 0;
}

static __always_inline void keep(void *ctx, const struct switches_record *r, const struct stay *st)
{
	struct stack_id stack = {};
	u64 value = value_of(r);
	struct switches_worst *w;

	w = replaced_by(value);
	if (!w)
		return;
	if (take)
		stack_count_flaw(callers_take(ctx, &stack));
	w = sink(w, value);
	w->value = value;
	w->before = (struct switches_task){};
	w->taken = 0;
	/* Otherwise the task's switch-in was missed, and st describes an earlier stay. */
	if (st && st->known & STAY_ON)
		fill_before(w, st);
	w->record = *r;
	w->stack = stack;
	if (take)
		w->taken |= SWITCHES_STACK;
}

/* --- switches ---------------------------------------------------------------------------------- */

static __always_inline void fill_stay(struct switches_record *r, const struct stay *st)
{
	r->off_ns = st && st->known & STAY_OFF_NS ? st->off_ns : SWITCHES_UNKNOWN;
	r->wait_ns = st && st->known & STAY_WAIT_NS ? st->wait_ns : SWITCHES_UNKNOWN;
}

static __always_inline bool counts(struct task_struct *t)
{
	return !is_idle(t) && scope_for_life(t) && scope_now(t);
}

static __always_inline void fill_switch(struct switches_record *r, struct task_struct *prev,
					struct task_struct *next, const struct stay *st, u64 run_ns)
{
	fill_task(&r->task, prev);
	fill_task(&r->other, next);
	fill_stay(r, st);
	r->run_ns = run_ns;
	r->stranger = want_arrivals && !counts(next) && !is_idle(next);
	ring_submit(r);
}

static __always_inline void show(u32 kind, struct task_struct *prev, struct task_struct *next,
				 const struct stay *st, u64 run_ns)
{
	struct switches_record *r = new_record(kind);

	if (r)
		fill_switch(r, prev, next, st, run_ns);
}

/* Walks the stack first, because a ring entry that remains reserved for long blocks the reader. */
static __always_inline void show_with_stack(void *ctx, struct task_struct *prev,
					    struct task_struct *next, const struct stay *st,
					    u64 run_ns)
{
	u64 now = bpf_ktime_get_ns();
	struct switches_stacked *s;
	struct stack_id stack;
	u32 flaw = callers_take(ctx, &stack);

	s = ring_reserve(struct switches_stacked);
	if (!s)
		return;
	stack_count_flaw(flaw);
	s->stack = stack;
	begin_record(&s->record, SWITCHES_SWITCH);
	s->record.time_ns = now;
	fill_switch(&s->record, prev, next, st, run_ns);
}

static __always_inline void consider(void *ctx, struct task_struct *prev, struct task_struct *next,
				     const struct stay *st, u64 run_ns)
{
	struct switches_record r = { .kind = SWITCHES_SWITCH };

	fill_stay(&r, st);
	r.run_ns = run_ns;
	r.time_ns = bpf_ktime_get_ns();
	r.cpu = bpf_get_smp_processor_id();
	fill_task(&r.task, prev);
	fill_task(&r.other, next);
	keep(ctx, &r, st);
}

/* True if a switch away from prev counts as a separate event. */
static __always_inline bool leave(struct task_struct *prev, struct stay **st, u64 *run_ns)
{
	*run_ns = SWITCHES_UNKNOWN;
	*st = NULL;
	if (is_idle(prev) || !scope_for_life(prev))
		return false;
	if (!end_slice(prev, run_ns))
		*run_ns = SWITCHES_UNKNOWN;
	*st = stays_get(prev, NULL);
	if (!armed || !scope_now(prev))
		return false;
	if (!*st || *run_ns == SWITCHES_UNKNOWN)
		count_lost(LOSS_NO_STATE);
	return true;
}

/*
 * Takes the stack of the task that leaves for t, if t's stay may be kept: t's slice also ends on this CPU, where the
 * kept values only grow. The length of the slice is still unknown.
 */
static __always_inline void take_before(void *ctx, struct stay *st)
{
	struct switches_record r = {};

	fill_stay(&r, st);
	r.run_ns = SWITCHES_UNKNOWN - 1;
	if (!replaced_by(value_of(&r)))
		return;
	stack_count_flaw(callers_take(ctx, &st->before_stack));
	st->known |= STAY_BEFORE_STACK;
}

static __always_inline void come(void *ctx, struct task_struct *next, struct task_struct *prev,
				 u64 now)
{
	struct stay *st;

	if (is_idle(next) || !scope_for_life(next))
		return;
	st = stays_get(next, NULL);
	if (!st)
		return;
	st->known |= STAY_ON;
	if (st->left_at) {
		/* Clocks of two CPUs may differ slightly. */
		st->off_ns = (s64)(now - st->left_at) > 0 ? now - st->left_at : 0;
		st->known |= STAY_OFF_NS;
	}
	fill_task(&st->before, prev);
	if (keep_worst && take && armed && !is_idle(prev))
		take_before(ctx, st);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_show, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now = clock_of_switch(prev, next), run_ns;
	struct stay *st;

	if (leave(prev, &st, &run_ns)) {
		if (keep_worst)
			consider(ctx, prev, next, st, run_ns);
		else if (take)
			show_with_stack(ctx, prev, next, st, run_ns);
		else
			show(SWITCHES_SWITCH, prev, next, st, run_ns);
	} else if (want_arrivals && armed && counts(next)) {
		show(SWITCHES_ARRIVAL, prev, next, NULL, SWITCHES_UNKNOWN);
	}
	if (st) {
		st->known = 0;
		st->left_at = now;
	}
	come(ctx, next, prev, now);
	return 0;
}

/*
 * Sends a struct switches_worst for each task that is on a CPU when the worst are read: its wait is over, but its slice
 * is not.
 */
SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct switches_worst w = {};
	struct stay *st;

	if (!t || is_idle(t) || !scope_for_life(t))
		return 0;
	st = stays_get(t, NULL);
	/* Its wait is known if it was in scope when it arrived; the current CPU is irrelevant. */
	if (!st || !(st->known & STAY_ON) || !(st->known & STAY_WAIT_NS))
		return 0;
	w.record.kind = SWITCHES_SWITCH;
	w.record.time_ns = bpf_ktime_get_ns();
	w.record.cpu = task_cpu(t);
	w.record.run_ns = SWITCHES_UNKNOWN;
	fill_stay(&w.record, st);
	fill_task(&w.record.task, t);
	fill_before(&w, st);
	w.value = value_of(&w.record);
	if (w.value)
		bpf_seq_write(ctx->meta->seq, &w, sizeof(w));
	return 0;
}

/* Initializes existing tasks, because memory may be short when many tasks are switched at once. */
SEC("iter/task")
int seed_stays(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (t && !is_idle(t) && scope_for_life(t))
		stays_get(t, NULL);
	return 0;
}

/* --- wakeups and migrations -------------------------------------------------------------------- */

static __always_inline struct switches_record *new_record_of(struct task_struct *t, u32 kind)
{
	struct switches_record *r;

	if (!armed || is_idle(t) || !in_scope(t))
		return NULL;
	r = new_record(kind);
	if (!r)
		return NULL;
	fill_task(&r->task, t);
	fill_current(&r->other);
	r->off_ns = r->wait_ns = r->run_ns = SWITCHES_UNKNOWN;
	return r;
}

static __always_inline int show_wakeup(struct task_struct *t)
{
	struct switches_record *r = new_record_of(t, SWITCHES_WAKEUP);

	if (r)
		ring_submit(r);
	return 0;
}

/* Runs in the context of the waker, unlike some sched_wakeup events. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking_show, struct task_struct *t)
{
	return show_wakeup(t);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new_show, struct task_struct *t)
{
	return show_wakeup(t);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate_show, struct task_struct *t, int to)
{
	struct switches_record *r = new_record_of(t, SWITCHES_MIGRATION);

	if (!r)
		return 0;
	r->from = task_cpu(t);
	r->to = to;
	ring_submit(r);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
