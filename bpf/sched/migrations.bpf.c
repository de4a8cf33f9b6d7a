// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tasks that move to another CPU: how often, from which CPU to which. The subject is the task that is moved, not the
 * task that moves it (its waker, the load balancer, a task that sets its affinity).
 *
 * The kernel increments the task's se.nr_migrations right after this tracepoint (set_task_cpu(), interrupts off, under
 * a lock that keeps others from moving the task). On a CPU that is already offline the tracepoint is skipped
 * (include/linux/tracepoint.h), and a CPU that goes offline moves its tasks away in that state. So the programs follow
 * each task's number: increments for which no program ran are missed moves.
 */
#include "compat.bpf.h"
#include "element.bpf.h"
#include "loss.bpf.h"
#include "migrations.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "writer.bpf.h"

const volatile u32 take = 0;            /* enum stack_flags; 0 to count moves by CPU instead of by stack */
u64 began_ns = 0;                       /* a time before programs are attached; written by the loader */

/* The value of a task's se.nr_migrations if all moves so far were seen. */
struct move_state {
	u64 moved;
};

TASK_STATE(move_states, struct move_state)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct migrations_key);
	__type(value, struct migrations_count);
} migrations SEC(".maps");

/* Moves by the stack of the task that causes them. */
STACK_COUNTS(counts);

/*
 * Compares with the kernel's count of a task. now is the number of moves about to be added. Returns the number of moves
 * missed since the last call. The kernel's count is read first: if another CPU is moving the task at this moment, our
 * count is ahead by one, and nothing is written.
 */
static __always_inline u64 take_in(struct task_struct *t, u32 now)
{
	u64 counted = *(volatile u64 *)&t->se.nr_migrations, missed;
	struct move_state *st, init = {};

	if (is_older_than(t, began_ns))
		init.moved = counted;
	st = move_states_get(t, &init);
	if (!st)
		return 0;
	missed = counted - st->moved;
	if ((s64)missed < 0)
		return 0;
	if (missed + now)
		st->moved = counted + now;
	/* The CPU that made the missed moves is unknown. */
	return scope.has_cpus ? 0 : missed;
}

static __always_inline void count_stack(void *ctx, struct task_struct *t)
{
	struct stack_key key = {};
	struct stack_count *c;
	u32 flaw;

	task_key_of(&key.task, t);
	c = stack_find_count(&counts, &key, ctx, take, &flaw);
	if (!c) {
		if (key.stack.tgid)
			stack_see();
		c = stack_new_count(&counts, &key);
	}
	if (!c)
		return;
	stack_count_flaw(flaw);
	__sync_fetch_and_add(&c->count, 1);
	if (task_key_has_name())
		task_key_name(c->name, &c->name_stamp, t, bpf_ktime_get_ns());
}

static __always_inline struct migrations_count *count_of(struct migrations_key *key)
{
	struct migrations_count fresh = {};

	return element_of(&migrations, key, &fresh);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *t, int to)
{
	struct migrations_key key = {};
	struct migrations_count *c;
	u64 missed;

	/* The kernel does not count a move from a CPU to itself. */
	if (task_cpu(t) == (u32)to || !in_scope_for_life(t))
		return 0;
	missed = take_in(t, 1);
	if (!armed || !in_scope_now(t))
		return 0;
	if (missed)
		count_lost_many(LOSS_MISSED, missed);
	if (take) {
		count_stack(ctx, t);
		return 0;
	}
	key.from = task_cpu(t);
	key.to = to;
	key.writer = this_writer();
	task_key_of(&key.task, t);
	c = count_of(&key);
	if (!c)
		return 0;
	c->count++;
	task_key_name(c->name, &c->name_stamp, t, bpf_ktime_get_ns());
	return 0;
}

/* The last moves of the task may have been missed. */
SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(on_exit, struct task_struct *t)
{
	u64 missed;

	if (!scope_for_life(t))
		return 0;
	missed = take_in(t, 0);
	if (missed && scope_now(t))
		count_lost_many(LOSS_MISSED, missed);
	return 0;
}

/* Iterates over all tasks: before the run to initialize them, before each report to find missed moves. */
SEC("iter/task")
int look_at_task(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	u64 missed;

	if (!t || !scope_for_life(t))
		return 0;
	missed = take_in(t, 0);
	if (missed && scope_now(t))
		count_lost_many(LOSS_MISSED, missed);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
