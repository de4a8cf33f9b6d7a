/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects whether a program runs in an interrupt. If so, the current task did not cause the event: it was interrupted.
 *
 * The kernel's preempt_count holds the answer. On arm64 it is in the thread_info of the current task. On x86 it is a
 * per-CPU variable: __preempt_count, and from 6.2 to 6.14 a member of pcpu_hot (commits 64701838bf05 and 46e8fff6d45f).
 * The verifier takes the address of such a variable only on kernels with CONFIG_KALLSYMS_ALL. So the variable is found
 * by its distance from the CPU's run queue, to which each task has a pointer (CONFIG_FAIR_GROUP_SCHED).
 *
 * The loader (user/host/interrupt.h) sets knows_interrupts and, on x86, the distance.
 */
#ifndef TALLY_INTERRUPT_BPF_H
#define TALLY_INTERRUPT_BPF_H

#include "compat.bpf.h"

/* include/linux/preempt.h */
#define IN_SOFTIRQ 0x00000100 /* a softirq runs, as opposed to being disabled */
#define IN_HARDIRQ 0x000f0000
#define IN_NMI 0x00f00000

const volatile bool knows_interrupts = false;
const volatile s64 count_from_queue = 0; /* bytes from runqueues to __preempt_count, or to pcpu_hot */

#if defined(__TARGET_ARCH_x86)

static __always_inline u32 preempt_count_now(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	u64 queue, place = count_from_queue;
	u32 count = 0;

	if (!knows_interrupts || !bpf_core_field_exists(t->se.cfs_rq) || !bpf_core_field_exists(t->se.cfs_rq->rq))
		return 0;
	queue = (u64)BPF_CORE_READ(t, se.cfs_rq, rq);
	if (bpf_core_type_exists(struct pcpu_hot))
		place += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	bpf_probe_read_kernel(&count, sizeof(count), (void *)(queue + place));
	return count;
}

#elif defined(__TARGET_ARCH_arm64)

static __always_inline u32 preempt_count_now(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ(t, thread_info.preempt_count);
}

#endif

#endif /* TALLY_INTERRUPT_BPF_H */
