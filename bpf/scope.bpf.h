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

#define SCOPE_CONTROLLER(wanted, ssid)                                                             \
	case wanted:                                                                               \
		if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, ssid))                      \
			return NULL;                                                               \
		index = bpf_core_enum_value(enum cgroup_subsys_id, ssid);                          \
		break

/* The cgroup of a task in the hierarchy asked for; NULL where the kernel has no such controller. */
static __always_inline struct cgroup *scope_cgroup(struct task_struct *t)
{
	struct cgroup_subsys_state *css = NULL;
	u32 index = 0;

	switch (scope.hierarchy) {
	case SCOPE_CGROUP_V2:
		return t->cgroups->dfl_cgrp;
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
	if (bpf_core_read(&css, sizeof(css), &t->cgroups->subsys[index]))
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
	struct pid *pid = t->thread_pid;
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

	bpf_probe_read_kernel(comm, sizeof(comm), t->comm);
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
	u32 pid = t->tgid, tid;

	if (scope.exclude_tgid && pid == scope.exclude_tgid)
		return false;
	if (scope.pids == SCOPE_IDS_ONE && pid != scope.pid)
		return false;
	tid = t->pid;
	if (scope.tids == SCOPE_IDS_ONE && tid != scope.tid)
		return false;
	if (scope.pids == SCOPE_IDS_SET && !bpf_map_lookup_elem(&scope_pids, &pid))
		return false;
	if (scope.tids == SCOPE_IDS_SET && !bpf_map_lookup_elem(&scope_tids, &tid))
		return false;
	return true;
}

/* What belongs to the event (its CPU), or to what the task is just now. */
static __always_inline bool scope_now(struct task_struct *t)
{
	u64 cpu, word;

	if (scope.has_cpus) {
		cpu = bpf_get_smp_processor_id();
		word = cpu / 64;
		/* 5.10 knows the range of the very register that is compared, as in hist.bpf.h. */
		barrier_var(word);
		if (word >= SCOPE_MAX_CPUS / 64 || !(scope.cpus[word] & (1ULL << (cpu % 64))))
			return false;
	}
	if (scope.has_uid && t->cred->uid.val != scope.uid)
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
 * Loaded only when scope.follow is set.
 */
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
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(scope_on_free, struct task_struct *t)
{
	u32 pid = t->tgid;

	if ((u32)t->pid == pid)
		bpf_map_delete_elem(&scope_pids, &pid);
	return 0;
}

#endif /* TALLY_SCOPE_BPF_H */
