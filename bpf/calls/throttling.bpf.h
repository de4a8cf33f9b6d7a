/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures how long the run queue of a task's cgroup has been throttled by its quota (cpu.max, cfs_quota_us).
 *
 * Before 6.18 the kernel takes a whole run queue of a cgroup off the CPU, with all tasks that wait in it, and has no
 * tracepoint for this. So two programs are attached to the functions that do it, which are also called for each run
 * queue below. Since 6.18 a thread is throttled when it is about to return to user space, and its switch-out shows
 * this.
 *
 * The loader sets sees_throttling and the size of throttlings, and loads on_throttle and on_unthrottle, if the kernel
 * supports them. Elements are read and written under the lock of the rq: in switches, in wakeups and in these
 * functions. Include this header after the definition of u64 ended_ns; nothing changes after that time.
 */
#ifndef TALLY_THROTTLING_BPF_H
#define TALLY_THROTTLING_BPF_H

#include "compat.bpf.h"
#include "preempt.bpf.h"

/*
 * include/linux/sched/prio.h: a task with a lower priority value has a real-time policy, or has inherited the priority
 * of a task with such a policy.
 */
#define MAX_RT_PRIO 100

/* True if programs see when run queues are throttled. Set by the loader. */
const volatile bool sees_throttling = false;

struct throttling {
	u64 since, until;       /* the last throttling; until is 0 while it lasts */
	u64 before;             /* total of the earlier ones in ns */
};

/* Keyed by the address of the cfs_rq. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, u64);
	__type(value, struct throttling);
} throttlings SEC(".maps");

/* True if the map has an element: a machine without quotas pays nothing. */
bool has_throttled = false;

static __always_inline struct cfs_rq *queue_of(struct task_group *group, struct rq *rq)
{
	struct cfs_rq *queue = NULL;
	u32 cpu = 0;

	if (!bpf_core_field_exists(group->cfs_rq))
		return NULL;
	if (bpf_core_field_exists(rq->cpu))
		cpu = BPF_CORE_READ(rq, cpu);
	bpf_probe_read_kernel(&queue, sizeof(queue), BPF_CORE_READ(group, cfs_rq) + cpu);
	return queue;
}

static __always_inline int throttle_count(struct cfs_rq *queue)
{
	if (!bpf_core_field_exists(queue->throttle_count))
		return 0;
	return BPF_CORE_READ(queue, throttle_count);
}

static __always_inline void begin_throttling(u64 queue, u64 now)
{
	struct throttling *t = bpf_map_lookup_elem(&throttlings, &queue), fresh = { .since = now };

	has_throttled = true;
	if (!t) {
		bpf_map_update_elem(&throttlings, &queue, &fresh, BPF_ANY);
		return;
	}
	if (t->until)
		t->before += t->until - t->since;
	t->since = now;
	t->until = 0;
}

SEC("fentry/tg_throttle_down")
int UNPREEMPTED(PREEMPT_FUNCTION, on_throttle, u64 *, ctx)
{
	struct cfs_rq *queue = queue_of((struct task_group *)ctx[0], (struct rq *)ctx[1]);

	/* The queue may be below one that is already throttled. */
	if (!ended_ns && !throttle_count(queue))
		begin_throttling((u64)queue, bpf_ktime_get_ns());
	return 0;
}

SEC("fentry/tg_unthrottle_up")
int UNPREEMPTED(PREEMPT_FUNCTION, on_unthrottle, u64 *, ctx)
{
	struct cfs_rq *queue = queue_of((struct task_group *)ctx[0], (struct rq *)ctx[1]);
	struct throttling *t;
	u64 key = (u64)queue;

	if (ended_ns || throttle_count(queue) != 1)
		return 0;
	t = bpf_map_lookup_elem(&throttlings, &key);
	if (t && !t->until)
		t->until = bpf_ktime_get_ns();
	return 0;
}

/* Only the scheduling class of ordinary tasks throttles. */
static __always_inline bool is_throttled(struct task_struct *t)
{
	if (bpf_core_field_exists(t->throttled))
		return t->throttled;
	return bpf_core_field_exists(t->se.cfs_rq) && bpf_core_field_exists(t->se.cfs_rq->throttle_count) &&
	       t->se.cfs_rq->throttle_count && t->prio >= MAX_RT_PRIO;
}

static __always_inline struct throttling *throttling_of(struct task_struct *t, u64 *queue)
{
	if (!bpf_core_field_exists(t->se.cfs_rq))
		return NULL;
	*queue = (u64)t->se.cfs_rq;
	if (!*(volatile bool *)&has_throttled || t->prio < MAX_RT_PRIO)
		return NULL;
	return bpf_map_lookup_elem(&throttlings, queue);
}

/* Adds the throttling of the task's queue if it had begun before the programs were attached. */
static __always_inline void note_throttling(struct task_struct *t, u64 now)
{
	u64 queue = 0;

	if (sees_throttling && is_throttled(t) && !throttling_of(t, &queue))
		begin_throttling(queue, now);
}

/* Returns the total time for which the queue was throttled, up to now. */
static __always_inline u64 throttled_until(const struct throttling *t, u64 now)
{
	u64 until = t->until ?: now;

	return t->before + (until > t->since ? until - t->since : 0);
}

#endif /* TALLY_THROTTLING_BPF_H */
