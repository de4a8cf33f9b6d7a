// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The end of each process, which is the end of its last thread, or of each thread. A record is created when the task
 * begins to exit. Its CPU time is added when it leaves its CPU for the last time: the kernel's sum grows until then,
 * and is the one that wait(2) reports.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "exitsnoop.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"

const volatile bool threads = false;    /* report each thread, instead of processes */
const volatile bool failed_only = false;

/* Number of ends recorded, and number of those sent: the loader waits for the rest. */
u64 taken_down = 0;
u64 sent = 0;

/*
 * Keyed by the address of the task, which is not reused before on_free() has run. Not in task storage: while the kernel
 * is busy with the storage of any task, it refuses programs access to task storage, and a task ends only once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct exit_record);
} exits SEC(".maps");

/*
 * Processes whose end has been recorded: if several threads end at the same time, more than one may seem to be the
 * last. The pid may be reused before on_free() has run, and so may the address of the signal_struct if the kernel skips
 * on_free(): the start time distinguishes a process from the next one at that address. Skipped entries remain in the
 * map until it is full and evicts the oldest.
 */
struct process {
	u64 signal;
	u64 start_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct process);
	__type(value, u8);
} told SEC(".maps");

static __always_inline bool is_process_end(struct task_struct *t)
{
	struct process process = { (u64)t->signal, t->group_leader->start_time };
	u8 yes = 1;
	long err;

	if (t->signal->live.counter)
		return false;
	err = bpf_map_update_elem(&told, &process, &yes, BPF_NOEXIST);
	if ((int)err == -EEXIST)
		return false;
	if (err)
		count_lost(LOSS_INCOMPLETE);    /* the end is still recorded, perhaps twice */
	return true;
}

/* The code that wait(2) reports: that of the whole group, or of its leader. */
static __always_inline u32 process_code(struct task_struct *t)
{
	if (t->signal->flags & SIGNAL_GROUP_EXIT)
		return t->signal->group_exit_code;
	return t->group_leader->exit_code;
}

/*
 * An existing element belongs to an earlier task, for which the kernel skipped the program at both
 * its last switch and its freeing.
 */
static __always_inline void take_down(struct task_struct *t, const struct exit_record *r)
{
	u64 task = (u64)t;
	long err = bpf_map_update_elem(&exits, &task, r, BPF_NOEXIST);

	if ((int)err == -EEXIST) {
		count_lost(LOSS_MISSED);
		__sync_fetch_and_add(&sent, 1);
		err = bpf_map_update_elem(&exits, &task, r, BPF_ANY);
	}
	if (err)
		count_failed_update(err);
	else
		__sync_fetch_and_add(&taken_down, 1);
}

#define TIME_UNKNOWN (~0ULL)

/*
 * The CPU time of the process's other threads, if all of them have been released. After that only t's own time is added
 * to the sum, possibly by its parent on another CPU while t leaves this one.
 */
static __always_inline u64 time_of_others(struct task_struct *t)
{
	if (threads)
		return 0;
	return t->signal->nr_threads == 1 ? t->signal->sum_sched_runtime : TIME_UNKNOWN;
}

SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(on_process_exit, struct task_struct *t)
{
	struct task_struct *whole = threads ? t : t->group_leader;
	struct exit_record r = {};

	if (!armed || (!threads && !is_process_end(t)) || !in_scope(t))
		return 0;
	r.time_ns = bpf_ktime_get_ns();
	r.age_ns = r.time_ns - whole->start_time;
	r.code = threads ? (u32)t->exit_code : process_code(t);
	if (failed_only && !r.code)
		return 0;
	r.pid = t->tgid;
	r.tid = whole->pid;
	r.ppid = t->real_parent->tgid;
	r.uid = scope_uid(t);
	r.cpu = bpf_get_smp_processor_id();
	bpf_probe_read_kernel(r.comm, sizeof(r.comm), whole->comm);
	r.cpu_time_ns = time_of_others(t);
	take_down(t, &r);
	return 0;
}

/*
 * When a thread is released, its time is added to that of its process, and then it loses its signal handlers, perhaps
 * before it has left its CPU. The leader is released after all others.
 */
static __always_inline u64 used_time(struct task_struct *t, u64 others)
{
	struct task_struct *leader = t->group_leader;
	u64 sum;

	if (others != TIME_UNKNOWN)
		return others + t->se.sum_exec_runtime;
	sum = t->signal->sum_sched_runtime;
	if (t->sighand)
		sum += t->se.sum_exec_runtime;
	if (leader != t && leader->sighand)
		sum += leader->se.sum_exec_runtime;
	return sum;
}

/* now is the time when the task stopped using CPU time; 0 if unknown. */
static __always_inline void tell(struct task_struct *t, u64 now)
{
	u64 task = (u64)t;
	struct exit_record *r = bpf_map_lookup_elem(&exits, &task);

	if (!r)
		return;
	if (now > r->time_ns)
		r->age_ns += now - r->time_ns;  /* otherwise a task might have run for longer than its age */
	r->cpu_time_ns = used_time(t, r->cpu_time_ns);
	/* If the last switch was missed, the end is unknown, but a thread lived at least as long as it ran. */
	if (r->age_ns < t->se.sum_exec_runtime)
		r->age_ns = t->se.sum_exec_runtime;
	ring_output(r, sizeof(*r));
	bpf_map_delete_elem(&exits, &task);
	__sync_fetch_and_add(&sent, 1);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (!(task_run_state(prev) & TASK_DEAD))
		return 0;
	tell(prev, bpf_ktime_get_ns());
	return 0;
}

/* Since 7.0 the kernel may skip the program at the switch: such exits are sent here. */
SEC("tp_btf/sched_process_free")
int UNPREEMPTED_PROG(on_free, struct task_struct *t)
{
	struct process process = { (u64)t->signal, t->start_time };

	tell(t, 0);
	if (t->pid == t->tgid)
		bpf_map_delete_elem(&told, &process);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
