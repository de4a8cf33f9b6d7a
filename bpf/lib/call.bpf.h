/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The system calls a tool is about, native and 32-bit, in tp_btf programs of sys_enter and
 * sys_exit. At sys_exit the arguments still stand where the caller put them, unless the call itself
 * changed them (a successful exec), and the kernel has just read what they point to.
 */
#ifndef TALLY_CALL_BPF_H
#define TALLY_CALL_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "syscalls.h"

/* Which of its calls a number is to the tool; 0: none. Set by the loader (user/run/snoop.h). */
const volatile u8 calls[SYSCALL_ABIS][SYSCALL_NUMBERS] = {};

/* Before anything is attached; written by the loader. Calls that begin later are seen to. */
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

/* Most calls are others: known from the number. False for those; c->arg is to be asked for. */
static __always_inline bool call_of(struct call *c, struct pt_regs *regs)
{
	u64 nr = (u32)regs->orig_ax;

	/* 5.10 knows the range of the very register that is compared. */
	barrier_var(nr);
	if (nr >= SYSCALL_NUMBERS || !(calls[SYSCALL_NATIVE][nr] | calls[SYSCALL_COMPAT][nr]))
		return false;
	c->compat = !in_native_syscall();
	c->which = c->compat ? calls[SYSCALL_COMPAT][nr] : calls[SYSCALL_NATIVE][nr];
	return c->which;
}

/*
 * A call of the current task ends whose begin was not seen. If it is the first call of the task that
 * we see anything of, and the task was there before the run, then so was the call; else its begin
 * has been hidden from us. Counts either; true: it began before.
 */
static __always_inline bool call_began_before(bool is_first)
{
	if (!is_first || !is_older_than(calling_task(), began_ns)) {
		count_lost(LOSS_UNMATCHED);
		return false;
	}
	count_begun_before();
	return true;
}

/*
 * Reads a text of the caller, with its NUL. Returns its length, which is size where it was cut, or
 * a negative errno. Some kernels (5.10) say 0 for an empty text. No branch: this stands in loops.
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
