/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See arch.bpf.h. */
#ifndef TALLY_ARCH_X86_BPF_H
#define TALLY_ARCH_X86_BPF_H

/* Set in thread_info.status during system calls through the 32-bit entry points. */
#define TS_COMPAT 0x0002

static __always_inline bool is_native_of(struct task_struct *t)
{
	if (has_typed_current())
		return !(t->thread_info.status & TS_COMPAT);
	return !(BPF_CORE_READ(t, thread_info.status) & TS_COMPAT);
}

static __always_inline enum syscall_abi task_syscall_abi(struct task_struct *t)
{
	return t->thread_info.status & TS_COMPAT ? SYSCALL_COMPAT : SYSCALL_NATIVE;
}

static __always_inline long syscall_of(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_ax);
}

static __always_inline u64 syscall_number(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline void syscall_arguments(const struct pt_regs *regs, u64 arg[6])
{
	arg[0] = regs->di;
	arg[1] = regs->si;
	arg[2] = regs->dx;
	arg[3] = regs->r10;
	arg[4] = regs->r8;
	arg[5] = regs->r9;
}

static __always_inline void compat_syscall_arguments(const struct pt_regs *regs, u64 arg[6])
{
	arg[0] = (u32)regs->bx;
	arg[1] = (u32)regs->cx;
	arg[2] = (u32)regs->dx;
	arg[3] = (u32)regs->si;
	arg[4] = (u32)regs->di;
	arg[5] = (u32)regs->bp;
}

static __always_inline u64 syscall_argument(struct pt_regs *regs, u32 n)
{
	return n == 0 ? BPF_CORE_READ(regs, di) : n == 1 ? BPF_CORE_READ(regs, si) :
	       n == 2 ? BPF_CORE_READ(regs, dx) : n == 3 ? BPF_CORE_READ(regs, r10) :
	       n == 4 ? BPF_CORE_READ(regs, r8) : BPF_CORE_READ(regs, r9);
}

static __always_inline u64 compat_syscall_argument(struct pt_regs *regs, u32 n)
{
	return (u32)(n == 0 ? BPF_CORE_READ(regs, bx) : n == 1 ? BPF_CORE_READ(regs, cx) :
		     n == 2 ? BPF_CORE_READ(regs, dx) : n == 3 ? BPF_CORE_READ(regs, si) :
		     n == 4 ? BPF_CORE_READ(regs, di) : BPF_CORE_READ(regs, bp));
}

static __always_inline u64 instruction_pointer(struct pt_regs *regs)
{
	return regs->ip;
}

static __always_inline u64 stack_pointer(struct pt_regs *regs)
{
	return regs->sp;
}

static __always_inline u64 call_argument(struct pt_regs *regs, u32 n)
{
	return n == 0 ? regs->di : n == 1 ? regs->si : regs->dx;
}

static __always_inline u64 return_value(struct pt_regs *regs)
{
	return regs->ax;
}

#define RETURN_POPS 8

static __always_inline u64 return_link(struct pt_regs *regs)
{
	return 0;
}

/* The order of arch/x86/include/uapi/asm/ptrace.h, which the 64-bit kernel's own struct shares. */
struct saved_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	u64 ip, cs, flags, sp, ss;
};

#define GOROUTINE_AT __builtin_offsetof(struct saved_regs, r14)

/* arch/x86/include/asm/segment.h */
#define CS_RING 3
#define CS_USER_32 0x23

static __always_inline bool context_is_user(const struct saved_regs *saved)
{
	return saved->cs & CS_RING;
}

static __always_inline bool is_32_bit(struct pt_regs *regs)
{
	return (u16)((const struct saved_regs *)regs)->cs == CS_USER_32;
}

static __always_inline bool is_user_64(u64 cs)
{
	return (cs & CS_RING) && (u16)cs != CS_USER_32;
}

static __always_inline bool regs_of_context(struct walk_regs *r, const struct saved_regs *saved)
{
	r->ip = saved->ip;
	r->sp = saved->sp;
	r->fp = saved->bp;
	r->base = saved->bx;
	r->link = saved->di;
	return is_user_64(saved->cs);
}

/* Returns false for a kernel thread, whose registers are not user mode registers. */
static __always_inline bool regs_of_task(struct walk_regs *r, const void *saved)
{
	u64 cs = 0;

	bpf_probe_read_kernel(&r->ip, sizeof(r->ip), saved + __builtin_offsetof(struct saved_regs, ip));
	bpf_probe_read_kernel(&cs, sizeof(cs), saved + __builtin_offsetof(struct saved_regs, cs));
	bpf_probe_read_kernel(&r->sp, sizeof(r->sp), saved + __builtin_offsetof(struct saved_regs, sp));
	/* Also reads rbx into base: it is next to rbp in both structs. */
	bpf_probe_read_kernel(&r->fp, sizeof(r->fp) + sizeof(r->base),
			      saved + __builtin_offsetof(struct saved_regs, bp));
	bpf_probe_read_kernel(&r->link, sizeof(r->link), saved + __builtin_offsetof(struct saved_regs, di));
	return is_user_64(cs);
}

static __always_inline bool regs_are_users(const void *saved)
{
	u64 cs = 0;

	bpf_probe_read_kernel(&cs, sizeof(cs), saved + __builtin_offsetof(struct saved_regs, cs));
	return cs & CS_RING;
}

static __always_inline u64 thread_pointer(struct task_struct *t)
{
	return BPF_CORE_READ(t, thread.fsbase);
}

static __always_inline u64 code_address(u64 value)
{
	return value;
}

#endif /* TALLY_ARCH_X86_BPF_H */
