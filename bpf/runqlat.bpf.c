// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How long tasks wait for a CPU, as histograms. What a wait is and how it is timed: wait.bpf.h. */
#include "compat.bpf.h"
#include "hist.bpf.h"
#include "runqlat.h"
#include "task_key.bpf.h"
#include "wait.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hist_whole);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader when there are keys */
	__type(key, struct runqlat_key);
	__type(value, struct hist_segment);
} keyed_waits SEC(".maps");

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
