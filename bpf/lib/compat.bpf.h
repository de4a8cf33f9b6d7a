/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every BPF program includes first: kernel types, libbpf's helpers, and the kernel
 * differences between 5.10 and the newest that more than one program meets. Differences that
 * CO-RE can see are decided by the loader as constants, and the verifier drops the other branch.
 */
#ifndef TALLY_COMPAT_BPF_H
#define TALLY_COMPAT_BPF_H

#include "vmlinux.h"

#include "syscalls.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#ifndef NULL
#define NULL ((void *)0)
#endif

/* include/uapi/asm-generic/errno-base.h, errno.h; include/linux/err.h */
#define E2BIG 7
#define EEXIST 17
#define ENOSYS 38
#define MAX_ERRNO 4095

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

/* Is the current task to be had with its type, for loads instead of calls? */
static __always_inline bool has_typed_current(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf);
}

static __always_inline struct task_struct *calling_task(void)
{
	if (has_typed_current())
		return bpf_get_current_task_btf();
	return (struct task_struct *)bpf_get_current_task();
}

/*
 * For sys_enter and sys_exit: the number of the system call, and whether it came through the native
 * entry points. The others' numbers mean other calls; the kernel's own syscall tracepoints leave them
 * out too (ARCH_TRACE_IGNORE_COMPAT_SYSCALLS). x86: TS_COMPAT is set in thread_info.status meanwhile.
 */
#if defined(__TARGET_ARCH_x86)
#define TS_COMPAT 0x0002

/* t: calling_task(). */
static __always_inline bool in_native_syscall_of(struct task_struct *t)
{
	if (has_typed_current())
		return !(t->thread_info.status & TS_COMPAT);
	return !(BPF_CORE_READ(t, thread_info.status) & TS_COMPAT);
}

static __always_inline bool in_native_syscall(void)
{
	return in_native_syscall_of(calling_task());
}

/* The table that the number of the current task's system call is from. */
static __always_inline enum syscall_abi current_syscall_abi(void)
{
	return in_native_syscall() ? SYSCALL_NATIVE : SYSCALL_COMPAT;
}

static __always_inline long syscall_of(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_ax);
}

/* The same, and the arguments of a native call, where regs is typed (tp_btf): plain loads. */
static __always_inline u64 syscall_number(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline void syscall_arguments(const struct pt_regs *regs, u64 arg[6])
{
	arg[0] = regs->di;
	arg[1] = regs->si;
	arg[2] = regs->dx;
	arg[3] = regs->r10;
	arg[4] = regs->r8;
	arg[5] = regs->r9;
}

/* The same of a 32-bit one. */
static __always_inline void compat_syscall_arguments(const struct pt_regs *regs, u64 arg[6])
{
	arg[0] = (u32)regs->bx;
	arg[1] = (u32)regs->cx;
	arg[2] = (u32)regs->dx;
	arg[3] = (u32)regs->si;
	arg[4] = (u32)regs->di;
	arg[5] = (u32)regs->bp;
}

/* The same of a task that is on no CPU. */
static __always_inline enum syscall_abi task_syscall_abi(struct task_struct *t)
{
	return t->thread_info.status & TS_COMPAT ? SYSCALL_COMPAT : SYSCALL_NATIVE;
}

/*
 * The registers a task came into the kernel with. Before there was a helper for it they were at the
 * upper end of its stack of 16 KiB (THREAD_SIZE without KASAN).
 */
static __always_inline struct pt_regs *regs_on_stack(void *stack)
{
	return (struct pt_regs *)((char *)stack + (16 << 10) - bpf_core_type_size(struct pt_regs));
}

static __always_inline struct pt_regs *task_user_regs(struct task_struct *t)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (struct pt_regs *)bpf_task_pt_regs(t);
	return regs_on_stack(t->stack);
}

/* The same of the current task, which may have no type. */
static __always_inline struct pt_regs *current_user_regs(void)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return regs_on_stack(BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), stack));
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

/* Likewise of a function of user space: the n-th of its first three arguments, what it returned. */
static __always_inline u64 call_argument(struct pt_regs *regs, u32 n)
{
	return n == 0 ? regs->di : n == 1 ? regs->si : regs->dx;
}

static __always_inline u64 return_value(struct pt_regs *regs)
{
	return regs->ax;
}

/* By how much a function's return leaves the stack pointer higher than it was at its entry. */
#define RETURN_POPS 8
#endif

/* The idle tasks, one per CPU, are the only ones with pid 0. */
static __always_inline bool is_idle(struct task_struct *t)
{
	return t->pid == 0;
}

/* Was the task there before that time, of bpf_ktime_get_ns()? */
static __always_inline bool is_older_than(struct task_struct *t, u64 ns)
{
	return BPF_CORE_READ(t, start_time) < ns;
}

/* The CPU a task is on, or was last (5.16 moved it, commit bcf9033e5449). */
static __always_inline u32 task_cpu(struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread_info.cpu))
		return t->thread_info.cpu;
	return ((struct task_struct___cpu *)t)->cpu;
}

#endif /* TALLY_COMPAT_BPF_H */
