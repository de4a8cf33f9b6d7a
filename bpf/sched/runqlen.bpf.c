// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How many tasks wait for each CPU, looked at many times a second by a timer of that CPU: those
 * on its run queue, without the one that runs. Idle CPUs are looked at too. A task that sleeps,
 * though it is still queued (EEVDF's delayed dequeue, since 6.12), does not wait.
 */
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "loss.bpf.h"
#include "runqlen.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"

/* Only tasks of the fair class (CFS, EEVDF); else those of all classes. */
const volatile bool fair_only = false;

HIST_MAPS(lengths, struct runqlen_key);

/* Samples taken on each CPU, recorded or lost: the loader knows how many there should be. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} samples SEC(".maps");

/*
 * The run queue of this CPU. A task is on the queue of the CPU it runs on, whatever its class and
 * cgroup, and the queue of its cgroup knows the CPU's own. (Idle tasks: the root cgroup's.)
 */
static __always_inline struct rq *this_rq(struct task_struct *current)
{
	return BPF_CORE_READ(current, se.cfs_rq, rq);
}

/* Tasks of the fair class that are queued in all cgroups together, of which *asleep sleep. */
static __always_inline u32 fair_queued(struct rq *rq, u32 *asleep)
{
	struct cfs_rq___running *old = (void *)&rq->cfs;
	u32 queued, runnable;

	*asleep = 0;
	if (bpf_core_field_exists(rq->cfs.h_nr_runnable)) {
		queued = BPF_CORE_READ(rq, cfs.h_nr_queued);
		runnable = BPF_CORE_READ(rq, cfs.h_nr_runnable);
		/* Other CPUs may change them between the two loads. */
		*asleep = queued > runnable ? queued - runnable : 0;
		return queued;
	}
	queued = BPF_CORE_READ(old, h_nr_running);
	if (bpf_core_field_exists(old->h_nr_delayed))
		*asleep = BPF_CORE_READ(old, h_nr_delayed);
	return queued;
}

/*
 * A running task is among the queued ones. Not so for a moment when its cgroup has just used up its
 * quota, and for the idle task.
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

static __always_inline void count_sample(void)
{
	u32 zero = 0;
	u64 *n = bpf_map_lookup_elem(&samples, &zero);

	if (n)
		(*n)++;
}

SEC("perf_event")
int on_sample(void *ctx)
{
	struct task_struct *current = (struct task_struct *)bpf_get_current_task();
	struct rq *rq = this_rq(current);
	struct runqlen_key key = {};

	if (!armed)
		return 0;
	count_sample();
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
