/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machine-dependent code; only the files included here name registers. Each machine has its own file, which defines
 *
 *   is_native_of(t)                    true if the caller's own task is in a native system call
 *   task_syscall_abi(t)                the system call table of a task that is not on a CPU
 *   syscall_of(regs)                   the system call number
 *   syscall_number(regs), syscall_arguments(regs, arg), compat_syscall_arguments(regs, arg)
 *                                      the number and all arguments, by plain loads: regs must be typed (tp_btf)
 *   syscall_argument(regs, n), compat_syscall_argument(regs, n)
 *                                      one of the arguments, from registers at any kernel address
 *   instruction_pointer(regs), stack_pointer(regs), call_argument(regs, n), return_value(regs)
 *                                      from the context of a kprobe or uprobe program: the two pointers, one of the
 *                                      first three arguments of a user function, and its result
 *   GOROUTINE_AT                       offset in struct saved_regs of the register that holds the goroutine (struct g)
 *                                      in Go code
 *   is_32_bit(regs)                    true if the registers belong to a 32-bit program
 *   RETURN_POPS                        number of bytes by which a return raises the stack pointer above its value at
 *                                      the entry
 *   return_link(regs)                  the return address, if it is in a register (RETURNS_BY_LINK)
 *   struct saved_regs                  the registers in user space's layout. Contexts of perf events, kprobes and
 *                                      uprobes begin with it; it is ABI, so no kernel can move a member
 *   context_is_user(saved)             true for user mode registers, false for those of an interrupted kernel
 *   regs_of_context(r, saved)          sets the registers that a stack walk starts with, from a context
 *   regs_of_task(r, saved)             the same, from registers at that kernel address. Both return false if the
 *                                      registers do not belong to a 64-bit program
 *   regs_are_users(saved)              true if registers at that kernel address belong to a user program; threads that
 *                                      the kernel itself started have none
 *   thread_pointer(t)                  the task's thread pointer where that equals pthread_self(), else 0
 *   code_address(value)                a return address without its signature bits
 */
#ifndef TALLY_ARCH_BPF_H
#define TALLY_ARCH_BPF_H

#include "walk_regs.h"

#if defined(__TARGET_ARCH_x86)
#include "arch_x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arch_arm64.bpf.h"
#endif

/*
 * For sys_enter and sys_exit: true if the system call came through a native entry point. Numbers of other calls belong
 * to another table; the kernel's own syscall tracepoints skip them too (ARCH_TRACE_IGNORE_COMPAT_SYSCALLS).
 */
static __always_inline bool in_native_syscall(void)
{
	return is_native_of(calling_task());
}

/* The table that the current task's system call number refers to. */
static __always_inline enum syscall_abi current_syscall_abi(void)
{
	return in_native_syscall() ? SYSCALL_NATIVE : SYSCALL_COMPAT;
}

/*
 * The registers with which a task entered the kernel. On kernels without bpf_task_pt_regs(), they are at the upper end
 * of the task's 16 KiB stack (THREAD_SIZE without KASAN).
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

/* As task_user_regs(), for the current task, which may be untyped. */
static __always_inline struct pt_regs *current_user_regs(void)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return regs_on_stack(BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), stack));
}

/*
 * The number of the system call that a task is in. bpf_task_pt_regs() returns a typed pointer, so a plain load replaces
 * a call of bpf_probe_read_kernel().
 */
static __always_inline u32 task_syscall_number(struct task_struct *t)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return syscall_number((struct pt_regs *)bpf_task_pt_regs(t));
	return syscall_of(regs_on_stack(t->stack));
}

/* As task_syscall_number(), for the current task. current_syscall_argument() returns an argument of that call. */
static __always_inline u32 current_syscall_number(void)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return syscall_number((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));
	return syscall_of(current_user_regs());
}

static __always_inline u64 current_syscall_argument(u32 n)
{
	return syscall_argument(current_user_regs(), n);
}

#endif /* TALLY_ARCH_BPF_H */
