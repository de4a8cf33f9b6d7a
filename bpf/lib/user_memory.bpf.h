/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots in which stacks are assembled, and reads of user memory for stack walks. Memory is read one KiB at a time,
 * because the next word is usually near.
 */
#ifndef TALLY_USER_MEMORY_BPF_H
#define TALLY_USER_MEMORY_BPF_H

#include "compat.bpf.h"
#include "event.h"
#include "stack.h"

/*
 * Number of stacks that can be taken at once on a CPU: by a task, a softirq, an interrupt, an NMI; and, where programs
 * on functions are preemptible and cannot prevent it (preempt.bpf.h), by preempted tasks.
 */
#define STACK_NESTING 8

/* The maps have values without a type: the loader sets their size from --max-depth. */
#define STACK_VALUE(frames) (sizeof(struct stack) + 8 * (frames))
#define STACK_SLOT(frames) (sizeof(struct stack_slot) + 8 * (frames))

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_NESTING);
	__uint(key_size, sizeof(u32));
	__uint(value_size, STACK_SLOT(2 * STACK_DEPTH + 1));    /* set by the loader */
} stack_slots SEC(".maps");

const volatile u32 stack_depth = STACK_DEPTH;   /* maximum number of frames of each part */

#define USER_PAGE 4096

/*
 * Makes size bytes of user memory available in the window, at *at. Does not read beyond the page on which they begin,
 * unless they cross its end: the next page may be absent, and a fault is expensive. Nothing is mapped below the first
 * page. Returns false if the bytes cannot be read.
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
		if (room > USER_WINDOW)         /* never true, but 5.10 has lost the bound */
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
 * A uretprobe has replaced the return address by its own address; the kernel keeps the original in a list, innermost
 * first. (The kernel's own walk restores it since 6.11, commit 4edb7bd39dd1.)
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

/* The address with which uretprobes replace return addresses. */
static __always_inline u64 user_probe_address(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	if (!bpf_core_field_exists(((struct xol_area *)0)->vaddr))
		return 0;
	return BPF_CORE_READ(t, mm, uprobes_state.xol_area, vaddr);
}

#define PROBED_RETURNS_OF_A_FRAME 8     /* tracers, or functions left by longjmp() */

/*
 * On machines whose functions save the return address anywhere in their frame, only the stack pointer at the function's
 * entry is known, which is above its frame. On these machines, frames that contain the probe's address are matched with
 * the list in order.
 */
static __always_inline bool is_return_from(u64 stack, u64 where, u64 found)
{
	return RETURNS_BY_LINK ? stack >= where && found == user_probe_address() : stack == where;
}

/* The original return address at a stack address. Must be called from the innermost frame outwards. */
static __always_inline u64 user_return(struct user_walk *w, u64 where, u64 found)
{
	u32 i;

	found = code_address(found);
	for (i = 0; i < PROBED_RETURNS_OF_A_FRAME && w->probed_return; i++) {
		struct return_instance *r = (struct return_instance *)w->probed_return;
		u64 stack = BPF_CORE_READ(r, stack);

		if (is_return_from(stack, where, found))
			return BPF_CORE_READ(r, orig_ret_vaddr);
		if (stack > where)
			break;
		w->probed_return = (u64)BPF_CORE_READ(r, next);
	}
	return found;
}

#endif /* TALLY_USER_MEMORY_BPF_H */
