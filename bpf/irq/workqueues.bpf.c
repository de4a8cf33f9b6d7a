// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Run time of work functions, or queueing time of work items.
 *
 * A work item is queued only once at a time, so its address identifies it when it begins to run. Its own function may
 * free it or queue it again, and another item may then have its address. So running items are also identified by their
 * task, and only the address is used at the end. (A task may run two items: work of BH workqueues, 6.9, interrupts it.)
 *
 * Cancelling a queued item reaches no tracepoint. The item's state is replaced when it, or another item at its address,
 * is queued; until then it occupies an element.
 */
#include "preempt.bpf.h"
#include "span.bpf.h"

const volatile bool queue_time = false;         /* measure queueing time instead of run time */

struct queued_work {
	u64 queued_ns;
	char queue[SPAN_NAME_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u64);               /* address of the work item */
	__type(value, struct queued_work);
} queued_works SEC(".maps");

struct running_key {
	u64 work;
	u64 tid;
};

struct running_work {
	u64 start_ns;
	u64 function;
	char queue[SPAN_NAME_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct running_key);
	__type(value, struct running_work);
} running_works SEC(".maps");

/* Nonzero if there was no room for some item, so that not all items without a state are from before the run. */
u32 was_full = 0;

static __always_inline void count_unknown_past(void)
{
	if (was_full)
		count_lost(LOSS_MAP_FULL);
	else
		count_begun_before();
}

SEC("tp_btf/workqueue_queue_work")
int BPF_PROG(on_queue, int cpu, struct pool_workqueue *pool, struct work_struct *work)
{
	struct queued_work q = { .queued_ns = bpf_ktime_get_ns() };
	u64 key = (u64)work;

	/* 24 bytes before 6.9, then 32: a shorter name ends with a NUL. */
	bpf_probe_read_kernel_str(q.queue, sizeof(q.queue), pool->wq->name);
	if (bpf_map_update_elem(&queued_works, &key, &q, BPF_ANY))
		was_full = 1;
	return 0;
}

static __always_inline void begin_running(struct work_struct *work, const struct running_work *w)
{
	struct running_key key = { (u64)work, (u32)bpf_get_current_pid_tgid() };

	if (bpf_map_update_elem(&running_works, &key, w, BPF_ANY))
		was_full = 1;
}

SEC("tp_btf/workqueue_execute_start")
int UNPREEMPTED_PROG(on_start, struct work_struct *work)
{
	u64 now = bpf_ktime_get_ns(), key = (u64)work;
	struct span_what what = { .id = (u64)work->func };
	struct running_work w = { .function = what.id };
	struct queued_work *q = bpf_map_lookup_elem(&queued_works, &key);

	if (q && queue_time) {
		__builtin_memcpy(what.name, q->queue, sizeof(what.name));
		span_add(&what, now - q->queued_ns);
	} else if (queue_time) {
		count_unknown_past();
	} else {
		if (q)
			__builtin_memcpy(w.queue, q->queue, sizeof(w.queue));
		w.start_ns = bpf_ktime_get_ns();
		begin_running(work, &w);
	}
	if (q)
		bpf_map_delete_elem(&queued_works, &key);
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int UNPREEMPTED_PROG(on_end, struct work_struct *work)
{
	struct running_key key = { (u64)work, (u32)bpf_get_current_pid_tgid() };
	struct running_work *w = bpf_map_lookup_elem(&running_works, &key);
	struct span_what what = {};

	if (!w) {
		count_unknown_past();
		return 0;
	}
	what.id = w->function;
	__builtin_memcpy(what.name, w->queue, sizeof(what.name));
	span_add(&what, bpf_ktime_get_ns() - w->start_ns);
	bpf_map_delete_elem(&running_works, &key);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
