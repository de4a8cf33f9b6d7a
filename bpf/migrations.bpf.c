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
#include "task_key.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct migrations_key);
	__type(value, struct migrations_count);
} migrations SEC(".maps");

static __always_inline u32 task_cpu(struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread_info.cpu))
		return t->thread_info.cpu;
	return ((struct task_struct___cpu *)t)->cpu;
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
