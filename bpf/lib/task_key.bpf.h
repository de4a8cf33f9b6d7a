/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills in a struct task_key (task_key.h) from the subject of an event. */
#ifndef TALLY_TASK_KEY_BPF_H
#define TALLY_TASK_KEY_BPF_H

#include "compat.bpf.h"
#include "scope.bpf.h"
#include "task_key.h"

const volatile u32 by = 0;      /* enum task_key_part, ORed */

/* Two loads cost less than a helper call. */
static __always_inline void task_key_typed_comm(char to[TASK_KEY_COMM_LEN], struct task_struct *typed)
{
	((u64 *)to)[0] = ((u64 *)typed->comm)[0];
	((u64 *)to)[1] = ((u64 *)typed->comm)[1];
}

static __always_inline void task_key_comm(char to[TASK_KEY_COMM_LEN], struct task_struct *t)
{
#ifdef SCOPE_UNTYPED
	if (!t && has_typed_current()) {
		task_key_typed_comm(to, bpf_get_current_task_btf());
		return;
	}
#else
#ifdef SCOPE_CURRENT
	if (has_typed_current())
#endif
	{
		task_key_typed_comm(to, t);
		return;
	}
#endif
	bpf_probe_read_kernel(to, TASK_KEY_COMM_LEN, scope_subject(t)->comm);
}

static __always_inline void task_key_of(struct task_key *key, struct task_struct *t)
{
	if (by & BY_CGROUP)
		key->cgroup = scope_cgroup_id(t);
	if (by & BY_CPU)
		key->cpu = bpf_get_smp_processor_id();
	if (by & BY_PIDNS)
		key->pidns = task_pidns(t);
	if (by & BY_UID)
		key->uid = scope_uid(t);
	if (by & BY_PID)
		key->pid = scope_tgid(t);
	if (by & BY_TID)
		key->tid = scope_tid(t);
	if (by & BY_COMM)
		task_key_comm(key->comm, t);
}

/*
 * Keys by pid or tid include the name that the task had at its last event. stamp orders the names of one key's
 * segments; any clock that is monotonic across CPUs is suitable.
 */
static __always_inline bool task_key_has_name(void)
{
	return (by & (BY_PID | BY_TID)) && !(by & BY_COMM);
}

static __always_inline void task_key_name(char name[TASK_COMM_LEN], u64 *name_stamp,
					  struct task_struct *t, u64 stamp)
{
	if (!task_key_has_name())
		return;
	*name_stamp = stamp;
#ifdef SCOPE_UNTYPED
	if (!t && !(by & BY_TID) && has_typed_current()) {
		task_key_typed_comm(name, bpf_get_current_task_btf()->group_leader);
		return;
	}
#endif
	task_key_comm(name, by & BY_TID ? t : SCOPE_GET(scope_subject(t), group_leader));
}

/* A stamp consists of ticks and, for a name that has changed, units of 64 ns. */
#define TASK_KEY_TICK_BITS 27
#define TASK_KEY_PART(now) ((now) >> 6 & ((1ULL << TASK_KEY_TICK_BITS) - 1))

/*
 * As task_key_name(), but reads no clock if the name has not changed: the tick is then sufficient. A name may change
 * twice in a tick, in the elements of two CPUs.
 */
static __always_inline void task_key_name_by_ticks(char name[TASK_COMM_LEN], u64 *name_stamp, struct task_struct *t)
{
	u64 before[2] = { ((u64 *)name)[0], ((u64 *)name)[1] }, tick, unused;

	if (!task_key_has_name())
		return;
	tick = bpf_jiffies64() << TASK_KEY_TICK_BITS;
	task_key_name(name, &unused, t, 0);
	if (((u64 *)name)[0] != before[0] || ((u64 *)name)[1] != before[1])
		*name_stamp = tick | TASK_KEY_PART(bpf_ktime_get_ns());
	else if (*name_stamp < tick)
		*name_stamp = tick;
}

#endif /* TALLY_TASK_KEY_BPF_H */
