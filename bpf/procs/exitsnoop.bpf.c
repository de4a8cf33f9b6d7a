// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The end of each process, which is that of its last thread, or of each thread. What it was is
 * taken down when it begins to exit; how much time it used is known when it leaves its CPU for the
 * last time: the kernel's sum grows until then, and is what wait(2) will say.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "exitsnoop.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"

const volatile bool threads = false;    /* each, instead of processes */

#define TASK_DEAD 0x80                  /* include/linux/sched.h */
#define SIGNAL_GROUP_EXIT 0x4           /* include/linux/sched/signal.h */

/* How many ends were taken down, and how many of them are told: the loader waits for the rest. */
u64 taken_down = 0;
u64 sent = 0;

/*
 * By the address of the task, which is nobody else's until on_free() has run. Not in the task's storage: the
 * kernel does not let programs have that while it is busy with any task's, and an end comes only once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct exit_record);
} exits SEC(".maps");

/*
 * Processes whose end is told already: where several threads end at once, more than one may see
 * none left. By the address of their signal_struct, which is nobody else's until on_free() has run:
 * their number may be used again before.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, u8);
} told SEC(".maps");

static __always_inline bool is_process_end(struct task_struct *t)
{
	u64 process = (u64)t->signal;
	u8 yes = 1;
	long err;

	if (t->signal->live.counter)
		return false;
	err = bpf_map_update_elem(&told, &process, &yes, BPF_NOEXIST);
	if ((int)err == -EEXIST)
		return false;
	if (err)
		count_lost(LOSS_INCOMPLETE);    /* and told, maybe twice */
	return true;
}

/* The one that wait(2) reports: of the whole group, or its leader's own. */
static __always_inline u32 process_code(struct task_struct *t)
{
	if (t->signal->flags & SIGNAL_GROUP_EXIT)
		return t->signal->group_exit_code;
	return t->group_leader->exit_code;
}

/*
 * One that is there already is of an earlier task, which has gone without that a program was run for its last
 * switch or for its being freed.
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
	r.pid = t->tgid;
	r.tid = whole->pid;
	r.ppid = t->real_parent->tgid;
	r.uid = scope_uid(t);
	r.cpu = bpf_get_smp_processor_id();
	bpf_probe_read_kernel(r.comm, sizeof(r.comm), whole->comm);
	take_down(t, &r);
	return 0;
}

/*
 * A thread's time is added to that of its process when it is released, which may be before it has
 * left its CPU; it has no signal handlers from then on. The leader stays until all others are gone.
 */
static __always_inline u64 used_time(struct task_struct *t)
{
	struct task_struct *leader = t->group_leader;
	u64 sum;

	if (threads)
		return t->se.sum_exec_runtime;
	sum = t->signal->sum_sched_runtime;
	if (t->sighand)
		sum += t->se.sum_exec_runtime;
	if (leader != t && leader->sighand)
		sum += leader->se.sum_exec_runtime;
	return sum;
}

static __always_inline void tell(struct task_struct *t)
{
	u64 task = (u64)t;
	struct exit_record *r = bpf_map_lookup_elem(&exits, &task);

	if (!r)
		return;
	r->cpu_time_ns = used_time(t);
	ring_output(r, sizeof(*r));
	bpf_map_delete_elem(&exits, &task);
	__sync_fetch_and_add(&sent, 1);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (!(task_run_state(prev) & TASK_DEAD))
		return 0;
	tell(prev);
	return 0;
}

/* From 7.0 on the kernel may skip the program at the switch: those exits are told here. */
SEC("tp_btf/sched_process_free")
int UNPREEMPTED_PROG(on_free, struct task_struct *t)
{
	u64 process = (u64)t->signal;

	tell(t);
	if (t->pid == t->tgid)
		bpf_map_delete_elem(&told, &process);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
