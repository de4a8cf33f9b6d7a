// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Number of tasks that wait for each CPU, sampled many times a second by a timer of that CPU: the tasks on its run
 * queue except the running one. Idle CPUs are also sampled; the loader adds the zeros of idle CPUs that the timer did
 * not wake. A sleeping task that is still queued (EEVDF's delayed dequeue, since 6.12) does not wait.
 */
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "loss.bpf.h"
#include "runqlen.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"

/* Counts only tasks of the fair class (CFS, EEVDF) instead of all classes. */
const volatile bool fair_only = false;

HIST_MAPS(lengths, struct runqlen_key);

/* The loader knows how many samples to expect on each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct runqlen_samples);
} samples SEC(".maps");

/*
 * Returns the run queue of this CPU. A task is on the queue of the CPU on which it runs, regardless of its class and
 * cgroup, and its cgroup's queue points to that of the CPU. (Idle tasks: the root cgroup's.)
 */
static __always_inline struct rq *this_rq(struct task_struct *current)
{
	return BPF_CORE_READ(current, se.cfs_rq, rq);
}

/* Returns the number of queued tasks of the fair class in all cgroups, including *asleep sleeping ones. */
static __always_inline u32 fair_queued(struct rq *rq, u32 *asleep)
{
	struct cfs_rq___running *old = (void *)&rq->cfs;
	u32 queued, runnable;

	*asleep = 0;
	if (bpf_core_field_exists(rq->cfs.h_nr_runnable)) {
		queued = BPF_CORE_READ(rq, cfs.h_nr_queued);
		runnable = BPF_CORE_READ(rq, cfs.h_nr_runnable);
		/* Other CPUs may change the two numbers between the reads. */
		*asleep = queued > runnable ? queued - runnable : 0;
		return queued;
	}
	queued = BPF_CORE_READ(old, h_nr_running);
	if (bpf_core_field_exists(old->h_nr_delayed))
		*asleep = BPF_CORE_READ(old, h_nr_delayed);
	return queued;
}

/*
 * A running task is one of the queued tasks, except for a moment after its cgroup has used up its quota, and except for
 * the idle task.
 */
static __always_inline u32 tasks_waiting(struct rq *rq, struct task_struct *current)
{
	u32 asleep, queued = fair_queued(rq, &asleep);
	bool running;

	if (fair_only) {
		running = BPF_CORE_READ(rq, cfs.curr);
	} else {
		queued = BPF_CORE_READ(rq, nr_running);
		running = BPF_CORE_READ(current, pid);
	}
	asleep += running;
	return queued > asleep ? queued - asleep : 0;
}

static __always_inline void count_sample(struct task_struct *current)
{
	u32 zero = 0;
	struct runqlen_samples *s = bpf_map_lookup_elem(&samples, &zero);

	if (!s)
		return;
	s->taken++;
	s->idle += !BPF_CORE_READ(current, pid);
}

SEC("perf_event")
int on_sample(void *ctx)
{
	struct task_struct *current = (struct task_struct *)bpf_get_current_task();
	struct rq *rq = this_rq(current);
	struct runqlen_key key = {};

	if (!armed)
		return 0;
	count_sample(current);
	if (!rq) {
		count_lost(LOSS_READ_FAULT);
		return 0;
	}
	if (!by) {
		hist_add(&lengths, tasks_waiting(rq, current));
		return 0;
	}
	key.task.cpu = bpf_get_smp_processor_id();
	hist_add_key(&keyed_lengths, &key.slot, tasks_waiting(rq, current));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
