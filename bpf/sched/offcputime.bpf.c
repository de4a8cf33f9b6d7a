// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Blocked time, summed up by the stack of the task that blocked, of the one that woke it, or both.
 *
 * A slice begins where the task is switched out in a state other than runnable. It ends where it
 * is switched in again or, when wakers are asked for, where it is woken: what it then waits for a
 * CPU is nobody's doing. Its duration is tested before any stack is walked:
 *  - The kernel's part is walked when the slice has ended and counts. The task is not on a CPU
 *    yet, so its stack is still as it was when it left.
 *  - The user's part can only be walked in the task itself, before it is in user mode again. The
 *    end of the slice is too early for that: the memory of the task before is still in place. So
 *    the CPU sends itself an interrupt there (irq_work, as a side effect of a perf event), which
 *    comes as soon as the switch is done, and the walk is made in that (kick(), on_kick()). One
 *    that has not come when the task leaves again is told of, and the slice has no user's part.
 *  - Such an interrupt costs about 2 us, a walk 0.2. Where most slices count, and where there is no
 *    tracepoint in that interrupt, the user's part is walked when the task leaves, while it is
 *    the current one, and goes to waste if the slice then does not count. Other hooks that run in
 *    the task before user mode are no better: sys_exit makes each system call of each task
 *    dearer, and misses page faults; the next switch-out of the task is too late.
 *
 * One clock, CLOCK_MONOTONIC, for all of it: slices begin and end on different CPUs.
 */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "offcputime.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"

const volatile u32 view = BLOCKED_BY_TASK;
const volatile u32 take = STACK_KERNEL | STACK_USER;    /* enum stack_flags */
const volatile u32 wanted = ~(1U << BLOCKED_PREEMPTED); /* a bit for each enum blocked_why */
const volatile bool by_state = false;
const volatile u64 min_ns = 0;
const volatile u64 max_ns = ~0ULL;
/* sched_switch has prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

/* Not when the task leaves, but when it has come back. */
const volatile bool user_later = false;

/* Written by the loader: slices from before the run count from here. */
u64 began_ns = 0;
/* The end of the run, not 0: from here on everything stays as it is, to be looked at. */
u64 ended_ns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct blocked_key);
	__type(value, struct blocked_sum);
} counts SEC(".maps");

struct blocked_state {
	u64 since;              /* 0: not blocked, or not in a way that counts */
	u64 woken;              /* 0: not yet; with wakers only */
	struct stack_id user;
	struct stack_id waker;
	u32 why;
	u32 flaw;               /* of one of the stacks */
	char waker_comm[TASK_COMM_LEN];
};

/* It was blocked already when the programs were attached. */
#define SINCE_EVER 1

TASK_STATE(blocked_states, struct blocked_state)

/* A new element's first value. */
const struct blocked_sum no_time = {};

/* --- slices -------------------------------------------------------------------------------------- */

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED_OR_TRACED 0x000c
#define TASK_TRACED_BIT 0x0008
#define TASK_DEAD 0x0080
#define TASK_NOLOAD 0x0400
#define PF_KTHREAD 0x00200000

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

/* How long a slice has been that began at since. */
static __always_inline u64 length(u64 since, u64 now)
{
	if (since < began_ns)
		since = began_ns;
	/* Clocks of two CPUs may differ by a little. */
	return (s64)(now - since) > 0 ? now - since : 0;
}

/* What the key of a slice has that is known from its state. */
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
	long err;

	key->generation = stack_generation_now();
	sum = bpf_map_lookup_elem(&counts, key);

	if (!sum) {
		err = bpf_map_update_elem(&counts, key, &no_time, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&counts, key);
		if (!sum) {
			count_failed_update(err);
			return;
		}
	}
	stack_count_flaw(flaw);
	__sync_fetch_and_add(&sum->ns, gain->ns);
	__sync_fetch_and_add(&sum->count, 1);
	if (task_key_has_name()) {
		__builtin_memcpy(sum->name, gain->name, sizeof(sum->name));
		sum->name_stamp = gain->name_stamp;
	}
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

/* An event for each CPU, whose output makes an interrupt. */
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

/* At the end of the interrupt: the kernel has refilled by then what maps take new elements from. */
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

/* A task leaves: what was to be taken in it has been, or never will be. */
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
	struct blocked_state *st;

	if (is_idle(t))
		return;
	if (!scope_for_life(t)) {
		if (is_wanted(why))
			count_filtered();
		return;
	}
	st = blocked_states_get(t, NULL);
	if (!st) {
		count_lost(LOSS_UNMATCHED);
		return;
	}
	if (st->since > SINCE_EVER)
		count_lost(LOSS_MISSED);        /* it has been here, unseen */
	if (!is_wanted(why)) {
		st->since = 0;
		return;
	}
	st->since = now;
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
	u64 since, ns;
	u32 flaw;

	if (is_idle(t) || !scope_for_life(t))
		return;
	st = blocked_states_get(t, NULL);
	if (!st || !st->since)
		return;
	since = st->since;
	st->since = 0;
	if (!armed)
		return;
	ns = length(since, view == BLOCKED_BY_TASK ? now : st->woken);
	if (view != BLOCKED_BY_TASK && !st->woken) {
		/* Woken while it was being switched out, and not blocked at all; or its waker was not seen. */
		if (is_long_enough(length(since, now)))
			count_lost(LOSS_UNMATCHED);
		return;
	}
	if (!is_long_enough(ns)) {
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
	gain.ns = ns;
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
	now = bpf_ktime_get_ns();
	if (preempt)
		state = TASK_RUNNING;
	if (!(state & TASK_DEAD))
		leave(ctx, prev, now, why_of(state));
	come_back(ctx, next, now);
	return 0;
}

/* Always with the kernel's part: it tells whether the waker is an interrupt. */
static __noinline int take_waker(void *ctx, struct stack_id *id)
{
	u32 flaw = stack_take(id, ctx, take | STACK_KERNEL);

	if (id->tgid)
		stack_see();
	return flaw;
}

/* In the waker, unlike sched_wakeup, which may come on the CPU of the woken task. */
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

	if (!t || is_idle(t) || !scope_for_life(t))
		return 0;
	state = task_run_state(t);
	init.why = why_of(state);
	if (state != TASK_RUNNING && !(state & TASK_DEAD) && is_wanted(init.why))
		init.since = SINCE_EVER;
	blocked_states_get(t, &init);
	return 0;
}

SEC("iter/task")
int show_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct blocked_still still = {};
	struct blocked_state *st;

	if (!t || is_idle(t) || !scope_for_life(t) || !scope_now(t))
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

/* Stacks of tasks that are yet to count (stack_store__begin_turn()). */
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

char LICENSE[] SEC("license") = "Dual BSD/GPL";
