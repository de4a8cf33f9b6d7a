// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Waits for a CPU (wait.bpf.h) of at least min_ns, each with the task that had the CPU before. */
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "switches.bpf.h"
#include "wait.bpf.h"

const volatile u64 min_ns = 0;

static __always_inline void wait_ended(struct task_struct *t, u64 wait_ns, u64 now)
{
	struct switches_record *r;

	if (wait_ns < min_ns)
		return;
	r = new_record(SWITCHES_WAIT);
	if (!r)
		return;
	fill_task(&r->task, t);
	fill_current(&r->other);
	r->wait_ns = wait_ns;
	ring_submit(r);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
