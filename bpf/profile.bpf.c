// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where CPU time goes: a timer on each CPU looks many times a second at what runs there, and counts
 * by its stack. The subject is the task that is interrupted.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "profile.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"

const volatile u32 take = STACK_KERNEL | STACK_USER;    /* enum stack_flags */
const volatile bool with_idle = false;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct profile_samples);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct stack_key);
	__type(value, struct stack_count);
} counts SEC(".maps");

static __always_inline void count_sample(bool idle)
{
	u32 zero = 0;
	struct profile_samples *s = bpf_map_lookup_elem(&samples, &zero);

	if (!s)
		return;
	s->taken++;
	if (idle)
		s->idle++;
}

SEC("perf_event")
int on_sample(void *ctx)
{
	bool idle = !(u32)bpf_get_current_pid_tgid();
	struct stack_key key = {};

	if (!armed)
		return 0;
	count_sample(idle);
	if (idle && !with_idle)
		return 0;
	if (!in_scope(NULL))
		return 0;
	task_key_of(&key.task, NULL);
	stack_take(&key.stack, ctx, take);
	if (key.stack.tgid)
		stack_see();
	stack_add(&counts, &key, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
