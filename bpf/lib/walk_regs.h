/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers that a user stack walk needs, on any machine. */
#ifndef TALLY_WALK_REGS_H
#define TALLY_WALK_REGS_H

struct walk_regs {
	__u64 ip, sp, fp;
	__u64 base;             /* rbx of x86-64, by which few functions find their frame; else 0 */
	/* The first frame's return address may be here: the link register, or rdi of x86-64 (vfork() of glibc). */
	__u64 link;
};

#endif /* TALLY_WALK_REGS_H */
