/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registers that a user stack walk needs, on any machine, and the properties of the machine that it depends on:
 *
 *   SIGNAL_FP, SIGNAL_BASE, SIGNAL_LINK, SIGNAL_SP, SIGNAL_IP
 *                      offsets of the registers that the kernel saved for a signal handler's return, from the stack
 *                      pointer at that moment; LINK only with RETURNS_BY_LINK
 *   SIGNAL_RETURN      the code to which a handler returns; 0 if .eh_frame covers it
 *   RETURNS_BY_LINK    true if the return address is in a register
 */
#ifndef TALLY_WALK_REGS_H
#define TALLY_WALK_REGS_H

struct walk_regs {
	__u64 ip, sp, fp;
	__u64 base;             /* rbx of x86-64, through which a few functions find their frame; else 0 */
	/* May hold the first frame's return address: the link register, or rdi of x86-64 (vfork() of glibc). */
	__u64 link;
};

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)

/* arch/x86/include/asm/sigcontext.h: offsets in a struct ucontext, to which the stack pointer points. */
#define SIGNAL_FP 120
#define SIGNAL_BASE 128
#define SIGNAL_LINK 0
#define SIGNAL_SP 160
#define SIGNAL_IP 168
#define SIGNAL_RETURN 0ULL

#define RETURNS_BY_LINK false

#elif defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

/*
 * arch/arm64/kernel/signal.c: struct rt_sigframe consists of a siginfo of 128 bytes and a ucontext, whose uc_mcontext
 * is at 176 and contains the registers from offset 8.
 */
#define SIGNAL_REGS (128 + 176 + 8)
#define SIGNAL_FP (SIGNAL_REGS + 8 * 29)
#define SIGNAL_BASE 0
#define SIGNAL_LINK (SIGNAL_REGS + 8 * 30)
#define SIGNAL_SP (SIGNAL_REGS + 8 * 31)
#define SIGNAL_IP (SIGNAL_REGS + 8 * 32)

/* mov x8, #__NR_rt_sigreturn; svc #0: in the vdso, and in C libraries that have a restorer. Neither has .eh_frame. */
#define SIGNAL_RETURN 0xd4000001d2801168ULL

#define RETURNS_BY_LINK true

#endif

#endif /* TALLY_WALK_REGS_H */
