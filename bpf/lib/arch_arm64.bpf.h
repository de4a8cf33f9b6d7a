/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See arch.bpf.h. */
#ifndef TALLY_ARCH_ARM64_BPF_H
#define TALLY_ARCH_ARM64_BPF_H

/* arch/arm64/include/asm/thread_info.h: set for 32-bit programs, which use only the compat system call table. */
#define TIF_32BIT (1UL << 22)

static __always_inline bool is_native_of(struct task_struct *t)
{
	if (has_typed_current())
		return !(t->thread_info.flags & TIF_32BIT);
	return !(BPF_CORE_READ(t, thread_info.flags) & TIF_32BIT);
}

static __always_inline enum syscall_abi task_syscall_abi(struct task_struct *t)
{
	return t->thread_info.flags & TIF_32BIT ? SYSCALL_COMPAT : SYSCALL_NATIVE;
}

static __always_inline long syscall_of(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}

static __always_inline u64 syscall_number(const struct pt_regs *regs)
{
	return (s64)regs->syscallno;
}

/* arg[0] is in orig_x0: the result overwrites x0. */
static __always_inline void syscall_arguments(const struct pt_regs *regs, u64 arg[6])
{
	arg[0] = regs->orig_x0;
	arg[1] = regs->regs[1];
	arg[2] = regs->regs[2];
	arg[3] = regs->regs[3];
	arg[4] = regs->regs[4];
	arg[5] = regs->regs[5];
}

/* These arguments are not decoded: user/host/syscalls.h has no table of 32-bit calls. */
static __always_inline void compat_syscall_arguments(const struct pt_regs *regs, u64 arg[6])
{
	arg[0] = (u32)regs->orig_x0;
	arg[1] = (u32)regs->regs[1];
	arg[2] = (u32)regs->regs[2];
	arg[3] = (u32)regs->regs[3];
	arg[4] = (u32)regs->regs[4];
	arg[5] = (u32)regs->regs[5];
}

static __always_inline u64 syscall_argument(struct pt_regs *regs, u32 n)
{
	return n == 0 ? BPF_CORE_READ(regs, orig_x0) : n == 1 ? BPF_CORE_READ(regs, regs[1]) :
	       n == 2 ? BPF_CORE_READ(regs, regs[2]) : n == 3 ? BPF_CORE_READ(regs, regs[3]) :
	       n == 4 ? BPF_CORE_READ(regs, regs[4]) : BPF_CORE_READ(regs, regs[5]);
}

static __always_inline u64 compat_syscall_argument(struct pt_regs *regs, u32 n)
{
	return (u32)syscall_argument(regs, n);
}

/* arch/arm64/include/uapi/asm/ptrace.h: struct user_pt_regs, the beginning of the kernel's pt_regs. */
struct saved_regs {
	u64 x[31];
	u64 sp, pc, pstate;
};

#define SAVED(regs) ((const struct saved_regs *)(regs))

static __always_inline u64 instruction_pointer(struct pt_regs *regs)
{
	return SAVED(regs)->pc;
}

static __always_inline u64 stack_pointer(struct pt_regs *regs)
{
	return SAVED(regs)->sp;
}

#define GOROUTINE_AT __builtin_offsetof(struct saved_regs, x[28])

static __always_inline u64 call_argument(struct pt_regs *regs, u32 n)
{
	return n == 0 ? SAVED(regs)->x[0] : n == 1 ? SAVED(regs)->x[1] : SAVED(regs)->x[2];
}

static __always_inline u64 return_value(struct pt_regs *regs)
{
	return SAVED(regs)->x[0];
}

/*
 * The number of bits in user addresses. Higher bits of a saved return address may hold its signature (pointer
 * authentication). With 52-bit addresses, the code of uprobes (user_probe_address()) is at the upper end of the address
 * space, while the code of programs stays below 48 bits.
 */
const volatile u32 address_bits = 48;   /* set by the loader: measurement__configure() */

static __always_inline u64 code_address(u64 value)
{
	return value & ((1ULL << (address_bits & 63)) - 1);
}

#define RETURN_POPS 0

static __always_inline u64 return_link(struct pt_regs *regs)
{
	return code_address(SAVED(regs)->x[30]);
}

/* The kernel does not place uprobes in 32-bit programs. */
static __always_inline bool is_32_bit(struct pt_regs *regs)
{
	return false;
}

/* arch/arm64/include/uapi/asm/ptrace.h */
#define PSR_MODE 0x0f
#define PSR_MODE32 0x10

static __always_inline bool context_is_user(const struct saved_regs *saved)
{
	return !(saved->pstate & PSR_MODE);
}

static __always_inline bool regs_of_context(struct walk_regs *r, const struct saved_regs *saved)
{
	r->ip = saved->pc;
	r->sp = saved->sp;
	r->fp = saved->x[29];
	r->base = 0;
	r->link = code_address(saved->x[30]);
	return !(saved->pstate & (PSR_MODE | PSR_MODE32));
}

/* pstate identifies kernel threads; for idle tasks all of these registers are zero. */
static __always_inline bool regs_of_task(struct walk_regs *r, const void *saved)
{
	struct { u64 fp, link, sp, pc, pstate; } at = {};

	bpf_probe_read_kernel(&at, sizeof(at), saved + __builtin_offsetof(struct saved_regs, x[29]));
	r->ip = at.pc;
	r->sp = at.sp;
	r->fp = at.fp;
	r->base = 0;
	r->link = code_address(at.link);
	return at.pc && !(at.pstate & (PSR_MODE | PSR_MODE32));
}

static __always_inline bool regs_are_users(const void *saved)
{
	u64 pc = 0;

	bpf_probe_read_kernel(&pc, sizeof(pc), saved + __builtin_offsetof(struct saved_regs, pc));
	return pc;
}

/*
 * Returns 0: pthread_self() is not the thread pointer, but lies below it by the size of the C library's struct pthread.
 */
static __always_inline u64 thread_pointer(struct task_struct *t)
{
	return 0;
}

#endif /* TALLY_ARCH_ARM64_BPF_H */
