/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of system calls, syscalls:sys_enter_NAME and sys_exit_NAME, for programs with compiled
 * functions (event.bpf.h). All of them are two tracepoints; opening and closing the perf events of
 * hundreds of them takes half a minute.
 *
 * A copy of a template serves all calls whose compiled functions are the same (user/event/attach.h):
 *
 *   SYSCALL_SLOTS(slots)
 *   ON_SYSCALL_ENTER(NAME, slots, handle, ...)      handle(record, slot, ...) is called for each
 *   ON_SYSCALL_EXIT(NAME, slots, handle, ...)
 *
 * ctx may be among the further arguments: the program's context, where stacks are walked from.
 */
#ifndef TALLY_SYSCALL_EVENT_BPF_H
#define TALLY_SYSCALL_EVENT_BPF_H

#include "compat.bpf.h"
#include "event.bpf.h"
#include "preempt.bpf.h"
#include "syscalls.h"

/* At the copy's number * SYSCALL_NUMBERS + number of the call: slot + 1; 0 where it is not asked for. */
#define SYSCALL_SLOTS(name)                                                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(max_entries, 1); /* set by the loader */                                    \
		__type(key, u32);                                                                  \
		__type(value, u32);                                                                \
	} name SEC(".maps");

/* What the record of such a tracepoint holds, where compiled functions look for it. */
struct syscall_record {
	u64 common;             /* of all tracepoints: out of their reach there, and here */
	s64 number;
	u64 value[6];           /* arguments, or the result */
};

static __always_inline s64 syscall_slot(void *slots, u64 number)
{
	u32 at = event_slot() * SYSCALL_NUMBERS + number, *slot;

	if (number >= SYSCALL_NUMBERS)
		return -1;
	slot = bpf_map_lookup_elem(slots, &at);
	return slot && *slot && in_native_syscall() ? (s64)*slot - 1 : -1;
}

#define ON_SYSCALL_ENTER(name, slots, handle, ...)                                                 \
	SEC("tp_btf/sys_enter")                                                                    \
	int UNPREEMPTED_PROG(name, struct pt_regs *regs, long number)                                      \
	{                                                                                          \
		s64 slot = syscall_slot(&slots, number);                                           \
		struct syscall_record record;                                                      \
                                                                                                   \
		if (slot < 0)                                                                      \
			return 0;                                                                  \
		record.number = number;                                                            \
		syscall_arguments(regs, record.value);                                             \
		handle(&record, slot, ##__VA_ARGS__);                                              \
		return 0;                                                                          \
	}

#define ON_SYSCALL_EXIT(name, slots, handle, ...)                                                  \
	SEC("tp_btf/sys_exit")                                                                     \
	int UNPREEMPTED_PROG(name, struct pt_regs *regs, long result)                                      \
	{                                                                                          \
		u64 number = syscall_number(regs);                                                 \
		s64 slot = syscall_slot(&slots, number);                                           \
		struct syscall_record record;                                                      \
                                                                                                   \
		if (slot < 0)                                                                      \
			return 0;                                                                  \
		record.number = number;                                                            \
		record.value[0] = result;                                                          \
		handle(&record, slot, ##__VA_ARGS__);                                              \
		return 0;                                                                          \
	}

#endif /* TALLY_SYSCALL_EVENT_BPF_H */
