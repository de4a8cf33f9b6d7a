/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scope test (scope.h), in two halves: properties that a task has for life, and those that it has at the moment.
 * Tests are ordered by cost: constants and registers first, then loads, pointer chains, map lookups, and the comm last.
 * Options that are not given are constants, so the verifier removes their tests. Events of subjects outside the scope
 * are counted as filtered.
 */
#ifndef TALLY_SCOPE_BPF_H
#define TALLY_SCOPE_BPF_H

#include "by_loader.h"
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.h"

const volatile struct scope_config scope = {};

/*
 * How members of a task are read. tp_btf programs have typed pointers and use plain loads. Programs on raw tracepoints,
 * kprobes and the like have none, and define SCOPE_UNTYPED before they include this header; for them a NULL subject is
 * the current task, which is cheap to get. Programs whose subject is always calling_task() define SCOPE_CURRENT, and
 * use plain loads where it is typed.
 */
#ifdef SCOPE_UNTYPED
#define SCOPE_GET(p, member) BPF_CORE_READ(p, member)
#elif defined(SCOPE_CURRENT)
#define SCOPE_GET(p, member)                                                                       \
	(has_typed_current() ? (p)->member : BPF_CORE_READ(p, member))
#else
#define SCOPE_GET(p, member) ((p)->member)
#endif

static __always_inline struct task_struct *scope_subject(struct task_struct *t)
{
#ifdef SCOPE_UNTYPED
	if (!t)
		return (struct task_struct *)bpf_get_current_task();
#endif
	return t;
}

static __always_inline u32 scope_tgid(struct task_struct *t)
{
#ifdef SCOPE_UNTYPED
	if (!t)
		return bpf_get_current_pid_tgid() >> 32;
#endif
	return SCOPE_GET(t, tgid);
}

static __always_inline u32 scope_tid(struct task_struct *t)
{
#ifdef SCOPE_UNTYPED
	if (!t)
		return bpf_get_current_pid_tgid();
#endif
	return SCOPE_GET(t, pid);
}

static __always_inline u32 scope_uid(struct task_struct *t)
{
	const struct cred *cred = SCOPE_GET(scope_subject(t), cred);

	return SCOPE_GET(cred, uid.val);
}

/*
 * Pids and tids are reused, even while the previous owner still awaits its last context switch. So members of the scope
 * are identified by an address that cannot be reused before sched_process_free has run for its owner: a process by its
 * signal_struct, which survives an exec by any thread, and a thread by its task_struct.
 */
static __always_inline u64 scope_process(struct task_struct *t)
{
#ifdef SCOPE_UNTYPED
	if (!t && has_typed_current())
		return (u64)bpf_get_current_task_btf()->signal;
#endif
	return (u64)SCOPE_GET(scope_subject(t), signal);
}

static __always_inline u64 scope_thread(struct task_struct *t)
{
	return (u64)scope_subject(t);
}

/*
 * The sets of -p (or the command, and followed children) and of -t. They map an address to a start time, in ns of
 * CLOCK_MONOTONIC. The time reveals stale elements, whose owner ended before scope_on_free was attached. scope_tids
 * also contains processes whose first thread is a member. While scope_seed runs, both sets also contain the requested
 * ids, as keys that are not addresses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u64);
	__type(value, u64);
} scope_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u64);
	__type(value, u64);
} scope_tids SEC(".maps");

/* The only member, if there is just one; 0 after it has ended. */
u64 scope_one_process = 0;
u64 scope_one_thread = 0;

/*
 * The tracer, by its pid in the initial namespace, which it may not know itself; its main thread, which forks all its
 * children; and the signal_struct of a command that only determines the duration.
 */
u32 scope_self = 0;
u64 scope_self_thread = 0;
u64 scope_command_apart = 0;

/*
 * A lookup in the set costs more than the rest of a short program, and is repeated for the same process. So each CPU
 * caches its last answer. The second word is the first XOR the generation of the set, with the answer in the lowest
 * bit. It matches only if both words were written together, even if the write was interrupted. A change of the set is
 * followed by a new generation. CPUs that share an entry only evict each other's answers.
 */
#define SCOPE_ANSWERS 64

u64 scope_answers[SCOPE_ANSWERS][8] = {};       /* one cache line each: process, check */
u64 scope_generation = 2;

/* Even, and large enough that generations differ in bits in which addresses do not. */
#define SCOPE_GENERATION_STEP 0x9e3779b97f4a7c16ULL

static __always_inline bool scope_is_same(struct task_struct *t, const u64 *start)
{
	return start && *start == BPF_CORE_READ(scope_subject(t), group_leader, start_time);
}

/* Rarely called, so not inlined. A helper reads the address, because the verifier forbids arithmetic on pointers. */
static __noinline bool scope_look_up(struct task_struct *t, volatile u64 *to, u64 generation)
{
	u64 process = 0;
	bool is_in;

	bpf_core_read(&process, sizeof(process), &scope_subject(t)->signal);
	is_in = scope_is_same(t, bpf_map_lookup_elem(&scope_pids, &process));
	to[0] = process;
	to[1] = process ^ (generation | is_in);
	return is_in;
}

static __always_inline bool scope_has_process(struct task_struct *t)
{
	volatile u64 *last = scope_answers[bpf_get_smp_processor_id() % SCOPE_ANSWERS];
	u64 generation = *(volatile u64 *)&scope_generation, known = last[0], number = known;
	u64 answer;

	/* Use a copy: otherwise the compiler would use the register that is compared with a pointer. */
	barrier_var(number);
	answer = number ^ last[1];
	if (known == scope_process(t) && (answer & ~1ULL) == generation)
		return answer & 1;
	return scope_look_up(t, last, generation);
}

static __always_inline bool scope_has_thread(struct task_struct *t)
{
	u64 thread = scope_thread(t), *start = bpf_map_lookup_elem(&scope_tids, &thread);

	return start && *start == SCOPE_GET(scope_subject(t), start_time);
}

static __always_inline void scope_pids_changed(void)
{
	__sync_fetch_and_add(&scope_generation, SCOPE_GENERATION_STEP);
}

#define SCOPE_CONTROLLER(wanted, ssid)                                                             \
	case wanted:                                                                               \
		if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, ssid))                      \
			return NULL;                                                               \
		index = bpf_core_enum_value(enum cgroup_subsys_id, ssid);                          \
		break

/* The task's cgroup in the requested hierarchy; NULL if the kernel lacks the controller. */
static __always_inline struct cgroup *scope_cgroup(struct task_struct *t)
{
	struct css_set *set = SCOPE_GET(scope_subject(t), cgroups);
	struct cgroup_subsys_state *css = NULL;
	u32 index = 0;

	switch (scope.hierarchy) {
	case SCOPE_CGROUP_V2:
		return SCOPE_GET(set, dfl_cgrp);
	SCOPE_CONTROLLER(SCOPE_CGROUP_CPUSET, cpuset_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_CPU, cpu_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_CPUACCT, cpuacct_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_BLKIO, io_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_MEMORY, memory_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_DEVICES, devices_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_FREEZER, freezer_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_NET_CLS, net_cls_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_PERF_EVENT, perf_event_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_NET_PRIO, net_prio_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_HUGETLB, hugetlb_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_PIDS, pids_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_RDMA, rdma_cgrp_id);
	SCOPE_CONTROLLER(SCOPE_CGROUP_MISC, misc_cgrp_id);
	default:
		return NULL;
	}
	if (bpf_core_read(&css, sizeof(css), &set->subsys[index]))
		return NULL;
	return BPF_CORE_READ(css, cgroup);
}

static __always_inline u64 scope_cgroup_id(struct task_struct *t)
{
	struct cgroup *cg = scope_cgroup(t);

	return cg ? BPF_CORE_READ(cg, kn, id) : 0;
}

/* True if the task's cgroup is the requested one or a descendant of it. Compares the ancestor at that level. */
static __always_inline bool scope_in_cgroup(struct task_struct *t)
{
	struct cgroup *cg = scope_cgroup(t), *above = NULL;
	u32 level = scope.cgroup_level;
	u64 id = 0;

	if (!cg || BPF_CORE_READ(cg, level) < (int)level)
		return false;
	if (bpf_core_field_exists(cg->ancestors)) {
		if (bpf_core_read(&above, sizeof(above), &cg->ancestors[level]))
			return false;
		id = BPF_CORE_READ(above, kn, id);
	} else {
		struct cgroup___ids *old = (void *)cg;

		if (bpf_core_read(&id, sizeof(id), &old->ancestor_ids[level]))
			return false;
	}
	return id == scope.cgroup_id;
}

/* enum pid_type, include/linux/pid_types.h */
#define PIDTYPE_TGID 1

/*
 * The task's pid namespace. An exiting thread gives up its number before its last switch. It then has the number of its
 * process until the process is reaped, and 0 after that.
 */
static __always_inline u32 task_pidns(struct task_struct *t)
{
	struct pid *pid = SCOPE_GET(scope_subject(t), thread_pid);
	struct upid upid = {};
	u32 level;

	if (!pid)
		pid = BPF_CORE_READ(scope_subject(t), signal, pids[PIDTYPE_TGID]);
	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	if (bpf_core_read(&upid.ns, sizeof(upid.ns), &pid->numbers[level].ns))
		return 0;
	return BPF_CORE_READ(upid.ns, ns.inum);
}

static __always_inline bool scope_has_comm(struct task_struct *t)
{
	u32 s = scope.comm.start;
	u8 comm[TASK_COMM_LEN] = {};
	int i;

	bpf_probe_read_kernel(comm, sizeof(comm), scope_subject(t)->comm);
#pragma unroll
	for (i = 0; i < TASK_COMM_LEN; i++) {
		if (!comm[i])
			break;
		s = ((s & scope.comm.accepts[comm[i]]) << 1) | (s & scope.comm.stars);
		s |= (s & scope.comm.stars) << 1;
	}
	return s & scope.comm.final;
}

/* The thread that forked the task, as an address: reading the parent itself may miss the caches. */
static __always_inline u64 scope_parent(struct task_struct *t)
{
#ifdef SCOPE_UNTYPED
	if (!t && has_typed_current())
		return (u64)bpf_get_current_task_btf()->real_parent;
#endif
	return (u64)SCOPE_GET(scope_subject(t), real_parent);
}

/*
 * Only for children of the tracer. A shell that becomes the tracer (`load & exec tally ..`) leaves children that the
 * tracer did not start, and the command is no longer part of the tracer after its exec.
 */
static __noinline bool scope_is_helper(struct task_struct *t)
{
	struct task_struct *first = BPF_CORE_READ(scope_subject(t), group_leader);
	u64 process = (u64)BPF_CORE_READ(first, signal);

	if (process == *(volatile u64 *)&scope_command_apart)
		return BPF_CORE_READ(first, flags) & PF_FORKNOEXEC;
	return BPF_CORE_READ(first, start_time) >= scope.began;
}

static __always_inline bool scope_is_self(struct task_struct *t)
{
	return scope_tgid(t) == *(volatile u32 *)&scope_self ||
	       (scope.exclude_children && scope_parent(t) == *(volatile u64 *)&scope_self_thread &&
		scope_is_helper(t));
}

/*
 * Tests whose result does not change from a task's fork to its end. State that may be needed later is kept for every
 * task that passes these tests, even if other tests fail now.
 */
static __always_inline bool scope_for_life(struct task_struct *t)
{
	if (scope.exclude_self && scope_is_self(t))
		return false;
	if (scope.pids == SCOPE_IDS_ONE &&
	    scope_process(t) != *(volatile u64 *)&scope_one_process)
		return false;
	if (scope.tids == SCOPE_IDS_ONE && scope_thread(t) != *(volatile u64 *)&scope_one_thread)
		return false;
	if (scope.pids == SCOPE_IDS_SET && !scope_has_process(t))
		return false;
	if (scope.tids == SCOPE_IDS_SET && !scope_has_thread(t))
		return false;
	return true;
}

static __always_inline bool scope_has_cpu(u64 cpu)
{
	u64 word = cpu / 64;

	/* The verifier of 5.10 knows the range only of the register that was compared, as in hist.bpf.h. */
	barrier_var(word);
	return word < SCOPE_MAX_CPUS / 64 && scope.cpus[word] & (1ULL << (cpu % 64));
}

/* The complete test for an event that belongs to no task. */
static __always_inline bool scope_has_this_cpu(void)
{
	return !scope.has_cpus || scope_has_cpu(bpf_get_smp_processor_id());
}

/* Tests on the task as it is now. */
static __always_inline bool scope_has_task_now(struct task_struct *t)
{
	if (scope.has_uid && scope_uid(t) != scope.uid)
		return false;
	if (scope.has_pidns && task_pidns(t) != scope.pidns)
		return false;
	if (scope.has_cgroup && !scope_in_cgroup(t))
		return false;
	if (scope.has_comm && !scope_has_comm(t))
		return false;
	return true;
}

/* Tests on the event (its CPU), or on the task as it is now. */
static __always_inline bool scope_now(struct task_struct *t)
{
	return scope_has_this_cpu() && scope_has_task_now(t);
}

/* The two halves for the subject of an event; an event out of scope is counted as filtered. */
static __always_inline bool in_scope_for_life(struct task_struct *t)
{
	if (scope_for_life(t))
		return true;
	count_filtered();
	return false;
}

static __always_inline bool in_scope_now(struct task_struct *t)
{
	if (scope_now(t))
		return true;
	count_filtered();
	return false;
}

static __always_inline bool in_scope(struct task_struct *t)
{
	return in_scope_for_life(t) && in_scope_now(t);
}

static __always_inline void scope_join(void *set, u64 address, u64 start)
{
	long err = bpf_map_update_elem(set, &address, &start, BPF_ANY);

	if (err)
		count_failed_update(err);
	scope_pids_changed();
}

/* Runs before the programs are attached. Loaded with exclude_self. */
SEC(BY_LOADER)
int scope_meet_self(void *ctx)
{
	scope_self = bpf_get_current_pid_tgid() >> 32;
	scope_self_thread = bpf_get_current_task();
	return 0;
}

/* The number of a thread in its own pid namespace. */
static __always_inline u32 scope_own_number(struct task_struct *t)
{
	struct pid *pid = t->thread_pid;
	struct upid upid = {};
	u32 level;

	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	if (bpf_core_read(&upid.nr, sizeof(upid.nr), &pid->numbers[level].nr))
		return 0;
	return upid.nr;
}

/*
 * Adds the initial members. Runs once over all tasks, before the programs are attached. The sets already contain the
 * ids; this program adds the addresses.
 */
SEC("iter/task")
int scope_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	u64 pid, tid;

	if (!t)
		return 0;
	pid = t->tgid;
	tid = t->pid;
	if (scope.command_apart && pid == tid && scope_parent(t) == scope_self_thread &&
	    scope_own_number(t) == scope.command_apart)
		scope_command_apart = (u64)t->signal;
	if (scope.pids && pid == tid && bpf_map_lookup_elem(&scope_pids, &pid)) {
		scope_one_process = (u64)t->signal;
		scope_join(&scope_pids, (u64)t->signal, t->start_time);
	}
	if (scope.tids && bpf_map_lookup_elem(&scope_tids, &tid)) {
		scope_one_thread = (u64)t;
		scope_join(&scope_tids, (u64)t, t->start_time);
		if (pid == tid)
			scope_join(&scope_tids, (u64)t->signal, t->start_time);
	}
	return 0;
}

/*
 * The command joins at its exec if the work of the tracer's child before the exec must not count (scope.command). A
 * thread that calls exec takes over the position and id of the first thread of its process, so it also takes over that
 * thread's place in the set. Loaded if either is needed.
 */
SEC("tp_btf/sched_process_exec")
int UNPREEMPTED_PROG(scope_on_exec, struct task_struct *t, int old_pid)
{
	u64 process = (u64)t->signal, *start;

	if (scope.command && (u32)t->tgid == scope.command)
		scope_join(&scope_pids, process, t->start_time);
	if (!scope.tids || old_pid == t->pid)
		return 0;
	start = bpf_map_lookup_elem(&scope_tids, &process);
	if (!start || *start != t->start_time)
		return 0;
	scope_one_thread = (u64)t;
	scope_join(&scope_tids, (u64)t, t->start_time);
	return 0;
}

/* Loaded if scope.follow is set. The child cannot run before this program has finished. */
SEC("tp_btf/sched_process_fork")
int UNPREEMPTED_PROG(scope_on_fork, struct task_struct *parent, struct task_struct *child)
{
	u64 from = (u64)parent->signal, to = (u64)child->signal, *start;

	if (from == to)
		return 0;
	start = bpf_map_lookup_elem(&scope_pids, &from);
	if (!start || *start != parent->group_leader->start_time)
		return 0;
	scope_join(&scope_pids, to, child->start_time);
	return 0;
}

/*
 * Members are removed when they are freed, not when they exit: an exiting task may still wait for a CPU. A process is
 * freed with its first thread, which is released last.
 */
static __always_inline void scope_process_ends(struct task_struct *t)
{
	u64 process = (u64)t->signal;

	if (scope.pids == SCOPE_IDS_ONE && process == scope_one_process)
		scope_one_process = 0;
	if (scope.pids == SCOPE_IDS_SET && !bpf_map_delete_elem(&scope_pids, &process))
		scope_pids_changed();
	if (scope.tids)
		bpf_map_delete_elem(&scope_tids, &process);
}

/* Loaded with -p, -t or a command. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(scope_on_free, struct task_struct *t)
{
	u64 thread = (u64)t;

	if (t->pid == t->tgid)
		scope_process_ends(t);
	if (!scope.tids)
		return 0;
	if (thread == scope_one_thread)
		scope_one_thread = 0;
	bpf_map_delete_elem(&scope_tids, &thread);
	return 0;
}

#endif /* TALLY_SCOPE_BPF_H */
