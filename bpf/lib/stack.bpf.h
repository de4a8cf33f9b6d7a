/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes stacks (stack.h).
 *
 *   stack_take(&id, ctx, flags)     walks the current task's stack, stores it unless it is already stored, and
 *                                   fills in id for the caller's key
 *   stack_add(&map, &key, ctx, flags, n)
 *                                   puts the stack into the key, whose other parts the caller has filled in, and
 *                                   adds n to its count; exact on any number of CPUs
 *   stack_see()                     reports the current process to the loader if it is new, so that its mappings
 *                                   are known after it has exited
 *
 * A stack that cannot be kept is counted, and its id is all zero: the event still counts, without its stack. Hooks may
 * interrupt each other, and tasks may preempt each other, so each uses its own slot (preempt.bpf.h), one of the
 * STACK_NESTING slots of a CPU.
 *
 * The walk uses perf's callchain (bpf_get_stack), not stack ids: stack ids share buckets, and colliding stacks are lost
 * or wrong.
 */
#ifndef TALLY_STACK_BPF_H
#define TALLY_STACK_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "stack.h"
#include "task_key.bpf.h"
#include "user_stack.bpf.h"
#include "wide.bpf.h"

/* include/uapi/linux/bpf.h: the low byte is the number of innermost frames to skip. */
#define BPF_F_USER_STACK (1ULL << 8)

const volatile u32 stack_walk = STACK_DEPTH;    /* maximum number of frames that the kernel walks */
const volatile u64 stack_seed = 0;

#define STACK_MOST_FRAMES ((python_in_stacks ? STACK_PARTS : 2) * stack_depth)

/*
 * Part of the hash of each stack, and of each key that is added to. It lets the loader remove stacks and counts without
 * loss: the loader begins a new generation and waits until no program that may have seen the previous generation is
 * still running (an RCU grace period). After that, nothing is added to older keys, and only holders of an id refer to
 * older stacks.
 */
u32 stack_generation = 0;

/* Number of stacks stored in each of the maps. */
u64 stacks_stored[3] = {};

static __always_inline u32 stack_generation_now(void)
{
	return *(volatile u32 *)&stack_generation;
}

/*
 * The kernel clears the part of the buffer that a walk does not fill. So a walk first gets little room, and gets the
 * full room only if it fills that, or at once if little room did not suffice the last time.
 */
#define STACK_LITTLE_ROOM (32 * sizeof(u64))

#define STACK_MAP(name, frames)                                         \
	struct {                                                        \
		__uint(type, BPF_MAP_TYPE_HASH);                        \
		__uint(max_entries, 1); /* set by the loader */         \
		__uint(key_size, sizeof(u64));                          \
		__uint(value_size, STACK_VALUE(frames));                \
	} name SEC(".maps")

STACK_MAP(stacks_small, STACK_SMALL);
STACK_MAP(stacks_medium, STACK_MEDIUM);
STACK_MAP(stacks_large, 2 * STACK_DEPTH);

/* Sums by stack, read by user/stack/stacks.h; the loader sets the size. */
#define STACK_COUNTS(name)                                              \
	struct {                                                        \
		__uint(type, BPF_MAP_TYPE_HASH);                        \
		__uint(max_entries, 1);                                 \
		__type(key, struct stack_key);                          \
		__type(value, struct stack_count);                      \
	} name SEC(".maps")

static __always_inline u32 stack_most(u32 flags)
{
	u32 most = flags & STACK_INNERMOST ? 1 : flags >> STACK_MOST_SHIFT;

	return most && most < stack_depth ? most : stack_depth;
}

/* Returns how a walk that returned n bytes ended. *frames is the number of frames kept, at most most. */
static __always_inline u8 stack_part(long n, u32 most, u16 *frames)
{
	u32 found = (u32)n / sizeof(u64);

	*frames = 0;
	if (n < 0)
		return STACK_UNREADABLE;
	if (!found)
		return STACK_NOT_TAKEN;
	*frames = found < most ? found : most;
	return found > most || found >= stack_walk ? STACK_DEEPER : STACK_WALKED;
}

static __always_inline long stack_get(void *ctx, u64 *frame, u32 room, u64 flags, u8 *is_deep)
{
	long n;

	if (room > STACK_LITTLE_ROOM && !*is_deep) {
		n = bpf_get_stack(ctx, frame, STACK_LITTLE_ROOM, flags);
		if (n < (long)STACK_LITTLE_ROOM)
			return n;
	}
	n = bpf_get_stack(ctx, frame, room, flags);
	*is_deep = n >= (long)STACK_LITTLE_ROOM;
	return n;
}

/* Returns how a walk that found that many frames ended. A walk looks for one more frame than is kept. */
static __always_inline u8 stack_end(const struct user_walk *w, u32 found, u32 most, u16 *frames)
{
	*frames = found < most ? found : most;
	if (!found)
		return STACK_NOT_TAKEN;
	return found > most ? STACK_DEEPER : w->end;
}

/* Keeps only the bits of frames whose callers are kept. */
static __always_inline u32 stack_guessed(const struct user_walk *w, u16 frames)
{
	return frames && frames < STACK_GUESSES ? w->guessed & ((1U << (frames - 1)) - 1) : w->guessed;
}

/* at is the index of the user frames. */
static __always_inline void stack_walk_python(struct stack_slot *slot, u32 at, u32 frames, u32 most)
{
	struct stack *s = &slot->stack;

	if (!python_in_stacks || slot->walk.end == STACK_GONE)
		return;
	s->python = python_walk(slot, at + frames, at, frames, most);
	s->python_end = slot->python.end;
}

static __always_inline void stack_walk_user(struct stack_slot *slot, u32 at, void *ctx, u32 flags, u32 room)
{
	bool in_context = flags & STACK_REGS && context_is_user(ctx);
	struct stack *s = &slot->stack;
	u32 most = stack_most(flags);
	u16 frames = 0;

	if (in_context ? user_regs_of_context(&slot->walk, ctx) : user_regs_of_current(&slot->walk)) {
		u32 found = user_stack_walk(slot, at, flags & STACK_AT_ENTRY, flags & STACK_AT_EXIT, most + 1);

		s->user_end = stack_end(&slot->walk, found, most, &frames);
		s->guessed = stack_guessed(&slot->walk, frames);
		if (!(flags & STACK_INNERMOST))
			stack_walk_python(slot, at, frames, most);
	} else {
		s->user_end = stack_part(stack_get(ctx, s->frame + at, room, BPF_F_USER_STACK,
						   &slot->user_is_deep), most, &frames);
	}
	s->user = frames;
}

/* Requests one frame more than is kept, to learn whether there are more. */
static __always_inline void stack_walk_parts(struct stack_slot *slot, void *ctx, u32 flags)
{
	struct stack *s = &slot->stack;
	u32 most = stack_most(flags), room = (most + 1) * sizeof(u64), at;
	u16 frames = 0;

	s->kernel = s->user = 0;
	s->kernel_end = s->user_end = STACK_NOT_TAKEN;
	s->python = s->python_end = 0;
	s->mark = s->guessed = 0;
	s->generation = stack_generation_now();
	if (flags & STACK_KERNEL) {
		s->kernel_end = stack_part(stack_get(ctx, s->frame, room, flags & STACK_SKIP,
						     &slot->kernel_is_deep), most, &frames);
		s->kernel = frames;
	}
	if (!(flags & STACK_USER) || (flags & STACK_INNERMOST && frames))
		return;
	at = frames;
	barrier_var(at);
	if (at > stack_depth)   /* never true, which the verifier does not know */
		return;
	stack_walk_user(slot, at, ctx, flags, room);
}

static __always_inline long stack_store(void *map, u64 *stored, const u64 *hash, const struct stack *s)
{
	long err;

	if (bpf_map_lookup_elem(map, hash))
		return 0;
	err = bpf_map_update_elem(map, hash, s, BPF_NOEXIST);
	if (!err)
		__sync_fetch_and_add(stored, 1);
	return err;
}

/* --- the code of a process --------------------------------------------------------------------- */

struct stack_code stack_codes[STACK_CODES] = {};

/* Begins a new generation if the process has less code mapped than when it was last seen. */
static __always_inline void stack_see_code(u32 tgid, struct mm_struct *mm)
{
	struct stack_code *code = &stack_codes[tgid % STACK_CODES];
	u64 now = (u64)tgid << STACK_CODE_PAGES_BITS | BPF_CORE_READ(mm, exec_vm);
	u64 before = *(volatile u64 *)&code->seen;

	if (now == before)
		return;
	*(volatile u64 *)&code->seen = now;
	if (now > before || (now ^ before) >> STACK_CODE_PAGES_BITS)
		return;
	__sync_fetch_and_add(&code->generation, 1);
	*(volatile u64 *)&code->began_ns = bpf_ktime_get_ns();
}

/*
 * Called when memory is about to be mapped at an address that the kernel has just chosen: any code at that address has
 * been unmapped and no longer runs.
 */
SEC("raw_tp/vm_unmapped_area")
int UNPREEMPTED(PREEMPT_TRACEPOINT, stack_on_mapping, void *, ctx)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(t, mm);

	if (mm)
		stack_see_code(bpf_get_current_pid_tgid() >> 32, mm);
	return 0;
}

#define STACK_TASK_GET(t, member) (has_typed_current() ? (t)->member : BPF_CORE_READ(t, member))

/*
 * Computes space of struct stack. The start time distinguishes processes that reuse a pid. Not inlined: with more
 * registers in use, the verifier of 5.10 loses bounds.
 */
static __noinline u64 stack_space(u32 tgid)
{
	struct task_struct *t = calling_task(), *leader = STACK_TASK_GET(t, group_leader);
	u64 exec = STACK_TASK_GET(t, self_exec_id), start = STACK_TASK_GET(leader, start_time);
	u32 generation = *(volatile u32 *)&stack_codes[tgid % STACK_CODES].generation;

	return stack_mix(stack_mix(start, exec << 32 | generation), tgid) ?: 1;
}

/* The loader's pid namespace; 0 if it is the initial one. */
const volatile u32 stack_pidns = 0;

#define STACK_PIDNS_LEVELS 32           /* MAX_PID_NS_LEVEL */

/* The current process's pid in the loader's pid namespace. */
static __noinline u32 stack_own_pid(struct task_struct *t)
{
	struct pid *pid = BPF_CORE_READ(t, group_leader, thread_pid);
	u32 level = BPF_CORE_READ(pid, level), i;
	struct upid upid;

	for (i = 0; i <= STACK_PIDNS_LEVELS && i <= level; i++) {
		if (bpf_core_read(&upid, sizeof(upid), &pid->numbers[i]))
			return 0;
		if (BPF_CORE_READ(upid.ns, ns.inum) == stack_pidns)
			return upid.nr;
	}
	return 0;
}

static __always_inline u32 stack_current_pid(void)
{
	return stack_pidns ? stack_own_pid((struct task_struct *)bpf_get_current_task()) :
			     bpf_get_current_pid_tgid() >> 32;
}

static __noinline int stack_sign(struct stack *s)
{
	s->pid = 0;
	s->first_ns = 0;
	if (!s->user)
		return 0;
	s->first_ns = bpf_ktime_get_ns();
	s->pid = stack_current_pid();
	return 0;
}

/* --- storing ----------------------------------------------------------------------------------- */

/*
 * Counts an event's missing or incomplete stack. flaw is LOSS_STACKS_FULL or the like, or 0 if nothing is missing.
 * Called where the event is counted, so that an event for which there is no room either counts as one loss only.
 */
static __always_inline void stack_count_flaw(u32 flaw)
{
	if (flaw)
		count_lost(flaw);
}

/* Returns the flaw if the stack could not be stored, else 0. */
static __always_inline u32 stack_keep(struct stack *s, u32 frames, u64 hash)
{
	long err;

	stack_sign(s);
	if (frames <= STACK_SMALL)
		err = stack_store(&stacks_small, &stacks_stored[0], &hash, s);
	else if (frames <= STACK_MEDIUM)
		err = stack_store(&stacks_medium, &stacks_stored[1], &hash, s);
	else
		err = stack_store(&stacks_large, &stacks_stored[2], &hash, s);
	if (!err || (int)err == -EEXIST)        /* another CPU stored it first */
		return 0;
	return (int)err == -E2BIG ? LOSS_STACKS_FULL : LOSS_STACK_MEMORY;
}

/* Callers were not requested, so none are missing. */
static __always_inline void stack_forget_callers(struct stack *s)
{
	if (s->kernel_end == STACK_DEEPER)
		s->kernel_end = STACK_WALKED;
	if (s->user)
		s->user_end = s->user_end == STACK_GONE ? STACK_GONE : STACK_ROOT;
	s->guessed = 0;
}

static __always_inline void stack_walk_into(struct stack_slot *slot, struct stack_id *id, void *ctx,
					    u32 flags)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct stack *s = &slot->stack;

	stack_walk_parts(slot, ctx, flags);
	if (flags & STACK_INNERMOST)
		stack_forget_callers(s);
	s->space = s->user ? stack_space(tgid) : 0;
	id->hash = stack_hash(s, stack_seed, STACK_MOST_FRAMES);
	id->frames = s->kernel + s->user + s->python;
	id->tgid = s->user ? tgid : 0;
}

/* Takes a free slot of this CPU, which the caller must give back. Returns NULL if there is none (LOSS_NESTING). */
static __always_inline struct stack_slot *stack_take_slot(void)
{
	struct stack_slot *slot;
	u32 level, i;

	for (i = 0; i < STACK_NESTING; i++) {
		level = i;
		slot = bpf_map_lookup_elem(&stack_slots, &level);
		if (!slot || !claim_alone(&slot->holders))
			continue;
		slot->level = i;
		return slot;
	}
	return NULL;
}

static __always_inline void stack_give_slot_back(struct stack_slot *slot)
{
	give_up_claim(&slot->holders);
}

static __always_inline u32 stack_cut(const struct stack_slot *slot)
{
	if (slot->stack.kernel_end == STACK_DEEPER || slot->stack.user_end == STACK_DEEPER ||
	    slot->stack.python_end == PYTHON_DEEPER)
		return LOSS_TRUNCATED;
	return 0;
}

/* Always zero, which the verifier does not know. */
struct stack_id no_stack = {};

/*
 * Copies through volatile memory, whose values the verifier does not know. The verifier then checks the following code
 * once, instead of once for each way in which a walk may end.
 */
static __always_inline void stack_copy_id(struct stack_id *to, const struct stack_id *from)
{
	to->hash = *(volatile const u64 *)&from->hash;
	to->tgid = *(volatile const u32 *)&from->tgid;
	to->frames = *(volatile const u32 *)&from->frames;
}

/* Stores the walked stack. Returns the flaw. */
static __always_inline u32 stack_take_walked(struct stack_id *id, struct stack_slot *slot)
{
	u32 flaw = stack_keep(&slot->stack, slot->id.frames, slot->id.hash);

	if (!flaw) {
		stack_copy_id(id, &slot->id);
		flaw = stack_cut(slot);
	}
	stack_give_slot_back(slot);
	return flaw;
}

/* Returns the flaw, which the caller counts with the event. */
static __always_inline u32 stack_take(struct stack_id *id, void *ctx, u32 flags)
{
	struct stack_slot *slot = stack_take_slot();

	stack_copy_id(id, &no_stack);
	if (!slot)
		return LOSS_NESTING;
	stack_walk_into(slot, &slot->id, ctx, flags);
	return stack_take_walked(id, slot);
}

/* Walks the kernel stack of a task that is off its CPU and remains off during the walk. */
static __always_inline void stack_walk_task(struct stack_slot *slot, struct stack_id *id,
					    struct task_struct *t)
{
	struct stack *s = &slot->stack;
	u16 frames = 0;

	s->user = 0;
	s->user_end = STACK_NOT_TAKEN;
	s->python = s->python_end = 0;
	s->mark = s->guessed = 0;
	s->generation = stack_generation_now();
	s->space = 0;
	s->kernel_end = stack_part(bpf_get_task_stack(t, s->frame, (stack_depth + 1) * sizeof(u64), 0),
				   stack_depth, &frames);
	s->kernel = frames;
	id->hash = stack_hash(s, stack_seed, stack_depth);      /* no part but the kernel's: fewer verifier steps */
	id->frames = frames;
}

/* As stack_walk_task(), and stores the stack like stack_take(). */
static __always_inline u32 stack_take_task(struct stack_id *id, struct task_struct *t)
{
	struct stack_slot *slot = stack_take_slot();

	stack_copy_id(id, &no_stack);
	if (!slot)
		return LOSS_NESTING;
	stack_walk_task(slot, &slot->id, t);
	return stack_take_walked(id, slot);
}

/* --- processes --------------------------------------------------------------------------------- */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} stack_processes SEC(".maps");

/*
 * Processes that were reported to the loader, with their state at that time: a cache indexed by pid. Processes that
 * share an entry are reported repeatedly, which is cheap and harmless.
 */
#define STACK_SEEN 4096

u64 stack_seen[STACK_SEEN] = {};

static __always_inline void stack_see(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct stack_process p = {};
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	u64 *seen = &stack_seen[tgid % STACK_SEEN], now;

	if (!mm)
		return;
	stack_see_code(tgid, mm);
	/* Changes at an exec, and when a dlopen() maps more code. A pid has at most 22 bits. */
	now = (u64)tgid << 42 | (((u64)mm >> 6) + BPF_CORE_READ(mm, exec_vm)) % (1ULL << 42);
	if (*(volatile u64 *)seen == now)
		return;
	p.pid = stack_pidns ? stack_own_pid(t) : tgid;
	/* If the ring is full, the next stack of the process tries again. */
	if (!bpf_ringbuf_output(&stack_processes, &p, sizeof(p), 0))
		*(volatile u64 *)seen = now;
}

/* --- counts ------------------------------------------------------------------------------------ */

static __always_inline struct stack_count *stack_new_count(void *counts,
							   const struct stack_key *key)
{
	struct stack_count fresh = {}, *c;
	long err = bpf_map_update_elem(counts, key, &fresh, BPF_NOEXIST);

	c = bpf_map_lookup_elem(counts, key);
	if (!c)
		count_failed_update(err);
	return c;
}

/*
 * Returns the element of the key with the current stack in it, if it exists. In that case the stack is already stored
 * and its process reported, so the caller can skip both steps.
 */
static __always_inline struct stack_count *stack_find_count(void *counts, struct stack_key *key,
							    void *ctx, u32 flags, u32 *flaw)
{
	struct stack_slot *slot = stack_take_slot();
	struct stack_count *c;
	u32 unkept = 0;

	key->stack = (struct stack_id){};
	key->generation = stack_generation_now();
	*flaw = LOSS_NESTING;
	if (!slot)
		return bpf_map_lookup_elem(counts, key);
	stack_walk_into(slot, &key->stack, ctx, flags);
	c = bpf_map_lookup_elem(counts, key);
	if (!c)
		unkept = stack_keep(&slot->stack, key->stack.frames, key->stack.hash);
	if (unkept) {
		key->stack = (struct stack_id){};
		c = bpf_map_lookup_elem(counts, key);
	}
	*flaw = unkept ?: stack_cut(slot);
	stack_give_slot_back(slot);
	return c;
}

static __always_inline void stack_add(void *counts, struct stack_key *key, void *ctx, u32 flags,
				      u64 n)
{
	u32 flaw;
	struct stack_count *c = stack_find_count(counts, key, ctx, flags, &flaw);

	if (!c) {
		if (key->stack.tgid)
			stack_see();
		c = stack_new_count(counts, key);
	}
	if (!c)
		return;
	stack_count_flaw(flaw);
	wide_add(&c->count, &c->count_high, n, false, false);
	if (task_key_has_name())
		task_key_name(c->name, &c->name_stamp, NULL, bpf_ktime_get_ns());
}

/* Adds n to the count of a key of task t whose stack, with that flaw, was already taken. */
static __always_inline void stack_add_taken(void *counts, struct stack_key *key, u32 flaw,
					    struct task_struct *t, u64 n)
{
	struct stack_count *c;

	key->generation = stack_generation_now();
	c = bpf_map_lookup_elem(counts, key);
	if (!c)
		c = stack_new_count(counts, key);
	if (!c)
		return;
	stack_count_flaw(flaw);
	wide_add(&c->count, &c->count_high, n, false, false);
	if (task_key_has_name())
		task_key_name(c->name, &c->name_stamp, t, bpf_ktime_get_ns());
}

#endif /* TALLY_STACK_BPF_H */
