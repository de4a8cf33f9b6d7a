/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel types of arm64: part of vmlinux.h, whose rules hold here, too. */
#ifndef TALLY_VMLINUX_ARM64_H
#define TALLY_VMLINUX_ARM64_H

struct thread_info {
	unsigned long flags;
	u64 preempt_count;
	u32 cpu; /* optional: 5.16, commit bcf9033e5449 */
};

struct thread_struct {
};

/* Registers as the entry code saved them; before the first system call's argument is its result. */
struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	u64 orig_x0;
	s32 syscallno;
};

#endif /* TALLY_VMLINUX_ARM64_H */
