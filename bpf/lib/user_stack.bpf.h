/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks a user stack, by tables (unwind.bpf.h) where they exist, or by frame pointers. A walk by frame pointers finds
 * the same frames as the kernel (perf_callchain_user()) in half the time: it reads memory by the KiB instead of by the
 * word, and does not follow the null pointer at the end of a chain, where a page fault would cost as much as twenty
 * frames.
 *
 *   user_regs_of_context(walk, ctx)   from a perf event, a kprobe, a uprobe in user mode
 *   user_regs_of_current(walk)        from the task's entry into the kernel. Both return false if it is not a 64-bit
 *                                     program
 *   user_stack_walk(slot, at, at_entry, at_exit, most)
 *                                     fills in slot->stack.frame[at...], up to most frames, and returns their number
 *
 * The kernel walks 32-bit programs.
 */
#ifndef TALLY_USER_STACK_BPF_H
#define TALLY_USER_STACK_BPF_H

#include "unwind.bpf.h"
#include "user_memory.bpf.h"

/*
 * Writes the registers directly into the walk: the functions of a program share 512 bytes of stack, and some are close
 * to that limit.
 */
static __always_inline bool user_regs_of_context(struct user_walk *w, const struct saved_regs *ctx)
{
	return regs_of_context(&w->regs, ctx);
}

static __always_inline bool user_regs_of_current(struct user_walk *w)
{
	return regs_of_task(&w->regs, current_user_regs());
}

/* --- frames ------------------------------------------------------------------------------------ */

#define USER_FRAMES_AT_ONCE 32

/*
 * Adds up to a fixed number of frames. Not static, so that the verifier checks it once and not at each call; since 5.12
 * it could take pointers. Returns 0 at the end of the walk.
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
		if (to > 2 * stack_depth)       /* never true, which the verifier does not know */
			break;
		slot->stack.frame[to] = user_return(w, w->bp + 8, *(u64 *)(w->bytes + at + 8));
		if (python_in_stacks)
			slot->stack.frame[STACK_POINTERS + to] = w->bp + 16;
		w->bp = *(u64 *)(w->bytes + at);
		n++;
	}
	w->n = n;
	return i == USER_FRAMES_AT_ONCE;
}

/* Gets the caller of a function that is at its entry or at its return. */
static __always_inline bool user_caller(struct user_walk *w, u64 *caller)
{
	if (!RETURNS_BY_LINK)
		return user_word(w, w->sp, caller);
	*caller = w->link;
	return true;
}

/*
 * Adds the caller of a function that has not set up its frame: the caller's address is on top of the stack, or in the
 * link register, and the frame pointer is that of the caller's frame.
 */
static __always_inline void user_stack_add_caller(struct stack_slot *slot)
{
	struct user_walk *w = &slot->walk;
	u64 n = w->n, sp = w->sp, caller = 0;

	if (n >= w->most || !user_caller(w, &caller))
		return;
	barrier_var(n);
	if (n > 2 * stack_depth)        /* never true, which the verifier does not know */
		return;
	slot->stack.frame[n] = user_return(w, sp, caller);
	if (python_in_stacks)
		slot->stack.frame[STACK_POINTERS + n] = sp + RETURN_POPS;
	w->n = n + 1;
}

/* Advances as if the return instruction had run. */
static __always_inline void user_stack_leave(struct user_walk *w)
{
	u64 sp = w->sp, caller = 0;

	if (!user_caller(w, &caller))
		return;
	w->ip = user_return(w, sp, caller);
	w->sp = sp + RETURN_POPS;
	w->link = 0;
}

/* True if the task has no memory: exit_mm() detaches it before it frees it, which takes most of the time of an exit. */
static __always_inline bool user_memory_is_gone(void)
{
	struct task_struct *t = calling_task();

	return !(has_typed_current() ? t->mm : BPF_CORE_READ(t, mm));
}

static __always_inline u32 user_stack_walk(struct stack_slot *slot, u32 at, bool at_entry, bool at_exit,
					   u32 most)
{
	struct user_walk *w = &slot->walk;
	u32 i;

	if (at > stack_depth)   /* never true, which the verifier does not know */
		return 0;
	w->probed_return = user_probed_returns();
	w->have = 0;
	if (at_exit)
		user_stack_leave(w);
	slot->stack.frame[at] = w->ip;
	if (python_in_stacks)
		slot->stack.frame[STACK_POINTERS + at] = w->sp;
	w->first = at;
	w->n = at + 1;
	w->most = at + most;
	w->end = STACK_WALKED;
	w->guessed = 0;
	if (user_memory_is_gone()) {
		w->end = STACK_GONE;
		return 1;
	}
	if (unwind_by_tables) {
		unwind_begin(w, at_entry);
		for (i = 0; i < STACK_MOST_DEPTH + 1; i++)
			if (!unwind_frame(slot->level) || (w->asks && !unwind_find_vma(slot->level)))
				break;
		return w->n - at;
	}
	if (at_entry)
		user_stack_add_caller(slot);
	for (i = 0; i < STACK_MOST_DEPTH / USER_FRAMES_AT_ONCE + 1; i++)
		if (!user_stack_frames(slot->level))
			break;
	return w->n - at;
}

#endif /* TALLY_USER_STACK_BPF_H */
