// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counting, with two kinds of measurements; a run loads those that it needs:
 *
 * Events at locations in code (tracepoints, functions): one add per event, to the event's slot of a per-CPU array, or
 * to the task's element of a hash with --by. Adds are atomic, because the same event may occur in an interrupt.
 *
 * Counters (task-clock, page-faults, cycles, ...) charged to tasks: the counters run per CPU, system-wide; at each
 * context switch their increase is charged to the task that leaves. So the sum over all tasks equals the counters.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "element.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "syscall_event.bpf.h"
#include "counting.h"
#include "task_key.bpf.h"
#include "verdict.bpf.h"
#include "writer.bpf.h"

/* --- events ------------------------------------------------------------------------------------ */

/* The event's own filter. Returns 1 if the event counts, 0 if it does not, or a negative enum event_verdict. */
EVENT_BODY(event_filter, EVENT_FILTER, void)

/* With --by, the counts of each slot whose key found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);         /* set by the loader: number of slots */
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct counting_key);
	__type(value, struct counting_count);
} keyed_counts SEC(".maps");

/* n: the counts of the slot that find no room; events: as how many events they are lost. */
static __noinline int count_without_room(u32 slot, u64 n, u64 events, int err)
{
	u64 *lost = bpf_map_lookup_elem(&counts, &slot);

	if (lost && armed)
		__sync_fetch_and_add(lost, n);
	count_failed_updates(err, events);
	return 0;
}

static __noinline int count_keyed(u32 slot, struct task_struct *t)
{
	long err;
	struct counting_key key = { .slot = slot, .writer = this_writer() };
	struct counting_count *c, fresh = {};

	task_key_of(&key.task, t);
	c = element_try(&keyed_counts, &key, &fresh, &err);
	if (!c)
		return count_without_room(slot, 1, 1, err);
	__sync_fetch_and_add(&c->count, 1);
	if (task_key_has_name())        /* otherwise the time is not needed */
		task_key_name(c->name, &c->name_stamp, t, bpf_ktime_get_ns());
	return 0;
}

/* t is the subject; NULL is the current task. */
static __always_inline int count_in_scope(u32 slot, struct task_struct *t)
{
	u64 *n;

	if (by)
		return count_keyed(slot, t);
	n = bpf_map_lookup_elem(&counts, &slot);
	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}

static __always_inline int count(u32 slot, struct task_struct *t)
{
	if (!armed || !in_scope(t))
		return 0;
	return count_in_scope(slot, t);
}

/*
 * System calls begin and end only in tasks. Where such a program can be preempted (since 7.0), the kernel skips it for
 * other tasks on that CPU and counts this. So nothing can interfere, and a plain add is exact.
 */
static __always_inline int count_syscall(u32 slot)
{
	u64 *n;

	if (by)
		return count(slot, NULL);
	if (!armed || !in_scope(NULL))
		return 0;
	n = bpf_map_lookup_elem(&counts, &slot);
	if (n)
		*n += 1;
	return 0;
}

SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_raw_tracepoint, void *, ctx)
{
	return count(event_slot(), NULL);
}

/* For tracepoints whose subject is their first argument: a wakeup is an event of the wakee. */
SEC("?raw_tp")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_raw_tracepoint_task, struct bpf_raw_tracepoint_args *, ctx)
{
	return count(event_slot(), (struct task_struct *)ctx->args[0]);
}

/* If a program on a tracepoint returned 0, it would hide the event from other perf users: KEEP_EVENT. */
SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_tracepoint, void *, ctx)
{
	count(event_slot(), NULL);
	return KEEP_EVENT;
}

/* Counts the event if it passes a filter on the tracepoint's fields. */
static __always_inline void count_if(void *record, u32 slot)
{
	int verdict;

	if (!armed || !in_scope(NULL))
		return;
	verdict = event_filter(record, NULL);
	if (verdict < 0)
		count_undecided(verdict);
	else if (verdict == 0)
		count_filtered();
	else
		count_in_scope(slot, NULL);
}

SEC("?tracepoint")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_filtered_tracepoint, void *, ctx)
{
	count_if(ctx, event_slot());
	return KEEP_EVENT;
}

SYSCALL_SLOTS(syscall_slots)
ON_SYSCALL_ENTER(on_filtered_enter, syscall_slots, count_if)
ON_SYSCALL_EXIT(on_filtered_exit, syscall_slots, count_if)

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_probe, void *, ctx)
{
	return count(event_slot(), NULL);
}

/* For kprobe.multi and uprobe.multi. */
SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_probes, void *, ctx)
{
	return count(event_cookie(ctx), NULL);
}

SEC("?fentry")
int UNPREEMPTED(by ? PREEMPT_FUNCTION : PREEMPT_ATOMIC, on_entry, void *, ctx)
{
	return count(event_slot(), NULL);
}

SEC("?fexit")
int UNPREEMPTED(by ? PREEMPT_FUNCTION : PREEMPT_ATOMIC, on_exit, void *, ctx)
{
	return count(event_slot(), NULL);
}

/* Two tracepoints serve all of syscalls:sys_enter_* and sys_exit_*. Values are slot + 1 by number, or 0 for none. */
const volatile u32 enter_slot[SYSCALL_NUMBERS] = {};
const volatile u32 exit_slot[SYSCALL_NUMBERS] = {};

SEC("?raw_tp/sys_enter")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_sys_enter, struct bpf_raw_tracepoint_args *, ctx)
{
	u64 nr = ctx->args[1];
	u32 slot;

	if (nr >= SYSCALL_NUMBERS)
		return 0;
	slot = enter_slot[nr];
	if (!slot || !in_native_syscall())
		return 0;
	return count_syscall(slot - 1);
}

SEC("?raw_tp/sys_exit")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_sys_exit, struct bpf_raw_tracepoint_args *, ctx)
{
	u64 nr = syscall_of((struct pt_regs *)ctx->args[0]);
	u32 slot;

	if (nr >= SYSCALL_NUMBERS)
		return 0;
	slot = exit_slot[nr];
	if (!slot || !in_native_syscall())
		return 0;
	return count_syscall(slot - 1);
}

/* --- counters charged to tasks ----------------------------------------------------------------- */

const volatile u32 ncounters = 0;
const volatile u32 ncpus = 1;
/* Idle tasks are also subjects, so that sums cover the whole machine. */
const volatile bool count_idle = false;
/* Bits of the counters that count context switches: the current switch is charged to the leaving task. */
const volatile u32 switch_counters = 0;
/* Counters of time, whose unit is no event: a slice without room is one loss. */
const volatile u32 time_counters = 0;
const volatile u32 counter_slot[COUNTING_COUNTERS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);         /* set by the loader: ncounters * ncpus */
	__type(key, u32);
	__type(value, u32);
} counters SEC(".maps");

struct last_read {
	struct bpf_perf_event_value counter[COUNTING_COUNTERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct last_read);
} last_reads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct counting_key);
	__type(value, struct counting_charge);
} charges SEC(".maps");

/* The initial value of a new element, too large for the stack. */
const struct counting_charge no_charge = {};

/* Returns NULL if t is not charged, with *err 0, or if its key finds no room. */
static __always_inline struct counting_charge *charge_of(struct task_struct *t, long *err)
{
	struct counting_key key = { .writer = this_writer() };

	*err = 0;
	if (!armed || (!count_idle && !scope_tid(t)) || !in_scope(t))
		return NULL;
	task_key_of(&key.task, t);
	return element_try(&charges, &key, &no_charge, err);
}

static __always_inline void charge_without_room(u32 i, u64 n, long err)
{
	if (n)
		count_without_room(counter_slot[i], n, time_counters & (1U << i) ? 1 : n, err);
}

/* Charges the counters' increase since the last call on this CPU to t. */
static __always_inline int charge(struct task_struct *t, bool switching)
{
	u32 zero = 0, i, cpu = bpf_get_smp_processor_id();
	struct last_read *last = bpf_map_lookup_elem(&last_reads, &zero);
	struct bpf_perf_event_value now;
	struct counting_charge *c, *to;
	long err;

	if (!last)
		return 0;
	c = charge_of(t, &err);
	for (i = 0; i < COUNTING_COUNTERS && i < ncounters; i++) {
		if (switch_counters & (1U << i)) {
			if (c && switching) {
				to = c;
				barrier_var(to);
				to->counter[i].value++;
			} else if (!c && err && switching) {
				charge_without_room(i, 1, err);
			}
			continue;
		}
		if (bpf_perf_event_read_value(&counters, i * ncpus + cpu, &now, sizeof(now))) {
			count_lost(LOSS_READ_FAULT);
			continue;
		}
		if (c) {
			to = c;
			barrier_var(to);        /* or its address is computed before the check of c */
			to->counter[i].value += now.counter - last->counter[i].counter;
			to->counter[i].enabled_ns += now.enabled - last->counter[i].enabled;
			to->counter[i].running_ns += now.running - last->counter[i].running;
		} else if (err) {
			charge_without_room(i, now.counter - last->counter[i].counter, err);
		}
		last->counter[i] = now;
	}
	if (c && task_key_has_name())
		task_key_name(c->name, &c->name_stamp, t, bpf_ktime_get_ns());
	return 0;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	return charge((struct task_struct *)ctx->args[1], true);
}

/*
 * The loader runs this on each CPU before it reads the charges, so that the task on the CPU is charged up to that
 * moment, and once before it opens the gate, so that the first difference begins there.
 */
SEC(BY_LOADER)
int charge_now(void *ctx)
{
	return charge(NULL, false);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
