/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills in records of scheduler events (switches.h). */
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

/* Returns NULL if there is no room, which is counted as lost. */
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

/* In a program on sched_switch, the current task is the one that leaves the CPU. */
static __always_inline void fill_current(struct switches_task *out)
{
	u64 id = bpf_get_current_pid_tgid();

	out->pid = id >> 32;
	out->tid = id;
	bpf_get_current_comm(out->comm, sizeof(out->comm));
}

#endif /* TALLY_SWITCHES_BPF_H */
