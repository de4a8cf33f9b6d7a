// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The time of spans by cause (why_spans.bpf.h): for `why --slow`.
 *
 * Phases of a span are kept in the state of the thread, and are added to the sums of its class when the span ends.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"

#include "hist.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "sums.bpf.h"
#include "task_state.bpf.h"
#include "why.h"
#include "why_blocked.bpf.h"
#include "why_objects.bpf.h"
#include "whyspan.h"
#include "writer.bpf.h"

/* sched_switch passes prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

/* Calls that take at least this long are slow; 0: classes are by length. */
const volatile u64 above_ns = 0;

/* Numbers of causes. Set by the loader. */
const volatile u8 wait_cause[SPAN_WAITS * SPAN_SLOTS * WHY_KINDS] = {};
const volatile u8 phase_cause[WHY_PHASES] = {};

/* Set by the loader: calls that begin earlier do not count. */
u64 began_ns = 0;
/* Nonzero after the run has ended: state no longer changes, so that the loader can read it. */
u64 ended_ns = 0;

#include "throttling.bpf.h"
#include "why_spans.bpf.h"

SUMS(struct span_key, struct span_sums)

struct span_cause {
	u64 ns;
	u32 slot;
	u16 phase, kind;
	u32 count;
	u16 number;   /* number of the cause */
	u16 is_first; /* the first of those in the same row */
	struct why_object object;
};

struct span_state {
	struct open_span span;
	u64 since;	  /* begin of the phase */
	u64 user, system; /* utime and stime at that time, on a CPU */
	u64 lock;	  /* the lock that the thread waits for; 0 if none */
	struct span_sums on_cpu;
	struct blocked_call call;
	struct why_object object; /* the object that it waits for */
	u32 ncauses;
	u16 phase;
	u16 number;	   /* number of the cause of a wait that ends */
	u16 is_incomplete; /* there was no room for a part */
	struct span_cause cause[SPAN_CAUSES];
};

_Static_assert(__builtin_offsetof(struct span_state, span) == 0, "state_of() needs it");

TASK_STATE(span_states, struct span_state)

static const struct span_state no_span = {};

static __always_inline struct span_state *state_of(struct open_span *span)
{
	return (struct span_state *)span;
}

static __always_inline struct open_span *span_of(struct task_struct *t)
{
	return (struct open_span *)span_states_find(t);
}

static __always_inline struct open_span *new_span_of(struct task_struct *t)
{
	return (struct open_span *)span_states_get(t, (struct span_state *)&no_span);
}

/* --- phases -------------------------------------------------------------------------------------- */

static __always_inline bool has_cause(const struct span_cause *c, const struct span_state *st)
{
	return c->slot == st->call.slot && c->phase == st->phase && c->kind == st->call.kind;
}

/* The number of the cause of the phase that has begun. */
static __always_inline u32 find_cause(const struct span_state *st)
{
	u64 wait = SPAN_WAITS, at, phase = st->phase;

	if (phase == WHY_SLEEP)
		wait = SPAN_SLEEP;
	else if (phase == WHY_DISK)
		wait = SPAN_DISK;
	else if (phase == WHY_LOCK)
		wait = SPAN_LOCK;
	at = (wait * SPAN_SLOTS + st->call.slot) * WHY_KINDS + st->call.kind;
	barrier_var(at);
	if (wait < SPAN_WAITS && at < SPAN_WAITS * SPAN_SLOTS * WHY_KINDS)
		return wait_cause[at];
	barrier_var(phase);
	return phase < WHY_PHASES ? phase_cause[phase] : 0;
}

static __always_inline bool is_in_row(const struct span_cause *c, const struct span_state *st)
{
	return c->slot == st->call.slot && c->kind == st->call.kind && c->number == st->number;
}

static __always_inline bool has_object(const struct span_cause *c, const struct why_object *o)
{
	const u64 *a = (const u64 *)&c->object, *b = (const u64 *)o;

	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* If there is no room for its object, the time belongs to the cause alone. */
static __noinline int add_to_same_cause(struct span_state *st, u64 ns)
{
	struct span_cause *c;
	u32 i;

	for (i = 0; i < SPAN_CAUSES; i++) {
		c = &st->cause[i];
		if (!has_cause(c, st))
			continue;
		c->object = (struct why_object){};
		c->ns += ns;
		c->count++;
		return 0;
	}
	st->is_incomplete = true;
	return 0;
}

static __noinline int add_cause(struct span_state *st, u64 ns)
{
	u32 i, is_first = true;
	struct span_cause *c;

	st->number = find_cause(st);
	for (i = 0; i < SPAN_CAUSES; i++) {
		c = &st->cause[i];
		if (i >= *(volatile u32 *)&st->ncauses) {
			st->ncauses = i + 1;
			c->slot = st->call.slot;
			c->phase = st->phase;
			c->kind = st->call.kind;
			c->object = st->object;
			c->number = st->number;
			c->is_first = is_first;
			c->ns = c->count = 0;
		} else if (!has_cause(c, st) || !has_object(c, &st->object)) {
			if (is_in_row(c, st))
				is_first = false;
			continue;
		}
		c->ns += ns;
		c->count++;
		return 0;
	}
	return add_to_same_cause(st, ns);
}

/* Ends a phase at the time at which the next one begins. Clocks of two CPUs may differ slightly. */
static __always_inline void end_phase(struct task_struct *t, struct span_state *st, u64 now)
{
	u64 ns = (s64)(now - st->since) > 0 ? now - st->since : 0;

	if (st->phase == WHY_ON_CPU) {
		st->on_cpu.ns += ns;
		st->on_cpu.count++;
		st->on_cpu.user += BPF_CORE_READ(t, utime) - st->user;
		st->on_cpu.system += BPF_CORE_READ(t, stime) - st->system;
	} else if (st->phase != WHY_UNKNOWN) {
		add_cause(st, ns);
	}
	st->since = now;
	st->call = no_call;
	st->object = (struct why_object){};
}

/* Called when the thread, which is still in the call, no longer waits. end_phase() follows. */
static __always_inline void end_wait(struct task_struct *t, struct span_state *st)
{
	if (st->object.type)
		charge_object(t, 0, &no_call, &st->object, 1);
}

static __always_inline void begin_on_cpu(struct task_struct *t, struct span_state *st)
{
	st->phase = WHY_ON_CPU;
	st->user = BPF_CORE_READ(t, utime);
	st->system = BPF_CORE_READ(t, stime);
}

/* --- switches and wakeups -------------------------------------------------------------------------- */

static __always_inline bool is_followed(const struct span_state *st)
{
	return st && is_open(&st->span);
}

/*
 * Returns true, and marks the state as torn, if this program interrupted one that is changing the state of the thread.
 */
static __always_inline bool tears(struct span_state *st)
{
	if (!st->span.busy)
		return false;
	st->span.is_torn = true;
	return true;
}

static __always_inline void leave_cpu(struct task_struct *t, u32 state, u64 now)
{
	struct span_state *st = span_states_find(t);
	struct file *f;

	if (!is_followed(st) || tears(st))
		return;
	if (st->phase != WHY_ON_CPU) {
		/* Its switch-in was missed. */
		count_lost(LOSS_MISSED);
		st->phase = WHY_UNKNOWN;
	}
	end_phase(t, st, now);
	if (state & TASK_DEAD) {
		forget_span(&st->span);
		return;
	}
	if (state == TASK_RUNNING) {
		st->phase = is_throttled(t) ? WHY_THROTTLED : WHY_PREEMPTED;
		return;
	}
	st->phase = blocked_phase(t, st->lock, state);
	f = find_call(t, &st->call);
	find_server(t, st->phase, &st->call);
	find_object(&st->object, t, st->phase, &st->call, f, st->lock);
}

static __always_inline void come_back(struct task_struct *t, u64 now)
{
	struct span_state *st = span_states_find(t);

	if (!is_followed(st) || tears(st))
		return;
	if (st->phase == WHY_ON_CPU) {
		/* Its switch-out was missed. */
		count_lost(LOSS_MISSED);
		st->phase = WHY_UNKNOWN;
	}
	end_wait(t, st);
	end_phase(t, st, now);
	begin_on_cpu(t, st);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_span_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 state = have_prev_state ? (u32)ctx[3] : task_run_state(prev);
	u64 now;

	if (ended_ns)
		return 0;
	now = bpf_ktime_get_ns();
	leave_cpu(prev, preempt ? TASK_RUNNING : state, now);
	come_back(next, now);
	return 0;
}

static __always_inline bool is_blocked(const struct span_state *st)
{
	return st->phase >= WHY_MEMORY;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_span_wakeup, struct task_struct *t)
{
	struct span_state *st;

	if (ended_ns)
		return 0;
	st = span_states_find(t);
	if (!is_followed(st) || !is_blocked(st))
		return 0;
	end_wait(t, st);
	end_phase(t, st, bpf_ktime_get_ns());
	st->phase = is_throttled(t) ? WHY_THROTTLED : WHY_WOKEN;
	return 0;
}

static __always_inline u64 *lock_of(struct task_struct *t)
{
	struct span_state *st = span_states_find(t);

	return is_followed(st) ? &st->lock : NULL;
}

#include "why_locks.bpf.h"

/* --- the end of a call ----------------------------------------------------------------------------- */

/*
 * Atomic, because another task may run this on the same CPU at the same time: programs on functions are preemptible,
 * and cannot prevent it, from 6.0 to 6.9.
 */
static __always_inline void add_to(struct span_sums *s, const struct span_sums *of)
{
	__sync_fetch_and_add(&s->ns, of->ns);
	if (of->calls)
		__sync_fetch_and_add(&s->calls, of->calls);
	/* A constant 0 would become an atomic OR, which 5.10 does not support. */
	if (of->count)
		__sync_fetch_and_add(&s->count, of->count);
	if (of->user)
		__sync_fetch_and_add(&s->user, of->user);
	if (of->system)
		__sync_fetch_and_add(&s->system, of->system);
}

static __noinline int add_sums(struct span_state *st, struct span_key *key, const struct span_sums *of)
{
	struct span_sums *s;

	key->writer = this_writer();
	s = bpf_map_lookup_elem(&sums, key);
	if (!s) {
		bpf_map_update_elem(&sums, key, &no_sums, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&sums, key);
	}
	if (!s) {
		st->is_incomplete = true;
		return 0;
	}
	add_to(s, of);
	return 0;
}

static __noinline int add_causes(struct span_state *st, struct span_key *key)
{
	struct span_sums of = {};
	struct span_cause *c;
	u32 i;

	for (i = 0; i < SPAN_CAUSES; i++) {
		if (i >= *(volatile u32 *)&st->ncauses)
			break;
		c = &st->cause[i];
		key->slot = c->slot;
		key->phase = c->phase;
		key->kind = c->kind;
		key->object = c->object;
		of.ns = c->ns;
		of.calls = c->is_first;
		of.count = c->count;
		add_sums(st, key, &of);
	}
	return 0;
}

/* Counts the call if there is room for its whole time. The loader computes the time without a cause. */
static __noinline int count_call(struct span_state *st, u64 ns)
{
	struct span_key key = { .phase = WHY_PHASES, .slot = WHY_ANYWHERE };
	const struct span_sums whole = { .ns = ns, .calls = 1 };
	struct span_sums *s;

	key.class = above_ns ? ns >= above_ns : hist_index(ns);
	key.writer = this_writer();
	s = sums_of(&key);
	if (!s)
		return 0;
	add_to(s, &whole);
	key.phase = WHY_ON_CPU;
	add_sums(st, &key, &st->on_cpu);
	add_causes(st, &key);
	if (st->is_incomplete)
		count_lost(LOSS_INCOMPLETE);
	return 0;
}

/* --- begin and end ------------------------------------------------------------------------------- */

static __always_inline void begin_phases(struct task_struct *t, struct open_span *span)
{
	struct span_state *st = state_of(span);

	st->ncauses = 0;
	st->on_cpu = no_sums;
	st->on_cpu.calls = 1;
	st->is_incomplete = false;
	st->call = no_call;
	st->object = (struct why_object){};
	st->lock = 0;
	begin_on_cpu(t, st);
	st->since = bpf_ktime_get_ns();
	span->began = st->since;
}

static __always_inline void end_phases(struct task_struct *t, struct open_span *span, u64 now)
{
	end_phase(t, state_of(span), now);
}

static __always_inline void count_span(struct open_span *span, u64 began, u64 now)
{
	count_call(state_of(span), now - began);
}

/* --- the end of the run ---------------------------------------------------------------------------- */

SEC("iter/task")
int show_span(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (t)
		show_open_span(span_of(t));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
