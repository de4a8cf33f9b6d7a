/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs and preemption.
 *
 * What a program keeps per CPU (scratch memory, a histogram's buckets) is its own only as long as no other
 * task runs a program there. The kernel keeps preemption off on interrupts, in the scheduler, and on
 * kprobes; elsewhere it once did:
 *
 *   fentry, fexit        preemptible since 5.12 (commit ca06f55b9002)
 *   uprobes, USDT        since 6.0 (commit 8c7dcb84e3b7)
 *   tracepoints          that tasks pass with preemption on: since 7.0 (commit a46023d5616e)
 *   iterators            always; only the loader runs them
 *
 * Since 6.13 there is one more thing per CPU: the stack of a function of a program that takes 64 bytes or
 * more of it (commit a76ab5731e32). On tracepoints and fentry the kernel skips a program that is running on the CPU
 * already, so that nobody else comes upon its stack; on uprobes it does not.
 *
 * So each program on such a hook keeps preemption off while it works, first thing, before it has anything
 * on its stack; tests/live/test_preempt.py looks into all objects for it:
 *
 *   int UNPREEMPTED_PROG(NAME, ARGUMENTS...)     in the place of BPF_PROG(), on a tracepoint
 *   int UNPREEMPTED(SINCE, NAME, TYPE, CONTEXT)  elsewhere; SINCE is an enum preempt_since
 *
 * Before 6.10 that cannot be had (bpf_preempt_disable()), and before 6.18 not around a call of a global
 * function. There numbers are added atomically, and memory of the CPU is claimed:
 *
 *   claim_alone(&holders)  true: it is the caller's alone, until
 *   give_up_claim(&holders)
 */
#ifndef TALLY_PREEMPT_BPF_H
#define TALLY_PREEMPT_BPF_H

#include "compat.bpf.h"

/* Filled in by libbpf: a constant for the verifier, which drops what is not for this kernel. */
extern unsigned int LINUX_KERNEL_VERSION __kconfig;

extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

/* The kernel from which on a program has to, and can, keep preemption off. */
enum preempt_since {
	PREEMPT_TRACEPOINT = KERNEL_VERSION(7, 0, 0),
	PREEMPT_FUNCTION = KERNEL_VERSION(6, 10, 0),
	PREEMPT_GLOBAL = KERNEL_VERSION(6, 18, 0),      /* on a function, with calls of global ones */
	PREEMPT_ATOMIC = ~0U,             /* never: nothing is done but one atomic add */
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
 * For what tasks on one CPU, and interrupts, claim in any order. Who finds himself alone after he has come
 * is alone: whoever comes later finds two. Of two that come at the same instant neither may be. Instructions that
 * return what they added to are not for kernels before 5.12; these are.
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
