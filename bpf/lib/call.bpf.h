/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The system calls a tool traces, native and 32-bit, for tp_btf programs on sys_enter and sys_exit. At sys_exit the
 * argument registers still hold the caller's values, unless the call itself changed them (a successful exec), and
 * the kernel has just read the memory they point to.
 */
#ifndef TALLY_CALL_BPF_H
#define TALLY_CALL_BPF_H

#include "answered.bpf.h"
#include "compat.bpf.h"
#include "loss.bpf.h"
#include "syscalls.h"

/* The tool's own number for each system call; 0 if not traced. Set by the loader (user/run/snoop.h). */
const volatile u8 calls[SYSCALL_ABIS][SYSCALL_NUMBERS] = {};

/* A time before any program was attached; set by the loader. Every call that begins later is seen. */
u64 began_ns = 0;

struct call {
	u64 arg[4];
	u32 which;
	bool compat;
};

static __always_inline void call_arguments(struct call *c, struct pt_regs *regs)
{
	u64 arg[6];
	int i;

	if (c->compat)
		compat_syscall_arguments(regs, arg);
	else
		syscall_arguments(regs, arg);
	for (i = 0; i < 4; i++)
		c->arg[i] = arg[i];
}

static __always_inline bool call_numbered(struct call *c, u64 nr)
{
	/* The verifier of 5.10 knows the range only of the register that was compared. */
	barrier_var(nr);
	if (nr >= SYSCALL_NUMBERS || !(calls[SYSCALL_NATIVE][nr] | calls[SYSCALL_COMPAT][nr]))
		return false;
	c->compat = !in_native_syscall();
	c->which = c->compat ? calls[SYSCALL_COMPAT][nr] : calls[SYSCALL_NATIVE][nr];
	return c->which;
}

/*
 * Returns false for calls that are not traced; most are rejected by their number alone. If true, the caller must fetch
 * c->arg (call_arguments()).
 */
static __always_inline bool call_of(struct call *c, struct pt_regs *regs)
{
	return call_numbered(c, (u32)syscall_number(regs));
}

/*
 * As call_of(), for hooks other than sys_enter and sys_exit: the call that the current task is in, with its arguments.
 */
static __always_inline bool call_now(struct call *c)
{
	struct pt_regs *regs;
	int i;

	if (!call_numbered(c, current_syscall_number()))
		return false;
	regs = current_user_regs();
#pragma unroll
	for (i = 0; i < 4; i++)
		c->arg[i] = c->compat ? compat_syscall_argument(regs, i) : syscall_argument(regs, i);
	return true;
}

/* True if a task that is not on a CPU may be in a traced call. Looks up its number in both tables. */
static __always_inline bool call_may_be_of(struct task_struct *t)
{
	u64 nr = task_syscall_number(t);

	barrier_var(nr);
	return nr < SYSCALL_NUMBERS && (calls[SYSCALL_NATIVE][nr] | calls[SYSCALL_COMPAT][nr]);
}

enum call_without_entry {
	CALL_LOST,              /* the entry was missed */
	CALL_BEGAN_BEFORE,      /* it began before the run */
	CALL_ANSWERED,          /* see answered.bpf.h */
};

/*
 * Called when the current task ends a call whose entry was not seen. If this is the first call seen of the task, and
 * the task is older than the run, the call began before the run. Counts the call accordingly.
 */
static __always_inline enum call_without_entry call_without_entry(bool is_first)
{
	if (is_first && is_older_than(calling_task(), began_ns)) {
		count_begun_before();
		return CALL_BEGAN_BEFORE;
	}
	if (may_be_answered()) {
		count_answered();
		return CALL_ANSWERED;
	}
	count_lost(LOSS_UNMATCHED);
	return CALL_LOST;
}

/*
 * Reads a user string including its NUL. Returns its length, which is size if the string was truncated, or a negative
 * errno. Some kernels (5.10) return 0 for an empty string. Branch-free, for use in loops.
 */
static __always_inline long read_user_text(char *to, u32 size, u64 from)
{
	u64 n;

	*to = 0;
	n = bpf_probe_read_user_str(to, size, (void *)from);
	barrier_var(n);
	return n + (~(n | -n) >> 63);
}

#endif /* TALLY_CALL_BPF_H */
