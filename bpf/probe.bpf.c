// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The distribution of a value of an event. The filter and the value are the two functions that the
 * loader compiles from what was typed, and puts in their places.
 *
 * The kernel runs no program for a tracepoint while another one of this kind runs on the same CPU
 * (trace_call_bpf()), so nothing interrupts the adds below.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "event.bpf.h"
#include "hist.bpf.h"
#include "loss.bpf.h"
#include "probe.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hist_whole);
} values SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct probe_key);
	__type(value, struct hist_segment);
} keyed_values SEC(".maps");

static __noinline int add_keyed(u64 value)
{
	struct probe_key key = {};
	struct hist_segment *h;

	task_key_of(&key.task, NULL);
	h = hist_add_key(&keyed_values, &key.slot, value);
	if (h && task_key_has_name())
		task_key_name(h->name, &h->name_stamp, NULL, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void add(u64 value)
{
	if (by)
		add_keyed(value);
	else
		hist_add(&values, value);
}

SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	u64 value = 0;
	int verdict;

	if (!armed || !in_scope(NULL))
		return KEEP_EVENT;
	verdict = event_filter(ctx);
	if (verdict < 0)
		count_lost(LOSS_READ_FAULT);
	if (verdict == 0)
		count_filtered();
	if (verdict <= 0)
		return KEEP_EVENT;
	verdict = event_value(ctx, &value);
	if (verdict)
		count_lost(verdict < 0 ? LOSS_READ_FAULT : LOSS_NEGATIVE);
	else
		add(value);
	return KEEP_EVENT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
