/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocked time, summed by the stack of the blocked task, of its waker, or of both.
 *
 * A slice begins when the task is switched out in a state other than runnable. It ends when the task is switched in
 * again or, if wakers are requested, when the task is woken: the waker is not responsible for the wait for a CPU that
 * follows. The duration is tested before any stack is walked:
 *  - The kernel stack is walked when a slice that counts has ended. The task is not yet on a CPU, so its stack has not
 *    changed since the switch-out.
 *  - The user stack can only be walked in the task itself, before it returns to user mode. The end of the slice is too
 *    early: the previous task's address space is still active. So the CPU sends itself an interrupt (irq_work, as a
 *    side effect of a perf event), which arrives as soon as the switch is done and walks the stack (kick(), on_kick()).
 *    If the interrupt has not arrived when the task leaves again, this is counted and the slice has no user stack.
 *  - Such an interrupt costs about 2 us, a walk 0.2. If most slices count, or if the interrupt has no tracepoint, the
 *    user stack is walked at the switch-out instead, while the task is current; the walk is wasted if the slice then
 *    does not count. Other hooks that run in the task before user mode are no better: sys_exit slows down every system
 *    call of every task and misses page faults, and the task's next switch-out is too late.
 *
 * All times are CLOCK_MONOTONIC: slices begin and end on different CPUs.
 */
#ifndef TALLY_BLOCKED_BPF_H
#define TALLY_BLOCKED_BPF_H

#include "compat.bpf.h"
#include "blocked.h"
#include "element.bpf.h"
#include "loss.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "waiting.bpf.h"

const volatile u32 view = BLOCKED_BY_TASK;
const volatile u32 take = STACK_KERNEL | STACK_USER;    /* enum stack_flags */
const volatile u32 wanted = ~(1U << BLOCKED_PREEMPTED); /* one bit for each enum blocked_why */
const volatile bool by_state = false;
const volatile bool user_threads = true;
const volatile bool kernel_threads = true;
const volatile u64 min_ns = 0;
const volatile u64 max_ns = ~0ULL;
/* sched_switch passes prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

/* Walk the user stack after the task's switch-in, not at its switch-out. */
const volatile bool user_later = false;

/* Also keep on-CPU time, for samples (bpf/profile/wall.bpf.c). Requires all states in wanted. */
const volatile bool with_cpu = false;

/* Set by the loader: slices that began earlier are counted from this time. */
u64 began_ns = 0;
/* Nonzero after the run has ended: state no longer changes, so that the loader can read it. */
u64 ended_ns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct blocked_key);
	__type(value, struct blocked_sum);
} counts SEC(".maps");

struct blocked_state {
	u64 since;              /* 0 if not blocked, or in a state that does not count */
	u64 woken;              /* 0 if not yet woken; only used if wakers are requested */
	struct stack_id user;
	struct stack_id waker;
	u32 why;
	u32 flaw;               /* enum loss_reason of one of the stacks */
	char waker_comm[TASK_COMM_LEN];
	/*
	 * With with_cpu: start of the on-CPU time not yet sampled; 0 if not on a CPU, or if the switch-in was missed.
	 */
	u64 ran_since;
	u64 ran;                /* earlier on-CPU time not yet sampled */
};

/* Value of since or ran_since if the task was already blocked, or on a CPU, when the programs were attached. */
#define SINCE_EVER 1

TASK_STATE(blocked_states, struct blocked_state)

/* The initial value of a new element. */
const struct blocked_sum no_time = {};

/* --- slices -------------------------------------------------------------------------------------- */

/*
 * True for idle tasks, which never block, and for tasks excluded by --user-threads or --kernel-threads. They have no
 * state and are in no sum.
 */
static __always_inline bool is_left_out(struct task_struct *t)
{
	bool kernel = t->flags & PF_KTHREAD;

	return is_idle(t) || (kernel ? !kernel_threads : !user_threads);
}

static __always_inline u32 why_of(u32 state)
{
	if (state == TASK_RUNNING)
		return BLOCKED_PREEMPTED;
	if (state & TASK_INTERRUPTIBLE)
		return BLOCKED_SLEEP;
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? BLOCKED_IDLE : BLOCKED_DISK;
	if (state & TASK_STOPPED_OR_TRACED)
		return state & TASK_TRACED_BIT ? BLOCKED_TRACED : BLOCKED_STOPPED;
	return BLOCKED_OTHER;
}

static __always_inline bool is_wanted(u32 why)
{
	return wanted & (1U << why);
}

static __always_inline bool is_long_enough(u64 ns)
{
	return ns >= min_ns && ns <= max_ns;
}

/*
 * True if only rare waits count: every task sleeps and is preempted, but few wait for a disk or are stopped. Wakers and
 * samples need all switches.
 */
static __always_inline bool waits_are_rare(void)
{
	return view == BLOCKED_BY_TASK && !with_cpu && !is_wanted(BLOCKED_SLEEP) && !is_wanted(BLOCKED_PREEMPTED);
}

/* False only if the task has no slice in progress. */
static __always_inline bool may_be_blocked(const struct task_struct *t)
{
	return !waits_are_rare() || waiting_may_be(t);
}

/*
 * seed_blocked() may count a task that on_switch() has already counted. The number of waiting tasks then stays too high
 * until the end of the run, which only costs time.
 */
static __always_inline void set_since(const struct task_struct *t, struct blocked_state *st, u64 since)
{
	if (waits_are_rare())
		waiting_since(t, &st->since, since);
	else
		st->since = since;
}

/* Length in ns of a slice that began at since. */
static __always_inline u64 length(u64 since, u64 now)
{
	if (since < began_ns)
		since = began_ns;
	/* Clocks of two CPUs may differ slightly. */
	return (s64)(now - since) > 0 ? now - since : 0;
}

/* Fills in the parts of the key that are known from the slice's state. */
static __always_inline void key_of(struct blocked_key *key, struct task_struct *t,
				   const struct blocked_state *st, u64 since)
{
	if (by_state)
		key->why = st->why;
	if (view == BLOCKED_BY_BOTH && st->woken) {
		key->waker = st->waker;
		__builtin_memcpy(key->waker_comm, st->waker_comm, sizeof(key->waker_comm));
	}
	if (view != BLOCKED_BY_WAKER && take & STACK_USER) {
		key->user = st->user;
		if (t->flags & PF_KTHREAD)
			key->notes = BLOCKED_NO_USER;
		else if (since == SINCE_EVER && !user_later)
			key->notes = BLOCKED_BEFORE;
	}
}

static __always_inline void add(struct blocked_key *key, const struct blocked_sum *gain, u32 flaw)
{
	struct blocked_sum *sum;

	key->generation = stack_generation_now();
	sum = element_of(&counts, key, &no_time);
	if (!sum)
		return;
	stack_count_flaw(flaw);
	__sync_fetch_and_add(&sum->ns, gain->ns);
	__sync_fetch_and_add(&sum->count, 1);
	if (task_key_has_name()) {
		__builtin_memcpy(sum->name, gain->name, sizeof(sum->name));
		sum->name_stamp = gain->name_stamp;
	}
}

/* --- time on a CPU ------------------------------------------------------------------------------- */

/*
 * On-CPU and off-CPU time add up to elapsed time only if both begin and end at the same instants, began_ns and
 * ended_ns. The gate (armed) opens at a different time.
 */
static __always_inline bool is_open(void)
{
	return with_cpu ? began_ns && !ended_ns : armed;
}

/* Returns the on-CPU time up to now that no sample has taken yet, and resets it. */
static __always_inline u64 take_run_time(struct blocked_state *st, u64 now)
{
	u64 ns = st->ran;

	if (st->ran_since)
		ns += length(st->ran_since, now);
	st->ran = 0;
	st->ran_since = 0;
	return ns;
}

/* Adds the on-CPU time of an exiting task, since no sample can take it any more. */
static __always_inline void end_run_time(struct task_struct *t, u64 now)
{
	struct blocked_key key = { .why = BLOCKED_ON_CPU, .notes = BLOCKED_UNSAMPLED };
	struct blocked_sum gain = {};
	struct blocked_state *st;

	if (!is_open() || is_left_out(t) || !scope_for_life(t) || !scope_now(t))
		return;
	st = blocked_states_get(t, NULL);
	if (!st)
		return;
	gain.ns = take_run_time(st, now);
	if (!gain.ns)
		return;
	task_key_of(&key.task, t);
	task_key_name(gain.name, &gain.name_stamp, t, now);
	add(&key, &gain, 0);
}

/* --- the user's part ------------------------------------------------------------------------------- */

static __noinline int take_user(void *ctx, struct stack_id *id)
{
	u32 flaw = stack_take(id, ctx, STACK_USER);

	if (id->tgid)
		stack_see();
	return flaw;
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct blocked_kick);
} kicked SEC(".maps");

/* One perf event per CPU; output to it raises the interrupt. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} kicks SEC(".maps");

/* include/uapi/linux/bpf.h */
#define BPF_F_CURRENT_CPU 0xffffffffULL

static __always_inline void without_user(struct blocked_kick *k)
{
	k->task = 0;
	k->key.notes |= BLOCKED_LATE;
	add(&k->key, &k->gain, LOSS_TRUNCATED);
}

static __always_inline void kick(void *ctx, struct task_struct *t, const struct blocked_key *key,
				 const struct blocked_sum *gain, u32 flaw)
{
	u32 zero = 0;
	struct blocked_kick *k = bpf_map_lookup_elem(&kicked, &zero);

	if (!k)
		return;
	k->key = *key;
	k->flaw = flaw;
	k->gain = *gain;
	*(volatile u64 *)&k->task = (u64)t;
	if (bpf_perf_event_output(ctx, &kicks, BPF_F_CURRENT_CPU, &zero, sizeof(zero)))
		without_user(k);
}

/* Runs at the end of the interrupt: by then the kernel has refilled the memory pool for map elements. */
SEC("tp_btf/irq_work_exit")
int on_kick(void *ctx)
{
	u32 zero = 0;
	struct blocked_kick *k = bpf_map_lookup_elem(&kicked, &zero);
	u32 flaw;

	if (!k || !k->task)
		return 0;
	if (k->task != bpf_get_current_task()) {
		without_user(k);
		return 0;
	}
	k->task = 0;
	flaw = take_user(ctx, &k->key.user);
	add(&k->key, &k->gain, flaw ?: k->flaw);
	return 0;
}

/* Called when the current task leaves its CPU: a pending user stack can no longer be taken. */
static __always_inline void kick_is_late(void)
{
	u32 zero = 0;
	struct blocked_kick *k = bpf_map_lookup_elem(&kicked, &zero);

	if (k && k->task)
		without_user(k);
}

/* --- hooks --------------------------------------------------------------------------------------- */

static __always_inline void leave(void *ctx, struct task_struct *t, u64 now, u32 why)
{
	bool is_passed_by = waits_are_rare() && !is_wanted(why);
	struct blocked_state *st;
	u64 ran;

	if (is_left_out(t))
		return;
	if (!scope_for_life(t)) {
		if (is_wanted(why))
			count_filtered();
		return;
	}
	st = is_passed_by ? blocked_states_find(t) : blocked_states_get(t, NULL);
	if (!st) {
		if (!is_passed_by)
			count_lost(LOSS_UNMATCHED);
		return;
	}
	if (st->since > SINCE_EVER)
		count_lost(LOSS_MISSED);        /* its switch-in was missed */
	if (with_cpu) {
		ran = take_run_time(st, now);
		st->ran = is_open() ? ran : 0;
	}
	if (!is_wanted(why)) {
		set_since(t, st, 0);
		return;
	}
	set_since(t, st, now);
	st->woken = 0;
	st->why = why;
	st->flaw = 0;
	st->user = (struct stack_id){};
	if (view != BLOCKED_BY_WAKER && take & STACK_USER && !user_later && !(t->flags & PF_KTHREAD))
		st->flaw = take_user(ctx, &st->user);
}

static __always_inline void come_back(void *ctx, struct task_struct *t, u64 now)
{
	struct blocked_key key = {};
	struct blocked_sum gain = {};
	struct blocked_state *st;
	u64 since;
	u32 flaw;

	if (is_left_out(t) || !scope_for_life(t))
		return;
	st = with_cpu ? blocked_states_get(t, NULL) : blocked_states_find(t);
	if (with_cpu && !st)
		count_lost(LOSS_UNMATCHED);
	if (with_cpu && st)
		st->ran_since = now;
	if (!st || !st->since)
		return;
	since = st->since;
	set_since(t, st, 0);
	if (!is_open())
		return;
	gain.ns = length(since, view == BLOCKED_BY_TASK ? now : st->woken);
	if (view != BLOCKED_BY_TASK && !st->woken) {
		/* Woken while being switched out, so never blocked; or its wakeup was missed. */
		if (is_long_enough(length(since, now)))
			count_lost(LOSS_UNMATCHED);
		return;
	}
	if (!is_long_enough(gain.ns)) {
		count_filtered();
		return;
	}
	if (!in_scope_now(t))
		return;
	key_of(&key, t, st, since);
	task_key_of(&key.task, t);
	flaw = st->flaw;
	if (take & STACK_KERNEL)
		flaw = stack_take_task(&key.kernel, t) ?: flaw;
	task_key_name(gain.name, &gain.name_stamp, t, now);
	if (user_later && !key.notes)
		kick(ctx, t, &key, &gain, flaw);
	else
		add(&key, &gain, flaw);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 state = have_prev_state ? (u32)ctx[3] : task_run_state(prev);
	u64 now;

	if (ended_ns)
		return 0;
	if (user_later)
		kick_is_late();
	if (preempt)
		state = TASK_RUNNING;
	if (waits_are_rare() && !waiting && !is_wanted(why_of(state)))
		return 0;
	now = bpf_ktime_get_ns();
	if (!(state & TASK_DEAD)) {
		if (is_wanted(why_of(state)) || may_be_blocked(prev))
			leave(ctx, prev, now, why_of(state));
	} else if (with_cpu) {
		end_run_time(prev, now);
	}
	if (may_be_blocked(next))
		come_back(ctx, next, now);
	return 0;
}

/* Always takes the kernel stack, which shows whether the waker is an interrupt. */
static __noinline int take_waker(void *ctx, struct stack_id *id)
{
	u32 flaw = stack_take(id, ctx, take | STACK_KERNEL);

	if (id->tgid)
		stack_see();
	return flaw;
}

/* Runs in the waker's context; sched_wakeup may run on the woken task's CPU instead. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *t)
{
	struct blocked_sum gain = {};
	struct blocked_key key = {};
	struct blocked_state *st;
	u64 now, since, ns;
	u32 flaw;

	if (ended_ns || !armed || !scope_for_life(t))
		return 0;
	st = blocked_states_get(t, NULL);
	if (!st || !st->since || st->woken)
		return 0;
	since = st->since;
	now = bpf_ktime_get_ns();
	ns = length(since, now);
	if (!is_long_enough(ns)) {
		st->since = 0;
		count_filtered();
		return 0;
	}
	if (view == BLOCKED_BY_BOTH) {
		st->woken = now;
		bpf_get_current_comm(st->waker_comm, sizeof(st->waker_comm));
		st->flaw = take_waker(ctx, &st->waker) ?: st->flaw;
		return 0;
	}
	st->since = 0;
	if (!in_scope_now(t))
		return 0;
	key_of(&key, t, st, since);
	bpf_get_current_comm(key.waker_comm, sizeof(key.waker_comm));
	task_key_of(&key.task, t);
	flaw = take_waker(ctx, &key.waker) ?: st->flaw;
	gain.ns = ns;
	task_key_name(gain.name, &gain.name_stamp, t, now);
	add(&key, &gain, flaw);
	return 0;
}

/* --- tasks that are blocked before and after the run --------------------------------------------- */

SEC("iter/task")
int seed_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct blocked_state init = {};
	u32 state;

	if (!t || is_left_out(t) || !scope_for_life(t))
		return 0;
	state = task_run_state(t);
	init.why = why_of(state);
	if (with_cpu && is_on_cpu(t))
		init.ran_since = SINCE_EVER;
	else if ((state != TASK_RUNNING || with_cpu) && !(state & TASK_DEAD) && is_wanted(init.why))
		init.since = SINCE_EVER;
	if (waits_are_rare() && !init.since)
		return 0;
	if (waits_are_rare())
		waiting_begins(t);
	blocked_states_get(t, &init);
	return 0;
}

static __always_inline bool is_asleep(const struct blocked_state *st)
{
	return !st->woken && (st->why == BLOCKED_SLEEP || st->why == BLOCKED_IDLE);
}

SEC("iter/task")
int show_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct blocked_still still = {};
	struct blocked_state *st;

	if (!t || is_left_out(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	st = blocked_states_get(t, NULL);
	if (!st || !st->since)
		return 0;
	still.sum.ns = length(st->since, st->woken ?: ended_ns);
	if (!is_long_enough(still.sum.ns))
		return 0;
	still.sum.count = 1;
	key_of(&still.key, t, st, st->since);
	if (!st->woken)
		still.key.notes |= BLOCKED_STILL;
	if (st->since == SINCE_EVER && (with_cpu || is_asleep(st)))
		still.key.notes |= BLOCKED_WHOLE;
	if (user_later && take & STACK_USER && !(t->flags & PF_KTHREAD))
		still.key.notes |= BLOCKED_LATE;
	task_key_of(&still.key.task, t);
	if (take & STACK_KERNEL)
		st->flaw = stack_take_task(&still.key.kernel, t) ?: st->flaw;
	stack_count_flaw(st->flaw);
	task_key_name(still.sum.name, &still.sum.name_stamp, t, ended_ns);
	bpf_seq_write(ctx->meta->seq, &still, sizeof(still));
	return 0;
}

/* Marks stacks held by slices that are not yet counted (stack_store__begin_turn()). */
SEC("iter/task")
int show_held(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct stack_id held[2] = {};
	struct blocked_state *st;

	if (!t)
		return 0;
	st = blocked_states_find(t);
	if (!st)
		return 0;
	held[0] = st->user;
	held[1] = st->waker;
	if (held[0].hash || held[1].hash)
		bpf_seq_write(ctx->meta->seq, held, sizeof(held));
	return 0;
}

#endif /* TALLY_BLOCKED_BPF_H */
