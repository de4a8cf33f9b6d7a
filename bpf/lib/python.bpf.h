/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks CPython's frames (python.h) in the memory of the current process.
 *
 *   python_walk(slot, base, native, nnative, most)
 *                    writes words to slot->stack.frame[base...] and returns their number; slot->python.end tells how
 *                    the walk ended. native, nnative: the user frames, whose stack pointers are at STACK_POINTERS
 *
 * A code object is recognized by its strings, not by its address. No state is kept per thread.
 */
#ifndef TALLY_PYTHON_BPF_H
#define TALLY_PYTHON_BPF_H

#include "user_memory.bpf.h"
#include "python.h"

/*
 * The first kernel whose verifier accepts the object's programs at their size with this walk; older verifiers may
 * reject them. 0: every kernel that tally supports.
 */
#ifndef PYTHON_SINCE
#define PYTHON_SINCE KERNEL_VERSION(6, 12, 0)
#endif
const volatile u32 python_since = PYTHON_SINCE;
const volatile bool python_in_stacks = false;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PYTHON_PROCESSES);
	__type(key, u32);
	__type(value, struct python_process);
} python_processes SEC(".maps");

/* Maps the identity of a code object (a hash of its strings) to the number with which it was sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PYTHON_CODES);
	__type(key, u64);
	__type(value, u32);
} python_known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_NESTING);
	__type(key, u32);
	__type(value, struct python_code);
} python_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} python_codes SEC(".maps");

u32 python_processes_known = 0; /* entries in the map; set by the loader */

/* The pid in the loader's pid namespace; see stack.bpf.h. */
static __always_inline u32 stack_current_pid(void);

/* --- memory ------------------------------------------------------------------------------------ */

static __always_inline bool python_read(struct python_walk *p, void *to, u32 size, u64 address)
{
	(void)p;
	return address >= USER_PAGE && !bpf_probe_read_user(to, size, (void *)address);
}

/* Identifies the process, because pids and addresses are reused. */
static __always_inline u64 python_process_mix(struct python_walk *p)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	u64 start = BPF_CORE_READ(t, group_leader, start_time);

	(void)p;
	return stack_mix(start, BPF_CORE_READ(t, self_exec_id) << 32 | bpf_get_current_pid_tgid() >> 32);
}

static __always_inline u32 python_number(struct python_walk *p, u32 level);
static __always_inline bool python_put(struct python_walk *p, u64 word);
static __always_inline void python_end_run(struct python_walk *p, u32 level);

#include "python_steps.h"

/* --- the thread -------------------------------------------------------------------------------- */

/* The thread pointer, which is pthread_self() in glibc and musl. */
static __always_inline u64 python_thread_id(void)
{
	return thread_pointer((struct task_struct *)bpf_get_current_task());
}

/*
 * Examines the next thread state. Not static, for the reason given at user_stack_frames(). Returns 0 after the last
 * state, or if the walk cannot continue.
 */
__noinline int python_look_at_state(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);

	VERIFIED_ONCE();
	if (!slot || !python_in_stacks)
		return 0;
	return python_step_state(&slot->python);
}

/* Finds the thread's state and puts its current frame into p->frame. Returns false if it has no state. */
static __always_inline bool python_find_state(struct python_walk *p, u32 level)
{
	u32 i;

	p->thread = python_thread_id();
	if (!python_begin_search(p))
		return false;
	for (i = 0; i < PYTHON_MOST_STATES; i++)
		if (!python_look_at_state(level))
			break;
	return python_end_search(p, i < PYTHON_MOST_STATES);
}

/* --- code -------------------------------------------------------------------------------------- */

/* Numbers are unique across CPUs and nesting levels. Returns 0 if none is left. */
static __always_inline u32 python_new_number(struct python_code *c, u32 level)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu >= PYTHON_CPUS || c->sequence >= PYTHON_SEQUENCE)
		return 0;
	c->sequence++;
	return (c->sequence * PYTHON_CPUS + cpu) * STACK_NESTING + level;
}

/* Sends the current code object, and stores its number if it was sent. Not static: see python_look_at_state(). */
__noinline int python_send(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);
	struct python_code *c;
	struct python_walk *p;
	u32 lines = 0, number;
	u64 size;

	VERIFIED_ONCE();
	if (!slot || !python_in_stacks)
		return 0;
	c = bpf_map_lookup_elem(&python_records, &level);
	if (!c)
		return 0;
	p = &slot->python;
	number = python_new_number(c, level);
	if (!number)
		return 0;
	c->number = number;
	c->pid = p->pid;
	c->at_ns = bpf_ktime_get_ns();
	if (!python_fill(p, c, &lines))
		return 0;
	size = __builtin_offsetof(struct python_code, lines) + (u64)lines;
	barrier_var(size);
	if (size > sizeof(*c) || bpf_ringbuf_output(&python_codes, c, size, 0))
		return 0;
	bpf_map_update_elem(&python_known, &p->identity, &c->number, BPF_ANY);
	return number;
}

/* Returns the number of the current code object, or 0 if its strings could not be read or it could not be sent. */
static __always_inline u32 python_number(struct python_walk *p, u32 level)
{
	u32 *known;

	if (!python_identify(p))
		return 0;
	known = bpf_map_lookup_elem(&python_known, &p->identity);
	return known ? *known : python_send(level);
}

/* --- frames ------------------------------------------------------------------------------------ */

#define PYTHON_NATIVE_STEPS 11          /* steps of a binary search: log2(STACK_MOST_DEPTH + 1), plus 1 */

/* Stack pointers of the user frames are stored after the largest possible stack, in the same order. */
#define STACK_POINTERS (STACK_PARTS * stack_depth + 2)

/*
 * The index of the native frame that contains an address, that is, between its stack pointer and its caller's. For
 * addresses beyond the last frame, its index plus one.
 */
static __always_inline u32 python_native(struct stack_slot *slot, u64 address)
{
	u32 from = slot->python.nnone, to = slot->python.nnative, i;

	for (i = 0; i < PYTHON_NATIVE_STEPS && from < to; i++) {
		u64 middle = (from + to) / 2, n = slot->python.native + middle;

		barrier_var(n);
		if (n > 2 * stack_depth)        /* never true, which the verifier does not know */
			break;
		if (slot->stack.frame[STACK_POINTERS + n] <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return slot->python.nnative;
	return from == slot->python.nnative ? from : from - 1;
}

/*
 * Sets the native frame of a run's outermost frame, from p->entry on the C stack. Not static: see
 * python_look_at_state().
 */
__noinline int python_place_run(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);
	struct python_walk *p;
	u64 n;

	VERIFIED_ONCE();
	if (!slot || !python_in_stacks)
		return 0;
	p = &slot->python;
	n = (u64)p->base + p->n - 1;
	barrier_var(n);
	if (!p->run || n > STACK_PARTS * stack_depth)
		return 0;
	slot->stack.frame[n] = (slot->stack.frame[n] & ~(u64)PYTHON_IN_RUN) | python_native(slot, p->entry);
	p->run = 0;
	return 0;
}

static __always_inline void python_end_run(struct python_walk *p, u32 level)
{
	(void)p;
	python_place_run(level);
}

static __always_inline bool python_put(struct python_walk *p, u64 word)
{
	struct stack_slot *slot = (void *)p - __builtin_offsetof(struct stack_slot, python);
	u64 n = (u64)p->base + p->n;

	barrier_var(n);
	if (n > STACK_PARTS * stack_depth)      /* never true, which the verifier does not know */
		return false;
	slot->stack.frame[n] = word;
	return true;
}

/* Adds one frame. Not static: see python_look_at_state(). Returns 0 at the end of the walk. */
__noinline int python_frame(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);

	VERIFIED_ONCE();
	if (!slot || !python_in_stacks)
		return 0;
	return python_step_frame(&slot->python, level);
}

#define PYTHON_FRAMES_AT_ONCE 32

/* A separate function, so that the verifier has fewer steps to check in the caller. */
__noinline int python_frames(u32 level)
{
	u32 i;

	VERIFIED_ONCE();
	for (i = 0; i < PYTHON_FRAMES_AT_ONCE; i++)
		if (!python_frame(level))
			return 0;
	return 1;
}

static __always_inline bool python_is_of(const struct python_process *p, struct mm_struct *mm)
{
	return p->code == BPF_CORE_READ(mm, start_code) && p->stack == BPF_CORE_READ(mm, start_stack);
}

/* A child that was just forked uses its parent's entry. */
static __always_inline bool python_begin(struct python_walk *p)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	u32 tgid = bpf_get_current_pid_tgid() >> 32, parent = BPF_CORE_READ(t, real_parent, tgid);
	const struct python_process *known = bpf_map_lookup_elem(&python_processes, &tgid);
	struct mm_struct *mm = BPF_CORE_READ(t, mm);

	if (!known || !python_is_of(known, mm))
		known = bpf_map_lookup_elem(&python_processes, &parent);
	if (!known || !python_is_of(known, mm))
		return false;
	p->process = *known;
	return true;
}

static __always_inline u32 python_walk(struct stack_slot *slot, u32 base, u32 native, u32 nnative, u32 most)
{
	struct python_walk *p = &slot->python;
	u32 level = slot->level, i;

	p->end = PYTHON_NONE;
	p->n = 0;
	if (!*(volatile u32 *)&python_processes_known || !python_begin(p))
		return 0;
	p->base = base;
	p->most = most;
	p->native = native;
	p->nnative = nnative;
	p->nnone = 0;
	p->run = 0;
	if (!python_find_state(p, level))
		return 0;
	/* Not in python_send(), because the stack frames of nested calls add up. */
	p->pid = stack_current_pid();
	/* Also walks frames beyond the limit, to place the outermost run among the native frames. */
	for (i = 0; i < 2 * STACK_MOST_DEPTH / PYTHON_FRAMES_AT_ONCE; i++)
		if (!python_frames(level))
			break;
	return p->n;
}

#endif /* TALLY_PYTHON_BPF_H */
