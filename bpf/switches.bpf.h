/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ring buffer of single events (switches.h), and filling records. */
#ifndef TALLY_SWITCHES_BPF_H
#define TALLY_SWITCHES_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "switches.h"

/* Kernel ABI (include/uapi/linux/bpf.h). */
#define BPF_RB_NO_WAKEUP 1
#define BPF_RB_FORCE_WAKEUP 2
#define BPF_RB_AVAIL_DATA 0

/* The reader is woken when so many bytes wait for it. It looks by itself now and then, too. */
const volatile u64 wake_bytes = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);      /* set by the loader */
} records SEC(".maps");

/* NULL when there is no room: counted. */
static __always_inline struct switches_record *new_record(u32 kind)
{
	struct switches_record *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);

	if (!r) {
		count_lost(LOSS_RING_FULL);
		return NULL;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->time_ns = bpf_ktime_get_ns();
	r->kind = kind;
	r->cpu = bpf_get_smp_processor_id();
	return r;
}

/*
 * A reader woken for each record would be switched to for each switch it is told of. It is woken
 * where the buffer fills up, and has a timer for the rest.
 */
static __always_inline void submit_record(struct switches_record *r)
{
	bool full = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= wake_bytes;

	bpf_ringbuf_submit(r, full ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
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
