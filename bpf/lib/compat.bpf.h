/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every BPF program includes this header first: kernel types, libbpf's helpers, and differences between 5.10 and the
 * newest kernel that concern more than one program. Differences that CO-RE can detect are constants at load time, and
 * the verifier drops the branch that does not apply.
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

/* include/linux/sched.h: task states (TASK_RUNNING: runnable, that is, running or waiting for a CPU) and task flags. */
#define TASK_RUNNING 0
#define TASK_INTERRUPTIBLE 0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED_OR_TRACED 0x000c
#define TASK_TRACED_BIT 0x0008
#define TASK_DEAD 0x0080
#define TASK_NOLOAD 0x0400      /* with TASK_UNINTERRUPTIBLE: an idle kernel thread */
#define PF_EXITING 0x00000004
#define PF_FORKNOEXEC 0x00000040
#define PF_KTHREAD 0x00200000

/* signal_struct.flags: the whole process is exiting (include/linux/sched/signal.h). */
#define SIGNAL_GROUP_EXIT 0x4

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

/* True if the current task is available with its type, for plain loads instead of helper calls. */
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

#include "arch.bpf.h"

/* Only idle tasks, one per CPU, have pid 0. */
static __always_inline bool is_idle(struct task_struct *t)
{
	return t->pid == 0;
}

/* True if the task started before that time (bpf_ktime_get_ns()). */
static __always_inline bool is_older_than(struct task_struct *t, u64 ns)
{
	return BPF_CORE_READ(t, start_time) < ns;
}

static __always_inline bool is_on_cpu(struct task_struct *t)
{
	return bpf_core_field_exists(t->on_cpu) && t->on_cpu;
}

/* The task's CPU, or its last one (5.16 moved the member, commit bcf9033e5449). */
static __always_inline u32 task_cpu(struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread_info.cpu))
		return t->thread_info.cpu;
	return ((struct task_struct___cpu *)t)->cpu;
}

#endif /* TALLY_COMPAT_BPF_H */
