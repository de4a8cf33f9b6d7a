/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every BPF program includes first: kernel types, libbpf's helpers, and the kernel
 * differences between 5.10 and the newest that more than one program meets. Differences that
 * CO-RE can see are decided by the loader as constants, and the verifier drops the other branch.
 */
#ifndef TALLY_COMPAT_BPF_H
#define TALLY_COMPAT_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#ifndef NULL
#define NULL ((void *)0)
#endif

/* include/uapi/asm-generic/errno-base.h */
#define E2BIG 7

#define TASK_COMM_LEN 16

/* include/linux/sched.h: a runnable task, whether it runs or waits for a CPU. */
#define TASK_RUNNING 0

/*
 * The state of a task. 5.14 renamed task_struct.state to __state and made it an unsigned int
 * (commit 2f064a59a11f).
 */
static __always_inline u32 task_run_state(struct task_struct *t)
{
	if (bpf_core_field_exists(t->__state))
		return t->__state;
	return (u32)((struct task_struct___state *)t)->state;
}

/*
 * For sys_enter and sys_exit: the number of the system call, and whether it came through the native
 * entry points. The others' numbers mean other calls; the kernel's own syscall tracepoints leave them
 * out too (ARCH_TRACE_IGNORE_COMPAT_SYSCALLS). x86: TS_COMPAT is set in thread_info.status meanwhile.
 */
#if defined(__TARGET_ARCH_x86)
#define TS_COMPAT 0x0002

static __always_inline bool in_native_syscall(void)
{
	struct task_struct *t;

	/* A typed pointer to the current task: a load instead of a call. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
		t = bpf_get_current_task_btf();
		return !(t->thread_info.status & TS_COMPAT);
	}
	t = (struct task_struct *)bpf_get_current_task();
	return !(BPF_CORE_READ(t, thread_info.status) & TS_COMPAT);
}

static __always_inline long syscall_of(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_ax);
}

/* Of the context of a program on a kprobe or uprobe. */
static __always_inline u64 instruction_pointer(struct pt_regs *regs)
{
	return regs->ip;
}

static __always_inline u64 stack_pointer(struct pt_regs *regs)
{
	return regs->sp;
}
#endif

/* The idle tasks, one per CPU, are the only ones with pid 0. */
static __always_inline bool is_idle(struct task_struct *t)
{
	return t->pid == 0;
}

#endif /* TALLY_COMPAT_BPF_H */
