// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How long tasks wait for a CPU, as histograms. wait.bpf.h defines and times waits. */
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "runqlat.h"
#include "task_key.bpf.h"
#include "wait.bpf.h"

HIST_MAPS(waits, struct runqlat_key);

static __always_inline void wait_ended(struct task_struct *t, u64 wait_ns, u64 now)
{
	struct runqlat_key key = {};
	struct hist_segment *h;

	if (!by) {
		hist_add(&waits, wait_ns);
		return;
	}
	task_key_of(&key.task, t);
	h = hist_add_key(&keyed_waits, &key.slot, wait_ns);
	if (h)
		task_key_name(h->name, &h->name_stamp, t, now);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
