/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of a user stack, by tables (unwind.bpf.h) where there are any, or by frame pointers. The latter finds
 * what the kernel's finds (perf_callchain_user()) in half of the time: memory is read by the KiB
 * instead of by the word, and the null pointer that chains end with is not followed, which would be a
 * page fault: as dear as twenty frames.
 *
 *   user_regs_of_context(walk, ctx)   of a perf event, a kprobe, a uprobe in user mode
 *   user_regs_of_current(walk)        of the task, as it came into the kernel
 *                                     false: it is no program with 64 bits
 *   user_stack_walk(slot, at, at_entry, at_exit, most)
 *                                     fills in slot->stack.frame[at...], most frames at most, and
 *                                     returns how many
 *
 * 32-bit programs are left to the kernel.
 */
#ifndef TALLY_USER_STACK_BPF_H
#define TALLY_USER_STACK_BPF_H

#include "unwind.bpf.h"
#include "user_memory.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define HAVE_USER_WALK 1

/*
 * The registers, in the order of arch/x86/include/uapi/asm/ptrace.h, which on 64 bits is that of the
 * kernel's own struct: contexts begin with them.
 */
struct saved_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	u64 ip, cs, flags, sp, ss;
};

/* arch/x86/include/asm/segment.h */
#define CS_RING 3
#define CS_USER_32 0x23

static __always_inline bool context_is_user(const struct saved_regs *ctx)
{
	return ctx->cs & CS_RING;
}

static __always_inline bool is_user_64(u64 cs)
{
	return (cs & CS_RING) && (u16)cs != CS_USER_32;
}

static __always_inline bool user_regs_of_context(struct user_walk *w, const struct saved_regs *ctx)
{
	w->ip = ctx->ip;
	w->sp = ctx->sp;
	w->bp = ctx->bp;
	return is_user_64(ctx->cs);
}

/* Those of a thread of the kernel are no user's. The walk has them in the same order. */
static __always_inline bool user_regs_of_current(struct user_walk *w)
{
	void *saved = current_user_regs();

	w->cs = 0;
	bpf_probe_read_kernel(&w->ip, 4 * sizeof(u64), saved + __builtin_offsetof(struct saved_regs, ip));
	bpf_probe_read_kernel(&w->bp, sizeof(w->bp), saved + __builtin_offsetof(struct saved_regs, bp));
	return is_user_64(w->cs);
}
#endif

/* --- frames ------------------------------------------------------------------------------------ */

#define USER_FRAMES_AT_ONCE 32

/*
 * Up to so many frames more. Not static, so that the verifier looks at it once and not once for each time it
 * is called; from 5.12 on it could be given pointers. 0: the walk has come to its end.
 */
__noinline int user_stack_frames(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);
	u64 at = 0, to, n, most;
	struct user_walk *w;
	u32 i;

	VERIFIED_ONCE();
	if (!slot)
		return 0;
	w = &slot->walk;
	n = w->n;
	most = w->most;
	for (i = 0; i < USER_FRAMES_AT_ONCE; i++) {
		if (n >= most || !user_window(w, w->bp, 16, &at))
			break;
		to = n;
		barrier_var(to);
		if (to > 2 * stack_depth)       /* never; the verifier cannot know */
			break;
		slot->stack.frame[to] = user_return(w, w->bp + 8, *(u64 *)(w->bytes + at + 8));
		w->bp = *(u64 *)(w->bytes + at);
		n++;
	}
	w->n = n;
	return i == USER_FRAMES_AT_ONCE;
}

/*
 * The caller of a function that begins here and has made no frame yet: its address is on top of the
 * stack, and the chain begins with the frame of that one's caller.
 */
static __always_inline void user_stack_add_caller(struct stack_slot *slot)
{
	struct user_walk *w = &slot->walk;
	u64 n = w->n, sp = w->sp, caller = 0;

	if (n >= w->most || !user_word(w, sp, &caller))
		return;
	barrier_var(n);
	if (n > 2 * stack_depth)        /* never; the verifier cannot know */
		return;
	slot->stack.frame[n] = user_return(w, sp, caller);
	w->n = n + 1;
}

/* As if the instruction that returns had been run. */
static __always_inline void user_stack_leave(struct user_walk *w)
{
	u64 sp = w->sp, caller = 0;

	if (!user_word(w, sp, &caller))
		return;
	w->ip = user_return(w, sp, caller);
	w->sp = sp + 8;
}

/* exit_mm() takes the memory off the task before it is freed, which takes most of the time of an exit. */
static __always_inline bool user_memory_is_gone(void)
{
	struct task_struct *t = calling_task();

	return !(has_typed_current() ? t->mm : BPF_CORE_READ(t, mm));
}

static __always_inline u32 user_stack_walk(struct stack_slot *slot, u32 at, bool at_entry, bool at_exit,
					   u32 most)
{
	struct user_walk *w = &slot->walk;
	u32 level = slot->level, i;

	if (at > stack_depth)   /* never; the verifier cannot know */
		return 0;
	w->probed_return = user_probed_returns();
	w->have = 0;
	if (at_exit)
		user_stack_leave(w);
	slot->stack.frame[at] = w->ip;
	w->n = at + 1;
	w->most = at + most;
	w->end = STACK_WALKED;
	if (user_memory_is_gone()) {
		w->end = STACK_GONE;
		return 1;
	}
	if (unwind_by_tables && unwind_begin(w, at_entry)) {
		for (i = 0; i < STACK_MOST_DEPTH; i++)
			if (!unwind_frame(level))
				break;
		return w->n - at;
	}
	if (at_entry)
		user_stack_add_caller(slot);
	for (i = 0; i < STACK_MOST_DEPTH / USER_FRAMES_AT_ONCE + 1; i++)
		if (!user_stack_frames(level))
			break;
	return w->n - at;
}

#endif /* TALLY_USER_STACK_BPF_H */
