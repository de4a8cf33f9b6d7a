// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The whole time of threads, by activity (why.h): a ledger that is written at switches and wakeups.
 *
 * A switch-out shows why the thread leaves, by its state, the flags that the kernel sets around its waits, and the
 * system call that it is in. Its wakeup ends this phase and begins the wait for a CPU. If no program saw the begin of a
 * phase, it is derived from the run time that the kernel has charged; the rest of a thread's lifetime is WHY_UNKNOWN.
 *
 * A wait for a CPU is divided: the part in which its cgroup was throttled is WHY_THROTTLED.
 *
 * All times are CLOCK_MONOTONIC: phases begin and end on different CPUs.
 */
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "loss.bpf.h"
#include "maximum.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "turns.bpf.h"
#include "why.h"
#include "why_blocked.bpf.h"
#include "why_objects.bpf.h"
#include "writer.bpf.h"

/* sched_switch passes prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

/* Threads that sleep through the whole run have separate keys. */
const volatile bool tell_whole = false;

/* Set by the loader: phases that began earlier are counted from this time. */
u64 began_ns = 0;
/* Nonzero after the run has ended: state no longer changes, so that the loader can read it. */
u64 ended_ns = 0;

#include "throttling.bpf.h"

SUMS(struct why_key, struct why_sums)
HIST_MAPS(waits, struct why_wait_key);

struct why_state {
	u64 since;              /* begin of the phase; 1 if before the programs were attached */
	u64 told;               /* ns of its completed phases since the run began */
	u64 ran;                /* se.sum_exec_runtime at its last switch-out */
	u64 user, system;       /* utime and stime that have been accounted */
	u64 lock;               /* the lock that it waits for; 0 if none */
	u64 queue;              /* if it waits for a CPU: its cfs_rq when the wait began; 0 if unknown */
	u64 throttled;          /* and throttled_until() of that queue at that time */
	struct blocked_call call;
	struct why_object object; /* the object that it waits for */
	u16 phase;
	u16 incomplete;         /* there was no room for a process behind which it waited */
	u32 ended;              /* it left its CPU for the last time */
	u32 gave_up;            /* nvcsw at its last switch-out: how often it left its CPU to wait */
};

TASK_STATE(why_states, struct why_state)

/* --- waits for a CPU ------------------------------------------------------------------------------ */

/* Called when the wait for a CPU begins. */
static __always_inline void begin_wait(struct task_struct *t, struct why_state *st, u64 now)
{
	const struct throttling *of;

	if (!sees_throttling)
		return;
	of = throttling_of(t, &st->queue);
	st->throttled = of ? throttled_until(of, now) : 0;
}

/*
 * Returns the throttled part of a wait for a CPU that has lasted ns up to now. If the thread has moved to another
 * queue, or the begin is unknown, this is the last throttling of its queue.
 */
static __always_inline u64 throttled_part(struct task_struct *t, const struct why_state *st, u64 ns, u64 now)
{
	const struct throttling *of;
	u64 queue = 0, part, since, until;

	if (st->phase == WHY_THROTTLED)
		return ns;
	if (!sees_throttling || (st->phase != WHY_WOKEN && st->phase != WHY_PREEMPTED))
		return 0;
	of = throttling_of(t, &queue);
	if (!of)
		return 0;
	if (queue == st->queue) {
		part = throttled_until(of, now) - st->throttled;
	} else {
		until = of->until ?: now;
		since = of->since > now - ns ? of->since : now - ns;
		part = until > since ? until - since : 0;
	}
	return part < ns ? part : ns;
}

/* --- phases -------------------------------------------------------------------------------------- */

static __always_inline bool is_open(void)
{
	return began_ns && !ended_ns;
}

/* Length in ns of the part of a phase that is within the run. */
static __always_inline u64 length(u64 since, u64 until)
{
	if (since < began_ns)
		since = began_ns;
	/* Clocks of two CPUs may differ slightly. */
	return (s64)(until - since) > 0 ? until - since : 0;
}

static __always_inline void key_of(struct why_key *key, struct task_struct *t, const struct why_state *st)
{
	task_key_of(&key->task, t);
	key->phase = st->phase;
	key->kind = st->call.kind;
	key->slot = st->call.slot;
}

/* Returns false if there is no room; the phase is then missing from the percentiles. */
static __always_inline bool add_wait(const struct why_key *key, u64 ns)
{
	struct why_wait_key wait = { .task = key->task, .call = key->slot, .phase = key->phase, .kind = key->kind };
	long err;

	return hist_try_key(&keyed_waits, &wait.slot, ns, &err);
}

/*
 * If there is no room, the time remains unaccounted, and the phase is lost; if there is no room for a part of it, it is
 * incomplete. Many phases end here, so this is one function, which keeps the programs short.
 */
static __noinline int add(struct why_key *key, struct task_struct *t, struct why_state *st, u64 ns, u64 now)
{
	bool counts = scope_now(t), incomplete = st->incomplete;
	struct why_sums *s = counts ? sums_of(key) : NULL;

	st->incomplete = false;
	if (s || !counts)
		st->told += ns;
	if (!s)
		return 0;
	s->ns += ns;
	s->count++;
	if (key->phase == WHY_ON_CPU) {
		s->user += t->utime - st->user;
		s->system += t->stime - st->system;
	} else if (key->phase != WHY_UNKNOWN) {
		incomplete |= !add_wait(key, ns);
	}
	if (incomplete)
		count_lost(LOSS_INCOMPLETE);
	maximum_keep(s->longest, ns);
	task_key_name(s->name, &s->name_stamp, t, now);
	return 0;
}

/* Adds a phase up to that time. A wait for a CPU may be added as two phases. */
static __always_inline void add_phase(struct task_struct *t, struct why_state *st, u64 until)
{
	u64 ns = length(st->since, until), part = throttled_part(t, st, ns, until);
	struct why_key key = { .writer = this_writer() };

	key_of(&key, t, st);
	if (part) {
		key.phase = WHY_THROTTLED;
		add(&key, t, st, part, until);
		key.phase = st->phase;
	}
	if (part < ns || !part)
		add(&key, t, st, ns - part, until);
}

/* Ends a phase at that time, where the next one begins. */
static __always_inline void end_phase(struct task_struct *t, struct why_state *st, u64 until)
{
	if (is_open())
		add_phase(t, st, until);
	if (st->phase == WHY_ON_CPU) {
		st->user = t->utime;
		st->system = t->stime;
	}
	st->since = until;
	st->call = no_call;
	st->object.type = OBJECT_NONE;
}

/* The part of a thread's lifetime that is not in its phases, the last of which ends now. */
static __always_inline u64 untold(struct task_struct *t, u64 told, u64 now)
{
	u64 existed = length(t->start_time, now);

	return existed > told ? existed - told : 0;
}

/*
 * Returns a thread's state. A thread that was not seeded is new and was being copied until now, or no state could be
 * created for it earlier, so that its time until now is unknown.
 */
static __always_inline struct why_state *state_of(struct task_struct *t, u64 now, bool is_new)
{
	struct why_state *st = why_states_find(t), init = {};

	if (st)
		return st;
	init.since = is_new ? t->start_time : now;
	init.phase = is_new ? WHY_STARTING : WHY_UNKNOWN;
	init.call = no_call;
	init.ran = t->se.sum_exec_runtime;
	init.gave_up = t->nvcsw;
	init.user = t->utime;
	init.system = t->stime;
	st = why_states_get(t, &init);
	if (!st)
		count_lost(LOSS_NO_STORAGE);
	return st;
}

/* --- why it leaves ------------------------------------------------------------------------------- */

/* Called when the thread has no CPU and waits for one. */
static __always_inline void wait_for_cpu(struct task_struct *t, struct why_state *st, u32 phase, u64 now)
{
	st->phase = !sees_throttling && is_throttled(t) ? WHY_THROTTLED : phase;
	begin_wait(t, st, now);
}

/* Determines the phase of a thread that is not on a CPU, by the state in which it left. */
static __always_inline void find_phase(struct task_struct *t, struct why_state *st, u32 state, u64 now)
{
	struct file *f;

	if (state == TASK_RUNNING) {
		wait_for_cpu(t, st, WHY_PREEMPTED, now);
		return;
	}
	st->phase = blocked_phase(t, st->lock, state);
	f = find_call(t, &st->call);
	find_server(t, st->phase, &st->call);
	find_object(&st->object, t, st->phase, &st->call, f, st->lock);
}

/* --- behind whom it waits ------------------------------------------------------------------------ */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, struct why_behind_key);
	__type(value, u64);
} behind SEC(".maps");

const u64 no_time = 0;

static __always_inline void charge(struct why_behind_key *key, const struct turn *turn, u64 ns, struct why_state *st)
{
	u64 *sum;
	long err;

	if (!turn->comm[0])
		return;
	((u64 *)key->comm)[0] = ((u64 *)turn->comm)[0];
	((u64 *)key->comm)[1] = ((u64 *)turn->comm)[1];
	sum = element_try(&behind, key, &no_time, &err);
	if (sum)
		*sum += ns;
	else
		st->incomplete = true;
}

/*
 * Charges all of that time to the turn at a random instant, so that on average each turn is charged in proportion to
 * its length.
 */
static __always_inline void charge_one(struct why_behind_key *key, struct turns *turns, u64 since, u64 until,
				       struct why_state *st)
{
	u64 at = since + ((((until - since) >> 10) * bpf_get_prandom_u32()) >> 22);
	struct turn *turn = turn_of_time(turns, at);

	if (turn)
		charge(key, turn, until - since, st);
}

/*
 * Charges the wait, which ends now, to the processes that had this CPU during the wait: the last turns for their own
 * time, and one of the earlier turns for the rest. Charging every turn would take as many lookups per switch as
 * processes share the CPU.
 */
static __noinline int add_behind(struct task_struct *t, struct why_state *st, struct turns *turns, u64 now)
{
	u64 since = st->since < began_ns ? began_ns : st->since, until = now, i, n = turns->n;
	struct why_behind_key key = { .writer = this_writer(), .phase = st->phase };
	struct turn *turn;

	if (!scope_now(t) || throttled_part(t, st, length(since, now), now))
		return 0;
	task_key_of(&key.task, t);
	for (i = 1; i <= WHY_LAST_TURNS && until > since; i++) {
		turn = turn_at(turns, n - i);
		if (!turn)
			return 0;
		until = turn->since > since ? turn->since : since;
		if (turn->until > until)
			charge(&key, turn, turn->until - until, st);
	}
	if (until > since)
		charge_one(&key, turns, since, until, st);
	return 0;
}

/* --- for what it waits --------------------------------------------------------------------------- */

/* Called when the thread, which is still in the call, no longer waits. end_phase() follows. */
static __always_inline void end_wait(struct task_struct *t, struct why_state *st, u64 now)
{
	if (st->object.type && is_open() && scope_now(t))
		charge_object(t, st->phase, &st->call, &st->object, length(st->since, now));
}

/* --- hooks --------------------------------------------------------------------------------------- */

/*
 * If a switch-in was missed, the thread was on a CPU for the time that the kernel has charged since its last
 * switch-out.
 */
static __always_inline void end_run(struct task_struct *t, struct why_state *st, u64 now)
{
	u64 ran = t->se.sum_exec_runtime - st->ran;

	if (st->phase != WHY_ON_CPU) {
		count_lost(LOSS_MISSED);
		if (ran > now - st->since)
			ran = now - st->since;
		end_phase(t, st, now - ran);
		st->phase = WHY_ON_CPU;
	}
	end_phase(t, st, now);
	st->ran = t->se.sum_exec_runtime;
	st->gave_up = t->nvcsw;
}

/* Called when the thread is not on a CPU, but its switch-out was missed. */
static __always_inline void end_missed_run(struct task_struct *t, struct why_state *st, u64 now)
{
	u64 ran = t->se.sum_exec_runtime - st->ran;

	count_lost(LOSS_MISSED);
	end_phase(t, st, ran < now - st->since ? st->since + ran : now);
	st->ran = t->se.sum_exec_runtime;
}

static __always_inline void end_thread(struct task_struct *t, struct why_state *st, u64 now)
{
	struct why_key key = { .writer = this_writer(), .slot = WHY_ANYWHERE };
	u64 ns = untold(t, st->told, now);

	st->ended = true;
	if (!is_open() || !ns)
		return;
	task_key_of(&key.task, t);
	add(&key, t, st, ns, now);
}

static __always_inline void leave(struct task_struct *t, u32 state, u64 now)
{
	struct why_state *st;

	if (is_idle(t) || !scope_for_life(t))
		return;
	st = state_of(t, now, false);
	if (!st)
		return;
	end_run(t, st, now);
	if (state & TASK_DEAD) {
		end_thread(t, st, now);
		return;
	}
	find_phase(t, st, state, now);
}

static __always_inline void come_back(struct task_struct *t, struct turns *turns, u64 now)
{
	struct why_state *st;

	if (is_idle(t) || !scope_for_life(t))
		return;
	st = state_of(t, now, false);
	if (!st)
		return;
	if (st->phase == WHY_ON_CPU) {
		/* Its wakeup, if any, was also missed. */
		end_missed_run(t, st, now);
		st->phase = st->gave_up == (u32)t->nvcsw ? WHY_PREEMPTED : WHY_UNKNOWN;
		st->gave_up = t->nvcsw;
	}
	if (turns && is_open() && (st->phase == WHY_WOKEN || st->phase == WHY_PREEMPTED))
		add_behind(t, st, turns, now);
	end_wait(t, st, now);
	end_phase(t, st, now);
	st->phase = WHY_ON_CPU;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 state = have_prev_state ? (u32)ctx[3] : task_run_state(prev);
	struct turns *turns;
	u32 zero = 0;
	u64 now;

	if (ended_ns)
		return 0;
	now = bpf_ktime_get_ns();
	leave(prev, preempt ? TASK_RUNNING : state, now);
	turns = bpf_map_lookup_elem(&all_turns, &zero);
	if (turns)
		end_turn(turns, prev, now);
	come_back(next, turns, now);
	return 0;
}

/* True if the thread is already runnable: if it is woken before it is switched out, it continues. */
static __always_inline bool is_runnable(struct task_struct *t, const struct why_state *st)
{
	if (st->phase == WHY_ON_CPU)
		return !bpf_core_field_exists(t->on_cpu) || t->on_cpu;
	return st->phase == WHY_WOKEN || st->phase == WHY_PREEMPTED || st->phase == WHY_THROTTLED;
}

static __always_inline int become_runnable(struct task_struct *t, bool is_new)
{
	struct why_state *st;
	u64 now;

	if (ended_ns || is_idle(t) || !scope_for_life(t))
		return 0;
	now = bpf_ktime_get_ns();
	st = state_of(t, now, is_new);
	if (!st || is_runnable(t, st))
		return 0;
	if (st->phase == WHY_ON_CPU) {
		end_missed_run(t, st, now);
		/* Its state is already that of a runnable task. */
		find_phase(t, st, TASK_INTERRUPTIBLE, now);
	}
	end_wait(t, st, now);
	end_phase(t, st, now);
	wait_for_cpu(t, st, WHY_WOKEN, now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *t)
{
	return become_runnable(t, false);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *t)
{
	return become_runnable(t, true);
}

static __always_inline u64 *lock_of(struct task_struct *t)
{
	struct why_state *st = why_states_find(t);

	return st ? &st->lock : NULL;
}

#include "why_locks.bpf.h"

/* --- threads that exist before and after the run --------------------------------------------------- */

SEC("iter/task")
int seed_why(struct bpf_iter__task *ctx)
{
	struct why_state init = { .since = 1, .call = no_call };
	struct task_struct *t = ctx->task;
	u64 now = bpf_ktime_get_ns();

	if (!t || is_idle(t) || t->exit_state || !scope_for_life(t))
		return 0;
	init.ran = t->se.sum_exec_runtime;
	init.gave_up = t->nvcsw;
	init.user = t->utime;
	init.system = t->stime;
	if (is_on_cpu(t))
		init.phase = WHY_ON_CPU;
	else
		find_phase(t, &init, task_run_state(t), now);
	note_throttling(t, now);
	init.queue = 0;
	why_states_get(t, &init);
	return 0;
}

static __always_inline bool is_asleep(const struct why_state *st)
{
	return st->phase == WHY_SLEEP || st->phase == WHY_IDLE;
}

static __always_inline bool is_whole(const struct why_state *st)
{
	return tell_whole && st->since <= began_ns && is_asleep(st);
}

/* Fills in an element for a phase in progress, which a report counts once. */
static __always_inline void fill_running(struct why_element *e, struct task_struct *t, const struct why_state *st,
					 u64 ns, u64 now)
{
	u64 number = *(volatile u64 *)&interval - 1;

	key_of(&e->key, t, st);
	e->key.whole = is_whole(st);
	e->sums.ns = ns;
	e->sums.count = 1;
	if (st->phase == WHY_ON_CPU) {
		e->sums.user = t->utime - st->user;
		e->sums.system = t->stime - st->system;
	}
	/* The loader has already begun the next interval. */
	maximum_keep_in(&e->sums.longest[0], number, e->sums.ns);
	maximum_keep_in(&e->sums.longest[1], number, e->sums.ns);
	task_key_name(e->sums.name, &e->sums.name_stamp, t, now);
}

/* Returns the ns that were sent. */
static __always_inline u64 send_running(struct bpf_iter__task *ctx, struct task_struct *t, const struct why_state *st,
					u64 now)
{
	u64 ns = length(st->since, now), part = throttled_part(t, st, ns, now);
	struct why_element e = {};

	if (part < ns || !part) {
		fill_running(&e, t, st, ns - part, now);
		bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	}
	if (part) {
		__builtin_memset(&e, 0, sizeof(e));
		fill_running(&e, t, st, part, now);
		e.key.phase = WHY_THROTTLED;
		bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	}
	return ns;
}

static __always_inline void send_untold(struct bpf_iter__task *ctx, struct task_struct *t, u64 told, u64 now)
{
	struct why_element e = { .key.slot = WHY_ANYWHERE };

	e.sums.ns = untold(t, told, now);
	e.sums.count = 1;
	if (!e.sums.ns)
		return;
	task_key_of(&e.key.task, t);
	task_key_name(e.sums.name, &e.sums.name_stamp, t, now);
	bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
}

static struct object_room running_object;

/* Sends the object of a wait in progress. */
SEC("iter/task")
int show_why_objects(struct bpf_iter__task *ctx)
{
	struct object_room *room = &running_object;
	struct task_struct *t = ctx->task;
	u64 now = ended_ns ?: bpf_ktime_get_ns();
	struct why_state *st;

	if (!t || is_idle(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	st = why_states_find(t);
	if (!st || st->ended || !st->object.type)
		return 0;
	object_key_of(&room->key, t, st->phase, &st->call, &st->object);
	room->key.whole = is_whole(st);
	room->ns = length(st->since, now);
	if (room->ns && name_object(room, t))
		bpf_seq_write(ctx->meta->seq, room, sizeof(struct why_object_element));
	return 0;
}

SEC("iter/task")
int show_why(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	u64 now = ended_ns ?: bpf_ktime_get_ns(), told = 0;
	struct why_state *st;

	if (!t || is_idle(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	st = why_states_find(t);
	if (st ? st->ended : t->exit_state)
		return 0;
	if (st)
		told = st->told + send_running(ctx, t, st, now);
	if (ended_ns)
		send_untold(ctx, t, told, now);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
