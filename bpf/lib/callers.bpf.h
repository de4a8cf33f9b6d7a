/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of single events (user/stack/callers.h). */
#ifndef TALLY_CALLERS_BPF_H
#define TALLY_CALLERS_BPF_H

#include "stack.bpf.h"

/* The parts of stacks to take (enum stack_flags), set by the loader. 0: none, and callers_take() is not called. */
const volatile u32 take = 0;

/*
 * Takes the stack of the current task. Returns its flaw; pass it to stack_count_flaw() once the event is sent or kept.
 */
static __noinline int callers_take(void *ctx, struct stack_id *id)
{
	u32 flaw = stack_take(id, ctx, take);

	if (id->tgid)
		stack_see();
	return flaw;
}

#endif /* TALLY_CALLERS_BPF_H */
