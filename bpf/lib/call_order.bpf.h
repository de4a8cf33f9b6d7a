/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of a thread's calls. A call is identified by the position of its return address, that is, by the stack
 * pointer at its entry, to which the stack pointer returns at its end. Stacks grow downwards: when a call begins or
 * ends, a frame with a lower stack pointer than that call was left without a return, by an exception or longjmp(). Two
 * frames with the same stack pointer are a function and the function that it tail-called.
 *
 * The stacks of a thread are ordered: the kernel stack comes after the user stack, and interrupt stacks after both.
 */
#ifndef TALLY_CALL_ORDER_BPF_H
#define TALLY_CALL_ORDER_BPF_H

#include "call_site.h"
#include "compat.bpf.h"

#define STACK_BYTES (16 << 10) /* THREAD_SIZE, which is also the size of interrupt stacks, without KASAN */
#define ORDER_BITS 62

enum stack_of {
	STACK_OF_USER,
	STACK_OF_TASK,
	STACK_OF_INTERRUPT
};

static __always_inline u64 stack_base(void)
{
	struct task_struct *t = calling_task();

	return (u64)(has_typed_current() ? t->stack : BPF_CORE_READ(t, stack));
}

/* Callers have smaller values than callees. */
static __always_inline u64 order_of(u64 sp)
{
	u64 of = STACK_OF_USER;

	if (sp >> 63)
		of = sp - stack_base() < STACK_BYTES ? STACK_OF_TASK : STACK_OF_INTERRUPT;
	return of << ORDER_BITS | (~sp & ((1ULL << ORDER_BITS) - 1));
}

/* The order of the call that ends at this site. */
static __always_inline u64 order_at_end(u64 sp, u32 site)
{
	return order_of(sp - (site >> CALL_POPPED_SHIFT & CALL_POPPED));
}

/* True if the frame was left without a return, given that a call of that order begins or ends. */
static __always_inline bool order_is_left(u64 frame, u64 order)
{
	if (frame <= order)
		return false;
	/* A nested interrupt may use another stack, at any address. */
	return order >> ORDER_BITS < STACK_OF_INTERRUPT || frame - order < STACK_BYTES;
}

#endif /* TALLY_CALL_ORDER_BPF_H */
