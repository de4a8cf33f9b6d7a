/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Filling records of what the scheduler did (switches.h). */
#ifndef TALLY_SWITCHES_BPF_H
#define TALLY_SWITCHES_BPF_H

#include "compat.bpf.h"
#include "ring.bpf.h"
#include "switches.h"

static __always_inline void begin_record(struct switches_record *r, u32 kind)
{
	r->time_ns = bpf_ktime_get_ns();
	r->kind = kind;
	r->cpu = bpf_get_smp_processor_id();
}

/* NULL when there is no room: counted. */
static __always_inline struct switches_record *new_record(u32 kind)
{
	struct switches_record *r = ring_reserve(struct switches_record);

	if (r)
		begin_record(r, kind);
	return r;
}

static __always_inline void fill_task(struct switches_task *out, struct task_struct *t)
{
	out->pid = t->tgid;
	out->tid = t->pid;
	bpf_probe_read_kernel(out->comm, sizeof(out->comm), t->comm);
}

/* In a program of sched_switch that is the task that leaves. */
static __always_inline void fill_current(struct switches_task *out)
{
	u64 id = bpf_get_current_pid_tgid();

	out->pid = id >> 32;
	out->tid = id;
	bpf_get_current_comm(out->comm, sizeof(out->comm));
}

#endif /* TALLY_SWITCHES_BPF_H */
