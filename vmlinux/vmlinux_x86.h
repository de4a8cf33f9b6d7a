/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel types of x86: part of vmlinux.h, whose rules hold here, too. */
#ifndef TALLY_VMLINUX_X86_H
#define TALLY_VMLINUX_X86_H

struct thread_info {
	u32 status;
	u32 cpu; /* optional: 5.16, commit bcf9033e5449 */
};

struct thread_struct {
	unsigned long fsbase; /* optional: x86-64 */
};

struct pcpu_hot { /* optional: 6.2, commit 64701838bf05, to 6.14 */
	int preempt_count;
};

/* Registers as the entry code saved them. */
struct pt_regs {
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long bx;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long bp;
	unsigned long ax;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long sp;
};

#endif /* TALLY_VMLINUX_X86_H */
