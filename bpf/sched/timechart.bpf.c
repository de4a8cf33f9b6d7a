// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * States of tasks over time: running, waiting for a CPU, sleeping, or blocked. Each task sums up its states in the
 * current time slot. Its first change of state in a later slot sends these sums and the stretch that led to it. So the
 * sums are exact to the ns at the edges of slots, no matter when they are read, and an inactive task costs nothing.
 *
 * Slots are counted from begin_ns. The loader doubles their width occasionally: edges of wider slots are also edges of
 * narrower ones, so a slot that began before fits into one wider slot.
 */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"
#include "timechart.h"

/* sched_switch passes prev_state as its fourth argument (5.18, commit fa2c3254d7cf). */
const volatile bool have_prev_state = false;

/*
 * CLOCK_MONOTONIC. The loader writes these times slightly in advance, so that programs that are already running cannot
 * miss them. Nothing changes after end_ns.
 */
u64 begin_ns = 0, end_ns = ~0ULL, width_ns = 1;

struct stretch {
	u64 since;              /* begin of the state */
	u64 slot_end;           /* end of the slot of ns; 0 if none yet */
	u64 ns[TIMECHART_STATES];
	u64 left;               /* number of its switch-outs when last seen */
	u32 state;              /* enum timechart_state + 1; 0 if unknown */
	u32 cpu;                /* the CPU on which it runs or last ran */
};

TASK_STATE(stretches, struct stretch)

static __always_inline u64 end_of_slot(u64 at)
{
	u64 width = *(volatile u64 *)&width_ns;

	return begin_ns + ((at - begin_ns) / width + 1) * width;
}

static __always_inline void fill(struct timechart_record *r, struct task_struct *t,
				 const struct stretch *s, u64 until)
{
	r->slot_end = s->slot_end;
	__builtin_memcpy(r->ns, s->ns, sizeof(r->ns));
	r->since = s->since > begin_ns ? s->since : begin_ns;
	r->until = until;
	r->state = s->state - 1;
	r->cpu = s->cpu;
	r->pid = t->tgid;
	r->tid = t->pid;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), t->comm);
}

/* Sends the sums, with the state that ends at until (or TIMECHART_NONE), and resets them. */
static __always_inline void send(struct task_struct *t, struct stretch *s, u64 until, u32 state)
{
	struct timechart_record *r = ring_reserve(struct timechart_record);

	if (r) {
		fill(r, t, s, until);
		r->state = state;
		ring_submit(r);
	}
	__builtin_memset(s->ns, 0, sizeof(s->ns));
}

static __always_inline void add(struct stretch *s, u64 ns)
{
	/* The verifier of 5.10 rejects a variable index. */
	if (s->state == TIMECHART_RUN + 1)
		s->ns[TIMECHART_RUN] += ns;
	else if (s->state == TIMECHART_WAIT + 1)
		s->ns[TIMECHART_WAIT] += ns;
	else if (s->state == TIMECHART_SLEEP + 1)
		s->ns[TIMECHART_SLEEP] += ns;
	else if (s->state == TIMECHART_BLOCK + 1)
		s->ns[TIMECHART_BLOCK] += ns;
}

/* Called when the state of a task ends now. */
static __always_inline void end_stretch(struct task_struct *t, struct stretch *s, u64 now)
{
	u64 since = s->since > begin_ns ? s->since : begin_ns;

	if (!s->state || s->state > TIMECHART_STATES || (s64)(now - since) <= 0)
		return;
	if (!s->slot_end)
		s->slot_end = end_of_slot(since);
	if (now <= s->slot_end) {
		add(s, now - since);
		return;
	}
	send(t, s, now, s->state - 1);
	s->slot_end = end_of_slot(now);
}

static __always_inline bool is_over(u64 now)
{
	return now >= *(volatile u64 *)&end_ns;
}

/* seen: no event of the task was missed since its state began. Otherwise that stretch is lost. */
static __always_inline void enter(struct task_struct *t, struct stretch *s, u32 state, u64 now,
				  bool seen)
{
	if (armed && scope_now(t)) {
		if (seen)
			end_stretch(t, s, now);
		else
			count_lost(s->state ? LOSS_MISSED : LOSS_UNMATCHED);
		if (state == TIMECHART_GONE && s->slot_end)
			send(t, s, now, TIMECHART_GONE);
	}
	s->state = state + 1;
	s->since = now;
}

static __always_inline struct stretch *stretch_of(struct task_struct *t)
{
	struct stretch *s;

	if (is_idle(t) || !scope_for_life(t))
		return NULL;
	s = stretches_get(t, NULL);
	if (!s)
		count_lost(LOSS_NO_STORAGE);
	return s;
}

static __always_inline u32 state_off_cpu(u32 state)
{
	if (state & TASK_DEAD)
		return TIMECHART_GONE;
	if ((state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE)
		return TIMECHART_BLOCK;
	return TIMECHART_SLEEP;
}

/* The kernel counts a switch-out, voluntary or not, just before the tracepoint. */
static __always_inline u64 times_left(struct task_struct *t)
{
	return t->nvcsw + t->nivcsw;
}

static __always_inline void leave(struct task_struct *prev, u32 state, u64 now)
{
	struct stretch *s = stretch_of(prev);
	u64 left;

	if (!s)
		return;
	left = times_left(prev);
	enter(prev, s, state, now, s->state == TIMECHART_RUN + 1 && left - s->left == 1);
	s->left = left;
}

/* After the end, only records that the switch was seen. */
static __always_inline void leave_late(struct task_struct *prev)
{
	struct stretch *s = stretch_of(prev);

	if (s && times_left(prev) - s->left == 1)
		s->left++;
}

static __always_inline void come(struct task_struct *next, u32 cpu, u64 now)
{
	struct stretch *s = stretch_of(next);

	if (!s)
		return;
	enter(next, s, TIMECHART_RUN, now, s->state && s->state != TIMECHART_RUN + 1);
	if (s->cpu != cpu && s->ns[TIMECHART_RUN])
		send(next, s, now, TIMECHART_NONE);
	s->cpu = cpu;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_chart, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 state = have_prev_state ? (u32)ctx[3] : task_run_state(prev);
	u64 now = bpf_ktime_get_ns();

	if (is_over(now)) {
		leave_late(prev);
		return 0;
	}
	leave(prev, preempt || state == TASK_RUNNING ? TIMECHART_WAIT : state_off_cpu(state), now);
	come(next, bpf_get_smp_processor_id(), now);
	return 0;
}

/* A task that is woken before it has left its CPU, or while it waits, remains in its state. */
static __always_inline int woken(struct task_struct *t)
{
	u64 now = bpf_ktime_get_ns();
	struct stretch *s;

	if (is_over(now))
		return 0;
	s = stretch_of(t);
	if (s && s->state != TIMECHART_RUN + 1 && s->state != TIMECHART_WAIT + 1)
		enter(t, s, TIMECHART_WAIT, now, true);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup_chart, struct task_struct *t)
{
	return woken(t);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new_chart, struct task_struct *t)
{
	return woken(t);
}

static __always_inline u32 state_now(struct task_struct *t)
{
	bool delayed = bpf_core_field_exists(t->se.sched_delayed) && t->se.sched_delayed;

	if (t->on_rq && !delayed)
		return t->on_cpu ? TIMECHART_RUN : TIMECHART_WAIT;
	return state_off_cpu(task_run_state(t));
}

/* Initializes tasks from before the run. Does not overwrite what the hooks have already written. */
SEC("iter/task")
int seed_stretches(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct stretch init = {};

	if (!t || is_idle(t) || !scope_for_life(t))
		return 0;
	init.state = state_now(t) + 1;
	init.since = bpf_ktime_get_ns();
	init.left = times_left(t);
	init.cpu = task_cpu(t);
	stretches_get(t, &init);
	return 0;
}

/* Runs after end_ns: sends the state of all existing tasks. */
SEC("iter/task")
int show_stretches(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct timechart_record r = {};
	struct stretch *s;
	u64 unseen;

	if (!t || is_idle(t) || !scope_for_life(t) || !scope_now(t))
		return 0;
	s = stretches_get(t, NULL);
	if (!s || !s->state || s->state > TIMECHART_STATES)
		return 0;
	fill(&r, t, s, end_ns);
	/* The task's switch-out was missed, unless the task is just about to leave: then it is still on its CPU. */
	unseen = times_left(t) - s->left;
	if (r.state == TIMECHART_RUN && unseen && (unseen > 1 || !t->on_cpu)) {
		count_lost(LOSS_MISSED);
		r.state = TIMECHART_NONE;
	}
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
