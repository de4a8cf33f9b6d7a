// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tasks that move to another CPU: how often, from which to which. The subject is the task that
 * moves, not the one that moves it: its waker, the load balancer, whoever sets its affinity.
 *
 * The kernel adds one to se.nr_migrations of the task where it passes this tracepoint
 * (set_task_cpu(), interrupts off).
 */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "migrations.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"

const volatile u32 take = 0;            /* enum stack_flags; 0: ways are counted, not stacks */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct migrations_key);
	__type(value, struct migrations_count);
} migrations SEC(".maps");

/* By the stack of whoever moves the task. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct stack_key);
	__type(value, struct stack_count);
} counts SEC(".maps");

static __always_inline void count_stack(void *ctx, struct task_struct *t)
{
	struct stack_key key = {};
	struct stack_count *c;

	task_key_of(&key.task, t);
	c = stack_find_count(&counts, &key, ctx, take);
	if (!c) {
		if (key.stack.tgid)
			stack_see();
		c = stack_new_count(&counts, &key);
	}
	if (!c)
		return;
	__sync_fetch_and_add(&c->count, 1);
	if (task_key_has_name())
		task_key_name(c->name, &c->name_stamp, t, bpf_ktime_get_ns());
}

static __always_inline struct migrations_count *count_of(struct migrations_key *key)
{
	struct migrations_count *c = bpf_map_lookup_elem(&migrations, key), fresh = {};
	long err;

	if (c)
		return c;
	err = bpf_map_update_elem(&migrations, key, &fresh, BPF_NOEXIST);
	c = bpf_map_lookup_elem(&migrations, key);
	if (!c)
		count_failed_update(err);
	return c;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *t, int to)
{
	struct migrations_key key = {};
	struct migrations_count *c;

	if (!armed || !in_scope(t))
		return 0;
	if (take) {
		count_stack(ctx, t);
		return 0;
	}
	key.from = task_cpu(t);
	key.to = to;
	key.cpu = bpf_get_smp_processor_id();
	task_key_of(&key.task, t);
	c = count_of(&key);
	if (!c)
		return 0;
	c->count++;
	task_key_name(c->name, &c->name_stamp, t, bpf_ktime_get_ns());
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
