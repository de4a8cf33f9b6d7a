/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs and preemption.
 *
 * Per-CPU data of a program (scratch memory, a histogram's buckets) is exclusive only as long as no other task runs a
 * program on that CPU. The kernel disables preemption for programs on interrupts, in the scheduler, and on kprobes. On
 * other hooks the kernel no longer disables it:
 *
 *   fentry, fexit        preemptible since 5.12 (commit ca06f55b9002)
 *   uprobes, USDT        since 6.0 (commit 8c7dcb84e3b7)
 *   tracepoints          if reached with preemption enabled: since 7.0 (commit a46023d5616e)
 *   iterators            always; only the loader runs them
 *
 * Since 6.13 the stack frame of a BPF function that takes 64 bytes or more is per CPU as well (commit a76ab5731e32). On
 * tracepoints and fentry the kernel skips a program that is already running on the CPU, so its stack is safe; on
 * uprobes the kernel does not skip it.
 *
 * So each program on such a hook disables preemption before it puts anything on its stack. tests/live/test_preempt.py
 * checks this in all objects:
 *
 *   int UNPREEMPTED_PROG(NAME, ARGUMENTS...)     replaces BPF_PROG(), on a tracepoint
 *   int UNPREEMPTED(SINCE, NAME, TYPE, CONTEXT)  elsewhere; SINCE is an enum preempt_since
 *
 * bpf_preempt_disable() needs 6.10, and 6.18 around a call of a global function. On older kernels, programs add
 * atomically and claim per-CPU memory:
 *
 *   claim_alone(&holders)  true: the memory belongs to the caller alone, until
 *   give_up_claim(&holders)
 */
#ifndef TALLY_PREEMPT_BPF_H
#define TALLY_PREEMPT_BPF_H

#include "compat.bpf.h"

/* Filled in by libbpf. It is a constant to the verifier, which drops branches for other kernels. */
extern unsigned int LINUX_KERNEL_VERSION __kconfig;

extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

/* The first kernel on which a program both must and can disable preemption. */
enum preempt_since {
	PREEMPT_TRACEPOINT = KERNEL_VERSION(7, 0, 0),
	PREEMPT_FUNCTION = KERNEL_VERSION(6, 10, 0),
	PREEMPT_GLOBAL = KERNEL_VERSION(6, 18, 0),      /* a function that calls global ones */
	PREEMPT_ATOMIC = ~0U,             /* never: the program only does one atomic add */
};

static __always_inline void preempt_off(enum preempt_since since)
{
	if (LINUX_KERNEL_VERSION >= since && bpf_preempt_disable)
		bpf_preempt_disable();
}

static __always_inline void preempt_on(enum preempt_since since)
{
	if (LINUX_KERNEL_VERSION >= since && bpf_preempt_enable)
		bpf_preempt_enable();
}

/* Like libbpf's BPF_PROG(). */
#define UNPREEMPTED_PROG(name, args...)                                                            \
	name(unsigned long long *ctx);                                                             \
	static __always_inline int unpreempted_##name(unsigned long long *ctx, ##args);            \
	int name(unsigned long long *ctx)                                                          \
	{                                                                                          \
		preempt_off(PREEMPT_TRACEPOINT);                                                   \
		_Pragma("GCC diagnostic push")                                                     \
		_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")                             \
		unpreempted_##name(___bpf_ctx_cast(args));                                         \
		_Pragma("GCC diagnostic pop")                                                      \
		preempt_on(PREEMPT_TRACEPOINT);                                                    \
		return 0;                                                                          \
	}                                                                                          \
	static __always_inline int unpreempted_##name(unsigned long long *ctx, ##args)

#define UNPREEMPTED(since, name, type, context)                                                    \
	name(type context);                                                                        \
	static __always_inline int unpreempted_##name(type context);                               \
	int name(type context)                                                                     \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		preempt_off(since);                                                                \
		result = unpreempted_##name(context);                                              \
		preempt_on(since);                                                                 \
		return result;                                                                     \
	}                                                                                          \
	static __always_inline int unpreempted_##name(type context)

/*
 * Claims memory that tasks and interrupts on one CPU may claim in any order. A claimant that sees a count of one after
 * adding itself is alone: later claimants see two. If two claimants add at the same instant, both may fail. Needs no
 * atomic instruction that returns a value, which kernels before 5.12 lack.
 */
static __always_inline bool claim_alone(u64 *holders)
{
	__sync_fetch_and_add(holders, 1);
	if (*(volatile u64 *)holders == 1)
		return true;
	__sync_fetch_and_add(holders, -1);
	return false;
}

static __always_inline void give_up_claim(u64 *holders)
{
	__sync_fetch_and_add(holders, -1);
}

#endif /* TALLY_PREEMPT_BPF_H */
