/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Per-task increases of perf counters. A CPU's counter counts for every task that runs there, so its increase is
 * divided up at context switches. A task has state after its first request; from then on its counters only increase, on
 * any CPU on which it runs, and stand still while it does not run.
 */
#ifndef TALLY_OWN_COUNTERS_BPF_H
#define TALLY_OWN_COUNTERS_BPF_H

#include "compat.bpf.h"
#include "probe.h"
#include "task_state.bpf.h"

const volatile u32 ncounters = 0;
const volatile u32 ncpus = 1;           /* possible CPUs */
/* Bits of the counters that count context switches: the current switch is charged to the leaving task. */
const volatile u32 switch_counters = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);         /* set by the loader: ncounters * ncpus */
	__type(key, u32);
	__type(value, u32);
} counters SEC(".maps");

/*
 * While the task runs on cpu - 1, its counter is total + the CPU's counter - since; otherwise total. Some virtual
 * machines (PVM) hide some switches: a task is then found on a CPU although its switch-in was not seen. Its increase up
 * to that time is unknown: a gap.
 */
struct own_counters {
	u64 total[PROBE_COUNTERS];
	u64 since[PROBE_COUNTERS];      /* the CPU's counter at the switch-in */
	u64 switches;                   /* switch-outs */
	u64 gaps;
	u64 cpu;                        /* CPU + 1; 0 if none, or if the state is new */
};

TASK_STATE(own_counters, struct own_counters)

/* Reads counter i of this CPU. Returns false if it is unreadable or multiplexed. */
static __always_inline bool read_counter(u32 i, u64 *value)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct bpf_perf_event_value now = {};

	if (bpf_perf_event_read_value(&counters, i * ncpus + cpu, &now, sizeof(now)))
		return false;
	*value = now.counter;
	return now.enabled == now.running;
}

static __always_inline void come_to_cpu(struct own_counters *own)
{
	u32 i;

#pragma unroll
	for (i = 0; i < PROBE_COUNTERS; i++)
		if (i < ncounters && !(switch_counters & (1U << i)) &&
		    !read_counter(i, &own->since[i]))
			own->gaps++;
	own->cpu = bpf_get_smp_processor_id() + 1;
}

static __always_inline void find_on_cpu(struct own_counters *own)
{
	if (own->cpu == bpf_get_smp_processor_id() + 1)
		return;
	own->gaps++;
	come_to_cpu(own);
}

static __always_inline void leave_cpu(struct own_counters *own)
{
	u64 now = 0;
	u32 i;

	find_on_cpu(own);
#pragma unroll
	for (i = 0; i < PROBE_COUNTERS; i++) {
		if (i >= ncounters || switch_counters & (1U << i))
			continue;
		if (!read_counter(i, &now))
			own->gaps++;
		own->total[i] += now - own->since[i];
	}
	own->cpu = 0;
	own->switches++;
}

#define NOW(variable) (*(volatile u64 *)&(variable))

/*
 * Reads the current task's counters, followed by its gaps. Returns false if the task has no state, or if the counters
 * cannot be read. A program that was preempted notices this by the number of switches, and reads again.
 */
static __always_inline bool read_own_counters(u64 value[PROBE_COUNTERS + 1])
{
	struct own_counters *own = own_counters_find(calling_task());
	u64 switches, now = 0;
	bool known = true;
	u32 i, tries;

	if (!own)
		return false;
#pragma unroll
	for (tries = 0; tries < 2; tries++) {
		switches = NOW(own->switches);
		find_on_cpu(own);
#pragma unroll
		for (i = 0; i < PROBE_COUNTERS; i++) {
			if (i >= ncounters)
				continue;
			if (switch_counters & (1U << i)) {
				value[i] = switches;
				continue;
			}
			known &= read_counter(i, &now);
			value[i] = NOW(own->total[i]) + now - NOW(own->since[i]);
		}
		value[ncounters] = NOW(own->gaps);
		if (switches == NOW(own->switches))
			return known;
	}
	return false;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(own_counters_on_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	struct own_counters *own = own_counters_find(prev);

	if (own)
		leave_cpu(own);
	own = own_counters_find(next);
	if (own)
		come_to_cpu(own);
	return 0;
}

#endif /* TALLY_OWN_COUNTERS_BPF_H */
