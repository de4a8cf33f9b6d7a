/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of system calls, syscalls:sys_enter_NAME and sys_exit_NAME, for programs with compiled functions
 * (event.bpf.h). Two tracepoints serve all of these events, because opening and closing perf events for hundreds of
 * them takes half a minute.
 *
 * One copy of a template serves all calls that have the same compiled functions (user/event/attach.h):
 *
 *   SYSCALL_SLOTS(slots)
 *   ON_SYSCALL_ENTER(NAME, slots, handle, ...)      calls handle(record, slot, ...) for each event
 *   ON_SYSCALL_EXIT(NAME, slots, handle, ...)
 *
 * The further arguments may include ctx: the program's context, from which stacks are walked.
 */
#ifndef TALLY_SYSCALL_EVENT_BPF_H
#define TALLY_SYSCALL_EVENT_BPF_H

#include "compat.bpf.h"
#include "event.bpf.h"
#include "preempt.bpf.h"
#include "syscalls.h"

/* Index: number of the copy * SYSCALL_NUMBERS + number of the call. Value: slot + 1; 0 if not requested. */
#define SYSCALL_SLOTS(name)                                                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(max_entries, 1); /* set by the loader */                                    \
		__type(key, u32);                                                                  \
		__type(value, u32);                                                                \
	} name SEC(".maps");

/* The layout of the record of such a tracepoint, as compiled functions see it. */
struct syscall_record {
	u64 common;             /* common to all tracepoints; programs on tracepoints cannot read it either */
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
	SEC("?tp_btf/sys_enter")                                                                   \
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
	SEC("?tp_btf/sys_exit")                                                                    \
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
