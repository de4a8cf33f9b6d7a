/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where stacks are made, and the memory of a program as a walk of its stack reads it: by the KiB, since
 * the next word is near.
 */
#ifndef TALLY_USER_MEMORY_BPF_H
#define TALLY_USER_MEMORY_BPF_H

#include "compat.bpf.h"
#include "event.h"
#include "stack.h"

/*
 * So many stacks are made at once on a CPU: by a task, soft interrupt, interrupt, NMI; and, where programs on
 * functions can be preempted and cannot prevent it (preempt.bpf.h), by tasks that wait in the middle of it.
 */
#define STACK_NESTING 8

/* Values without a type: the loader sizes them by --max-depth. */
#define STACK_VALUE(frames) (sizeof(struct stack) + 8 * (frames))
#define STACK_SLOT(frames) (sizeof(struct stack_slot) + 8 * (frames))

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_NESTING);
	__uint(key_size, sizeof(u32));
	__uint(value_size, STACK_SLOT(2 * STACK_DEPTH + 1));    /* set by the loader */
} stack_slots SEC(".maps");

const volatile u32 stack_depth = STACK_DEPTH;   /* frames of each part at most */

#define USER_PAGE 4096

/*
 * Brings size bytes of memory into the window, at *at. It does not go beyond the page that they begin on,
 * unless they do: what comes behind may not be there, and to find that out is dear. Nothing is mapped
 * below the first page. False: they cannot be read.
 */
static __always_inline bool user_window(struct user_walk *w, u64 address, u32 size, u64 *at)
{
	u64 offset = address - w->window, room;

	barrier_var(offset);
	if (offset > USER_WINDOW - size || offset + size > w->have) {
		if (address < USER_PAGE)
			return false;
		room = USER_PAGE - (address & (USER_PAGE - 1));
		if (room < size)
			room = size;
		if (room > USER_WINDOW)
			room = USER_WINDOW;
		w->have = 0;
		barrier_var(room);
		if (room > USER_WINDOW)         /* never; 5.10 has lost sight of it */
			return false;
		if (bpf_probe_read_user(w->bytes, room, (void *)address))
			return false;
		w->window = address;
		w->have = room;
		offset = 0;
	}
	*at = offset;
	return true;
}

static __always_inline bool user_word(struct user_walk *w, u64 address, u64 *word)
{
	u64 at = 0;

	if (!user_window(w, address, sizeof(*word), &at))
		return false;
	*word = *(u64 *)(w->bytes + at);
	return true;
}

/* --- returns that are probed ------------------------------------------------------------------- */

/*
 * A uprobe at the end of a function has put its own address in the place of the return address, which is kept in
 * a list, innermost first. (The kernel's walk has known of that since 6.11, commit 4edb7bd39dd1.)
 */
static __always_inline u64 user_probed_returns(void)
{
	struct task_struct *t = calling_task();
	struct uprobe_task *probes;

	if (!bpf_core_type_exists(struct return_instance))
		return 0;
	probes = has_typed_current() ? t->utask : BPF_CORE_READ(t, utask);
	return probes ? (u64)BPF_CORE_READ(probes, return_instances) : 0;
}

#define PROBED_RETURNS_OF_A_FRAME 8     /* so many tracers, or functions that have been left by longjmp() */

/* The return address that stands, or stood, at an address of the stack. They are asked for outwards. */
static __always_inline u64 user_return(struct user_walk *w, u64 where, u64 found)
{
	u32 i;

	for (i = 0; i < PROBED_RETURNS_OF_A_FRAME && w->probed_return; i++) {
		struct return_instance *r = (struct return_instance *)w->probed_return;
		u64 stack = BPF_CORE_READ(r, stack);

		if (stack == where)
			return BPF_CORE_READ(r, orig_ret_vaddr);
		if (stack > where)
			break;
		w->probed_return = (u64)BPF_CORE_READ(r, next);
	}
	return found;
}

#endif /* TALLY_USER_MEMORY_BPF_H */
