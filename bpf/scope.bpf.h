/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scope test (scope.h), in two halves: what a task is for life, and what it is just now. In
 * each, tests stand in order of cost: constants and registers first, then what costs a load, a
 * pointer hop, a map lookup, and the comm last. Those not asked for are constants that the
 * verifier removes. A subject outside the scope is counted as filtered.
 */
#ifndef TALLY_SCOPE_BPF_H
#define TALLY_SCOPE_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "scope.h"

const volatile struct scope_config scope = {};

/*
 * How members of a task are read. Programs of tp_btf have typed pointers: plain loads. Those
 * on raw tracepoints, kprobes and the like have none and say so by defining SCOPE_UNTYPED before
 * they include this; there a subject of NULL is the current task, which is cheap to ask for.
 * Those whose subject is always calling_task() define SCOPE_CURRENT: plain loads where it is typed.
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

/* Members of these sets: processes (-p, or the command and its children), threads (-t). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u32);
	__type(value, u8);
} scope_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u32);
	__type(value, u8);
} scope_tids SEC(".maps");

/*
 * Looking a process up in its set costs more than all the rest of a short program, and is asked of
 * the same one again and again. So each CPU keeps its last answer, in one word that is read and
 * written at once: generation, pid, in or out. Whoever changes the set begins a new generation
 * afterwards. CPUs that share a word only spoil it for each other.
 */
#define SCOPE_ANSWERS 64

u64 scope_answers[SCOPE_ANSWERS][8] = {};       /* a cache line each */
u32 scope_generation = 1;

static __always_inline bool scope_has_pid(u32 pid)
{
	volatile u64 *answer = scope_answers[bpf_get_smp_processor_id() % SCOPE_ANSWERS];
	u64 wanted = (u64)*(volatile u32 *)&scope_generation << 32 | pid << 1, word = *answer;

	if ((word | 1) == (wanted | 1))
		return word & 1;
	word = wanted | (bpf_map_lookup_elem(&scope_pids, &pid) != NULL);
	*answer = word;
	return word & 1;
}

static __always_inline void scope_pids_changed(void)
{
	__sync_fetch_and_add(&scope_generation, 1);
}

#define SCOPE_CONTROLLER(wanted, ssid)                                                             \
	case wanted:                                                                               \
		if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, ssid))                      \
			return NULL;                                                               \
		index = bpf_core_enum_value(enum cgroup_subsys_id, ssid);                          \
		break

/* The cgroup of a task in the hierarchy asked for; NULL where the kernel has no such controller. */
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

/* Is the task's cgroup the wanted one or below it? Looks at the ancestor on the wanted level. */
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

/* The pid namespace a task lives in; 0 once it has been taken off its namespace while exiting. */
static __always_inline u32 task_pidns(struct task_struct *t)
{
	struct pid *pid = SCOPE_GET(scope_subject(t), thread_pid);
	struct upid upid = {};
	u32 level;

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

/*
 * What a task is for life: tests whose result never changes from its fork to its end. State that
 * has to be right later is kept for all tasks that pass these, whatever the others say now.
 */
static __always_inline bool scope_for_life(struct task_struct *t)
{
	u32 pid = scope_tgid(t), tid;

	if (scope.exclude_tgid && pid == scope.exclude_tgid)
		return false;
	if (scope.pids == SCOPE_IDS_ONE && pid != scope.pid)
		return false;
	tid = scope_tid(t);
	if (scope.tids == SCOPE_IDS_ONE && tid != scope.tid)
		return false;
	if (scope.pids == SCOPE_IDS_SET && !scope_has_pid(pid))
		return false;
	if (scope.tids == SCOPE_IDS_SET && !bpf_map_lookup_elem(&scope_tids, &tid))
		return false;
	return true;
}

/* All there is to test of an event that belongs to no task. */
static __always_inline bool scope_has_this_cpu(void)
{
	u64 cpu, word;

	if (!scope.has_cpus)
		return true;
	cpu = bpf_get_smp_processor_id();
	word = cpu / 64;
	/* 5.10 knows the range of the very register that is compared, as in hist.bpf.h. */
	barrier_var(word);
	return word < SCOPE_MAX_CPUS / 64 && scope.cpus[word] & (1ULL << (cpu % 64));
}

/* What belongs to the event (its CPU), or to what the task is just now. */
static __always_inline bool scope_now(struct task_struct *t)
{
	if (!scope_has_this_cpu())
		return false;
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

/* Either half for the subject of an event: counts the event as filtered when it is out of scope. */
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

/*
 * Children of a traced command join the set at fork and leave it when the last of the process,
 * its leader, is freed: an exiting task still waits for a CPU now and then. Pid numbers are
 * handed out in rising order (idr_alloc_cyclic), so none is used again in between.
 * Loaded only when scope.follow is set. Where counting is to begin with the command's exec, and
 * not with what the tracer's child does before it, scope.command joins then.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(scope_on_exec, struct task_struct *t)
{
	u32 pid = t->tgid;
	u8 yes = 1;
	long err;

	if (pid != scope.command)
		return 0;
	err = bpf_map_update_elem(&scope_pids, &pid, &yes, BPF_ANY);
	if (err)
		count_failed_update(err);
	scope_pids_changed();
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(scope_on_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	u8 yes = 1;
	long err;

	if (from == to || !bpf_map_lookup_elem(&scope_pids, &from))
		return 0;
	err = bpf_map_update_elem(&scope_pids, &to, &yes, BPF_ANY);
	if (err)
		count_failed_update(err);
	scope_pids_changed();
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(scope_on_free, struct task_struct *t)
{
	u32 pid = t->tgid;

	if ((u32)t->pid == pid && !bpf_map_delete_elem(&scope_pids, &pid))
		scope_pids_changed();
	return 0;
}

#endif /* TALLY_SCOPE_BPF_H */
