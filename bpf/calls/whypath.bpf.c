// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each completed wait of a thread, with the waker that ended it (whypath.h): for `why --critical-path`. With --slow, or
 * --from and --to, also each span of a thread (why_spans.bpf.h).
 *
 * A wakeup is charged to the task that is current at sched_waking, unless it comes from an interrupt that only uses its
 * CPU. sched_wakeup may run on another CPU, so it does not identify the waker.
 */
#define SCOPE_CURRENT
#include "compat.bpf.h"

#include "interrupt.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"
#include "why.h"
#include "why_blocked.bpf.h"
#include "whypath.h"

/* sched_switch passes prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

/* Set by the loader when the run begins. */
u64 began_ns = 0;
/* Nonzero after the run has ended: state no longer changes, so that the loader can read it. */
u64 ended_ns = 0;

#include "throttling.bpf.h"
#include "why_spans.bpf.h"

struct path_state {
	u64 since; /* begin of the phase; 1 if before the programs were attached */
	u64 woken; /* the last wakeup; 0 if none since its last switch-in */
	u64 ran;   /* se.sum_exec_runtime at its last switch-out */
	u64 lock;  /* the lock that it waits for; 0 if none */
	u32 waker;
	u32 tid;    /* the tid in its records */
	u32 number; /* number of its next record */
	struct blocked_call call;
	u16 phase;
	u16 by;			      /* enum whypath_by */
	u16 ended;		      /* it left its CPU for the last time */
	u16 is_new;		      /* it is new and has not been on a CPU */
	char comm[TASK_KEY_COMM_LEN]; /* name of an outside waker */
	struct open_span span;
};

TASK_STATE(path_states, struct path_state)

static __always_inline struct open_span *span_of(struct task_struct *t)
{
	struct path_state *st = path_states_find(t);

	return st ? &st->span : NULL;
}

/* --- records ------------------------------------------------------------------------------------- */

static __always_inline void name_of(char comm[TASK_KEY_COMM_LEN], struct task_struct *t)
{
	bpf_probe_read_kernel(comm, TASK_KEY_COMM_LEN, t->comm);
}

/* Returns a record of length zero at that time, or NULL if there is no room. */
static __always_inline struct whypath_record *new_record(struct path_state *st, u32 kind, u64 at)
{
	struct whypath_record *r = ring_reserve(struct whypath_record);
	u32 number = st->number++;

	if (!r)
		return NULL;
	r->since = r->woken = r->until = at;
	r->tid = st->tid;
	r->number = number;
	r->kind = kind;
	r->slot = WHY_ANYWHERE;
	return r;
}

static __noinline int send_name(struct task_struct *t, struct path_state *st, u64 at)
{
	struct whypath_record *r = new_record(st, WHYPATH_NAME, at);

	if (!r)
		return 0;
	name_of(r->comm, t);
	ring_submit(r);
	return 0;
}

/*
 * A thread that calls exec takes over the tid of its process's first thread. It is the same thread, which continues
 * under that tid; this is reported like a birth.
 */
static __noinline int send_new_number(struct task_struct *t, struct path_state *st)
{
	struct whypath_record *r;
	u32 before = st->tid;

	st->tid = t->pid;
	st->number = 0;
	r = new_record(st, WHYPATH_BIRTH, st->since);
	if (!r)
		return 0;
	r->waker = before;
	r->code = WHYPATH_CODE(0, WHYPATH_BY_THREAD);
	name_of(r->comm, t);
	ring_submit(r);
	return 0;
}

static __always_inline void fill_wait(struct whypath_record *r, const struct path_state *st)
{
	r->since = st->since;
	r->woken = st->woken;
	r->phase = st->phase;
	r->slot = st->call.slot;
	r->waker = st->waker;
	r->code = WHYPATH_CODE(st->call.kind, st->by);
}

/* Sends the wait of a thread that is on a CPU from that time. */
static __noinline int send_wait(struct task_struct *t, struct path_state *st, u64 until)
{
	struct whypath_record *r;
	u32 kind = WHYPATH_WAIT;

	if (st->phase == WHY_UNKNOWN || st->phase == WHY_ON_CPU)
		kind = WHYPATH_HOLE;
	else if (st->is_new)
		kind = WHYPATH_BIRTH;
	r = new_record(st, kind, until);
	if (!r)
		return 0;
	fill_wait(r, st);
	if (kind == WHYPATH_BIRTH)
		name_of(r->comm, t);
	else
		__builtin_memcpy(r->comm, st->comm, sizeof(r->comm));
	ring_submit(r);
	return 0;
}

static __always_inline void send_end(struct task_struct *t, struct path_state *st, u64 at)
{
	struct whypath_record *r = new_record(st, WHYPATH_END, at);

	if (!r)
		return;
	r->waker = t->tgid;
	name_of(r->comm, t);
	ring_submit(r);
}

/* Records of spans are not numbered, because they are not among those that cover the lifetime of a thread. */
static __always_inline void count_span(struct open_span *span, u64 began, u64 now)
{
	struct whypath_record *r = ring_reserve(struct whypath_record);

	if (!r)
		return;
	r->since = r->woken = began;
	r->until = now;
	r->tid = container_of(span, struct path_state, span)->tid;
	r->kind = WHYPATH_SPAN;
	ring_submit(r);
}

static __always_inline void begin_phases(struct task_struct *t, struct open_span *span)
{
	span->began = bpf_ktime_get_ns();
}

static __always_inline void end_phases(struct task_struct *t, struct open_span *span, u64 now)
{
}

/* --- states -------------------------------------------------------------------------------------- */

static __always_inline void look_at_number(struct task_struct *t, struct path_state *st)
{
	if (st->tid != (u32)t->pid)
		send_new_number(t, st);
}

/*
 * Creates the state of a thread that has none. It is new (WHY_STARTING), has joined the scope at its exec (WHY_ON_CPU),
 * or no state could be created for it earlier, so that its past is unknown. Rarely called, so not inlined.
 */
static __noinline struct path_state *add_state(struct task_struct *t, u64 now, u32 phase)
{
	bool is_new = phase == WHY_STARTING;
	struct path_state *st, init = {};

	init.since = is_new ? BPF_CORE_READ(t, start_time) : now;
	init.phase = phase;
	init.is_new = is_new;
	init.call = no_call;
	init.ran = BPF_CORE_READ(t, se.sum_exec_runtime);
	init.tid = BPF_CORE_READ(t, pid);
	st = path_states_get(t, &init);
	if (!st)
		count_lost(LOSS_NO_STORAGE);
	else if (!is_new)
		send_name(t, st, now);
	return st;
}

static __always_inline struct path_state *state_of(struct task_struct *t, u64 now, u32 phase)
{
	return path_states_find(t) ?: add_state(t, now, phase);
}

static __always_inline struct open_span *new_span_of(struct task_struct *t)
{
	struct path_state *st = state_of(t, bpf_ktime_get_ns(), WHY_ON_CPU);

	return st ? &st->span : NULL;
}

static __always_inline void find_phase(struct task_struct *t, struct path_state *st, u32 state)
{
	st->call = no_call;
	if (state == TASK_RUNNING) {
		st->phase = is_throttled(t) ? WHY_THROTTLED : WHY_PREEMPTED;
		return;
	}
	st->phase = blocked_phase(t, st->lock, state);
	find_call(t, &st->call);
	find_server(t, st->phase, &st->call);
}

static __always_inline void forget_wakeup(struct path_state *st)
{
	st->woken = 0;
	st->waker = 0;
	st->by = WHYPATH_BY_NOBODY;
}

/* --- switches ------------------------------------------------------------------------------------ */

static __always_inline void arrive(struct task_struct *t, struct path_state *st, u64 at)
{
	look_at_number(t, st);
	send_wait(t, st, at);
	st->since = at;
	st->phase = WHY_ON_CPU;
	st->is_new = false;
	forget_wakeup(st);
}

static __always_inline void leave(struct task_struct *t, u32 state, u64 now)
{
	struct path_state *st;
	u64 ran;

	if (is_idle(t) || !scope_for_life(t))
		return;
	st = state_of(t, now, WHY_ON_CPU);
	if (!st)
		return;
	if (st->phase != WHY_ON_CPU) {
		/* Its switch-in was missed: it has run for the time that the kernel has charged. */
		count_lost(LOSS_MISSED);
		ran = t->se.sum_exec_runtime - st->ran;
		arrive(t, st, ran < now - st->since ? now - ran : st->since);
	}
	look_at_number(t, st);
	st->ran = t->se.sum_exec_runtime;
	st->since = now;
	if (state & TASK_DEAD) {
		forget_span(&st->span);
		st->ended = true;
		send_end(t, st, now);
		return;
	}
	if (state == TASK_RUNNING)
		forget_wakeup(st);
	find_phase(t, st, state);
}

static __always_inline void come_back(struct task_struct *t, u64 now)
{
	struct path_state *st;
	u64 ran;

	if (is_idle(t) || !scope_for_life(t))
		return;
	st = state_of(t, now, WHY_UNKNOWN);
	if (!st)
		return;
	if (st->phase == WHY_ON_CPU) {
		/*
		 * Its switch-out was missed: it has run for the time that the kernel has charged, and the rest is
		 * unknown.
		 */
		count_lost(LOSS_MISSED);
		ran = t->se.sum_exec_runtime - st->ran;
		st->since = ran < now - st->since ? st->since + ran : now;
		st->ran = t->se.sum_exec_runtime;
	}
	arrive(t, st, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_path_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 state = have_prev_state ? (u32)ctx[3] : task_run_state(prev);
	u64 now;

	if (ended_ns)
		return 0;
	now = bpf_ktime_get_ns();
	leave(prev, preempt ? TASK_RUNNING : state, now);
	come_back(next, now);
	return 0;
}

/* --- wakeups ------------------------------------------------------------------------------------- */

/*
 * A thread has a state if and only if it is in scope. The idle task performs work that an interrupt has deferred to it.
 */
static __always_inline void find_waker(struct path_state *st)
{
	u32 count = preempt_count_now();
	struct path_state *waker;

	st->waker = 0;
	if (count & (IN_HARDIRQ | IN_NMI) || (!(count & IN_SOFTIRQ) && !(u32)bpf_get_current_pid_tgid())) {
		st->by = WHYPATH_BY_INTERRUPT;
		return;
	}
	if (count & IN_SOFTIRQ) {
		st->by = WHYPATH_BY_SOFTIRQ;
		return;
	}
	waker = path_states_find(calling_task());
	if (waker) {
		st->by = WHYPATH_BY_THREAD;
		st->waker = waker->tid;
		return;
	}
	st->by = WHYPATH_BY_OUTSIDE;
	bpf_get_current_comm(st->comm, sizeof(st->comm));
}

/*
 * A thread that is woken while on its CPU may be about to leave it: its switch-out comes later, and keeps this wakeup.
 * If it does not leave, on_path_wakeup() discards the wakeup.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_path_waking, struct task_struct *t)
{
	struct path_state *st;

	if (ended_ns || is_idle(t) || !scope_for_life(t))
		return 0;
	st = path_states_find(t);
	if (!st || st->phase == WHY_PREEMPTED || st->phase == WHY_THROTTLED || st->phase == WHY_STARTING)
		return 0;
	st->woken = bpf_ktime_get_ns();
	find_waker(st);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_path_wakeup, struct task_struct *t)
{
	struct path_state *st;

	if (ended_ns || is_idle(t) || !scope_for_life(t))
		return 0;
	st = path_states_find(t);
	if (st && st->phase == WHY_ON_CPU)
		forget_wakeup(st);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_path_wakeup_new, struct task_struct *t)
{
	struct path_state *st;
	u64 now;

	if (ended_ns || is_idle(t) || !scope_for_life(t))
		return 0;
	now = bpf_ktime_get_ns();
	st = state_of(t, now, WHY_STARTING);
	if (!st || !st->is_new)
		return 0;
	st->woken = now;
	find_waker(st);
	return 0;
}

/* --- names and locks ----------------------------------------------------------------------------- */

/* Runs before the name changes. */
SEC("tp_btf/task_rename")
int UNPREEMPTED_PROG(on_path_rename, struct task_struct *t, const char *comm)
{
	struct whypath_record *r;
	struct path_state *st;

	if (ended_ns || !scope_for_life(t))
		return 0;
	st = path_states_find(t);
	if (!st)
		return 0;
	look_at_number(t, st);
	r = new_record(st, WHYPATH_NAME, bpf_ktime_get_ns());
	if (!r)
		return 0;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), comm);
	ring_submit(r);
	return 0;
}

static __always_inline u64 *lock_of(struct task_struct *t)
{
	struct path_state *st = path_states_find(t);

	return st ? &st->lock : NULL;
}

#include "why_locks.bpf.h"

/* --- threads that exist before and after the run --------------------------------------------------- */

SEC("iter/task")
int seed_path(struct bpf_iter__task *ctx)
{
	struct path_state init = { .since = 1, .call = no_call }, *st;
	struct task_struct *t = ctx->task;

	if (!t || is_idle(t) || t->exit_state || !scope_for_life(t))
		return 0;
	init.ran = t->se.sum_exec_runtime;
	init.tid = t->pid;
	if (is_on_cpu(t))
		init.phase = WHY_ON_CPU;
	else
		find_phase(t, &init, task_run_state(t));
	st = path_states_get(t, &init);
	/* Programs that are already running may have sent the first record. */
	if (st && !st->number)
		send_name(t, st, 1);
	return 0;
}

SEC("iter/task")
int show_path(struct bpf_iter__task *ctx)
{
	struct whypath_record r = { .kind = WHYPATH_OPEN };
	struct task_struct *t = ctx->task;
	struct path_state *st;

	if (!t || is_idle(t) || !scope_for_life(t))
		return 0;
	st = path_states_find(t);
	if (!st || st->ended)
		return 0;
	show_open_span(&st->span);
	fill_wait(&r, st);
	r.tid = st->tid;
	r.number = st->number;
	__builtin_memcpy(r.comm, st->comm, sizeof(r.comm));
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
