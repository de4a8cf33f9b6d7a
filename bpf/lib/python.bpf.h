/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks CPython's frames (python.h) in the memory of the current process.
 *
 *   python_walk(slot, base, native, nnative, most)
 *                    writes words to slot->stack.frame[base...] and returns their number; slot->python.end says how
 *                    the walk ended. native, nnative: the user frames, whose stack pointers are at STACK_POINTERS
 *
 * The memory is not trusted: every step is bounded, anything unreadable or implausible ends the walk, and a code
 * object is recognized by its strings, not by its address. Nothing is remembered about a thread.
 */
#ifndef TALLY_PYTHON_BPF_H
#define TALLY_PYTHON_BPF_H

#include "user_memory.bpf.h"
#include "python.h"

/*
 * The first kernel whose verifier accepts the object's programs at the size that this walk gives them; older ones may
 * refuse them. 0: every kernel that tally supports.
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

/* Identity of a code object (a hash of its strings) to the number it was sent with. */
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

/* The pid in the loader's pid namespace: stack.bpf.h. */
static __always_inline u32 stack_current_pid(void);

/* --- memory ------------------------------------------------------------------------------------ */

static __always_inline bool python_read(void *to, u32 size, u64 address)
{
	return address >= USER_PAGE && !bpf_probe_read_user(to, size, (void *)address);
}

/* Reads an object into the block, from which its members are then taken. */
static __always_inline bool python_read_block(struct python_walk *p, u64 address, u32 size)
{
	u64 n = size;

	barrier_var(n);
	if (!n || n > PYTHON_BLOCK)
		return false;
	return python_read(p->block, n, address);
}

static __always_inline u64 python_member(struct python_walk *p, u32 at)
{
	u64 offset = at;

	barrier_var(offset);
	if (offset > PYTHON_BLOCK)
		return 0;
	return *(u64 *)(p->block + offset);
}

/* --- the thread -------------------------------------------------------------------------------- */

/* The thread pointer, which is pthread_self() in glibc and musl. */
static __always_inline u64 python_thread_id(void)
{
	return thread_pointer((struct task_struct *)bpf_get_current_task());
}

/*
 * Takes the state just read, which belongs to this thread. A thread has one state per interpreter: with several
 * interpreters it may have several, and it is then unknown which is active.
 */
static __always_inline int python_take_state(struct python_walk *p)
{
	if (p->frame) {
		p->end = PYTHON_AMBIGUOUS;
		return 0;
	}
	p->frame = python_member(p, p->process.layout.thread_frame);
	return p->next_interpreter || p->interpreter != p->first_interpreter;
}

/*
 * Looks at the next thread state, of one interpreter after the other. Not static, for the reason given at
 * user_stack_frames(). Returns 0 after the last one, or if the walk cannot go on.
 */
__noinline int python_look_at_state(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);
	const struct python_layout *at;
	struct python_walk *p;

	VERIFIED_ONCE();
	if (!slot || !python_in_stacks)
		return 0;
	p = &slot->python;
	at = &p->process.layout;
	if (!p->state) {
		p->interpreter = p->next_interpreter;
		if (!p->interpreter) {
			p->end = PYTHON_NO_STATE;
			return 0;
		}
		if (!python_read(&p->state, sizeof(p->state), p->interpreter + at->threads) ||
		    !python_read(&p->next_interpreter, sizeof(p->next_interpreter),
				 p->interpreter + at->next_interpreter)) {
			p->end = PYTHON_UNREADABLE;
			return 0;
		}
		return 1;
	}
	if (!python_read_block(p, p->state, at->thread_size) ||
	    python_member(p, at->thread_interpreter) != p->interpreter) {
		p->end = PYTHON_UNREADABLE;
		return 0;
	}
	p->state = python_member(p, at->thread_next);
	if (python_member(p, at->thread_id) != p->thread)
		return 1;
	return python_take_state(p);
}

/* Finds the thread's state and puts its current frame into p->frame. Returns false if there is none. */
static __always_inline bool python_find_state(struct python_walk *p, u32 level)
{
	const struct python_layout *at = &p->process.layout;
	u32 i;

	p->thread = python_thread_id();
	p->frame = p->cframe = p->state = 0;
	p->end = PYTHON_UNREADABLE;
	if (!python_read(&p->first_interpreter, sizeof(p->first_interpreter), p->process.runtime + at->interpreters))
		return false;
	p->next_interpreter = p->first_interpreter;
	p->end = PYTHON_CROWDED;
	for (i = 0; i < PYTHON_MOST_STATES; i++)
		if (!python_look_at_state(level))
			break;
	/* The state found counts if all states were looked at, or if the search could stop early. */
	if (i < PYTHON_MOST_STATES && p->end == PYTHON_CROWDED)
		p->end = PYTHON_WHOLE;
	if (p->end == PYTHON_NO_STATE && p->frame)
		p->end = PYTHON_WHOLE;
	if (p->end != PYTHON_WHOLE)
		return false;
	if (at->flags & PYTHON_CFRAMES) {
		p->cframe = p->frame;
		if (!python_read(&p->frame, sizeof(p->frame), p->cframe + at->cframe_frame)) {
			p->end = PYTHON_UNREADABLE;
			return false;
		}
	}
	return true;
}

/* --- code -------------------------------------------------------------------------------------- */

static __always_inline u32 python_character_bytes(u32 state)
{
	return state >> 2 & 7;
}

/* Does the str itself contain its characters? All do since 3.12; before, those of code objects do. */
static __always_inline bool python_is_compact(u32 state)
{
	return state & 1 << 5;
}

static __always_inline bool python_is_ascii(u32 state)
{
	return state & 1 << 6;
}

static __always_inline u64 python_text_bytes(const struct python_text_head *h)
{
	return (u64)h->length * python_character_bytes(h->state);
}

static __always_inline bool python_read_head(struct python_walk *p, u64 text)
{
	if (!python_read(&p->head, sizeof(p->head), text) || p->head.type != p->process.text_type ||
	    p->head.length < 0 || p->head.length > 1 << 20)
		return false;
	return python_is_compact(p->head.state) && python_character_bytes(p->head.state) <= 4;
}

static __always_inline u64 python_characters(const struct python_walk *p, u64 text)
{
	return text + (python_is_ascii(p->head.state) ? p->process.layout.text_ascii : p->process.layout.text_other);
}

/* The hash member of a str whose hash has not been computed yet. */
#define PYTHON_NO_HASH ~0ULL

/* Mixes the first bytes of a string into the identity of the code object. */
static __always_inline bool python_mix_bytes(struct python_walk *p, u64 address, u64 size)
{
	u64 n = size < PYTHON_HEAD_BYTES ? size : PYTHON_HEAD_BYTES, hash = stack_mix(p->identity, size);
	u32 i;

	for (i = 0; i < PYTHON_HEAD_BYTES / 8; i++)
		p->text[i] = 0;
	barrier_var(n);
	if (n > PYTHON_HEAD_BYTES)      /* never; the verifier cannot know */
		return false;
	if (n && !python_read(p->text, n, address))
		return false;
	for (i = 0; i < PYTHON_HEAD_BYTES / 8; i++)
		hash = stack_mix(hash, p->text[i]);
	p->identity = hash;
	return true;
}

static __always_inline bool python_mix_text(struct python_walk *p, u64 text)
{
	if (!python_read_head(p, text))
		return false;
	p->identity = stack_mix(stack_mix(p->identity, p->head.hash), python_character_bytes(p->head.state));
	/* Python's own hash covers the whole string, under a per-process key; names always have one. */
	if (p->head.hash != PYTHON_NO_HASH) {
		p->identity = stack_mix(p->identity, p->head.length);
		return true;
	}
	return python_mix_bytes(p, python_characters(p, text), python_text_bytes(&p->head));
}

/* In a bytes object, the size is where a str has its length, and the bytes follow the hash. */
static __always_inline bool python_read_lines(struct python_walk *p)
{
	return python_read(&p->head, __builtin_offsetof(struct python_text_head, state), p->lines) &&
	       p->head.type == p->process.bytes_type && p->head.length >= 0;
}

static __always_inline bool python_mix_lines(struct python_walk *p)
{
	if (!python_read_lines(p))
		return false;
	return python_mix_bytes(p, p->lines + __builtin_offsetof(struct python_text_head, state),
				p->head.length);
}

/* Identifies the process: pids and addresses are reused. */
static __always_inline u64 python_process_mix(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	u64 start = BPF_CORE_READ(t, group_leader, start_time);

	return stack_mix(start, BPF_CORE_READ(t, self_exec_id) << 32 | bpf_get_current_pid_tgid() >> 32);
}

static __always_inline bool python_identify(struct python_walk *p)
{
	const struct python_layout *at = &p->process.layout;

	if (!python_read_block(p, p->code, at->code_size) ||
	    python_member(p, __builtin_offsetof(struct python_text_head, type)) != p->process.code_type)
		return false;
	p->name = python_member(p, at->code_name);
	p->file = python_member(p, at->code_file);
	p->lines = python_member(p, at->code_lines);
	p->first_line = python_member(p, at->code_line);
	p->identity = stack_mix(python_process_mix(), p->code);
	p->identity = stack_mix(stack_mix(p->identity, p->name), p->file);
	p->identity = stack_mix(stack_mix(p->identity, p->lines), p->first_line);
	return python_mix_text(p, p->name) && python_mix_text(p, p->file) && python_mix_lines(p);
}

static __always_inline bool python_copy(void *to, u64 most, u64 address, u64 size, u32 *copied)
{
	u64 n = size < most ? size : most;

	barrier_var(n);
	*copied = 0;
	if (n > most)
		return false;
	if (n && !python_read(to, n, address))
		return false;
	*copied = n;
	return true;
}

static __always_inline bool python_copy_text(struct python_walk *p, u64 text, struct python_text *t, void *to,
					     u64 most)
{
	if (!python_read_head(p, text))
		return false;
	t->length = p->head.length;
	t->state = p->head.state;
	return python_copy(to, most, python_characters(p, text), python_text_bytes(&p->head), &t->bytes);
}

static __always_inline bool python_copy_lines(struct python_walk *p, struct python_code *c, u32 *copied)
{
	if (!python_read_lines(p))
		return false;
	c->nlines = p->head.length < 1 << 30 ? p->head.length : 1 << 30;
	/* Omit a table that is too long: half a table would end in wrong lines. */
	if (c->nlines > PYTHON_LINES_BYTES)
		c->nlines = 0;
	return python_copy(c->lines, PYTHON_LINES_BYTES,
			   p->lines + __builtin_offsetof(struct python_text_head, state), c->nlines, copied);
}

/* Numbers are unique across CPUs and nesting levels. 0: none left. */
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
	c->first_line = p->first_line;
	c->runs = p->process.runs;
	c->runs_end = p->process.runs_end;
	c->layout = p->process.layout;
	if (!python_copy_text(p, p->name, &c->name, c->name_bytes, PYTHON_NAME_BYTES) ||
	    !python_copy_text(p, p->file, &c->file, c->file_bytes, PYTHON_FILE_BYTES) ||
	    !python_copy_lines(p, c, &lines))
		return 0;
	size = __builtin_offsetof(struct python_code, lines) + (u64)lines;
	barrier_var(size);
	if (size > sizeof(*c) || bpf_ringbuf_output(&python_codes, c, size, 0))
		return 0;
	bpf_map_update_elem(&python_known, &p->identity, &c->number, BPF_ANY);
	return number;
}

/* Returns the number of the current code object, or 0 if its names could not be read or the ring was full. */
static __always_inline u32 python_number(struct python_walk *p, u32 level)
{
	u32 *known;

	if (!python_identify(p))
		return 0;
	known = bpf_map_lookup_elem(&python_known, &p->identity);
	return known ? *known : python_send(level);
}

/* --- frames ------------------------------------------------------------------------------------ */

#define PYTHON_NATIVE_STEPS 11          /* of a binary search: log2 of STACK_MOST_DEPTH + 1, and 1 */

/* Stack pointers of the user frames follow the largest stack possible, at the same indexes. */
#define STACK_POINTERS (STACK_PARTS * stack_depth + 2)

/*
 * The index of the native frame that contains an address: between its stack pointer and its caller's. Addresses
 * beyond the last frame give its index plus one.
 */
static __always_inline u32 python_native(struct stack_slot *slot, u64 address)
{
	u32 from = slot->python.nnone, to = slot->python.nnative, i;

	for (i = 0; i < PYTHON_NATIVE_STEPS && from < to; i++) {
		u64 middle = (from + to) / 2, n = slot->python.native + middle;

		barrier_var(n);
		if (n > 2 * stack_depth)        /* never; the verifier cannot know */
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
__noinline int python_end_run(u32 level)
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

/* 3.11: the caller of a run is the current frame of the previous _PyCFrame. */
static __always_inline bool python_leave_cframe(struct python_walk *p)
{
	const struct python_layout *at = &p->process.layout;
	if (!python_read(&p->outer, sizeof(p->outer), p->cframe + at->cframe_previous))
		return false;
	/* The outermost _PyCFrame is in the thread state, and has no frame. */
	if (!python_read(&p->outer_frame, sizeof(p->outer_frame), p->outer + at->cframe_frame) ||
	    p->outer_frame != p->frame)
		return false;
	p->cframe = p->outer;
	return true;
}

/* The position in instructions. A frame that has not started points before its first instruction, or has index -1. */
static __always_inline u32 python_instruction(const struct python_walk *p)
{
	const struct python_layout *l = &p->process.layout;
	u64 at = p->instruction - p->code - l->code_bytecode;

	if (l->index_bytes)
		at = (u64)(u32)p->instruction * l->index_bytes;
	return at / 2 < PYTHON_NO_INSTRUCTION ? at / 2 : PYTHON_NO_INSTRUCTION;
}

/* Adds one frame. Not static: see python_look_at_state(). Returns 0 at the end of the walk. */
__noinline int python_frame(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);
	u64 n, frame;
	const struct python_layout *at;
	struct python_walk *p;
	u32 number;
	u8 owner, is_entry, is_shim;

	VERIFIED_ONCE();
	if (!slot || !python_in_stacks)
		return 0;
	p = &slot->python;
	at = &p->process.layout;
	frame = p->frame;
	if (!frame)
		return 0;
	if (!python_read_block(p, frame, at->frame_size)) {
		p->end = PYTHON_UNREADABLE;
		return 0;
	}
	p->code = python_member(p, at->frame_code);
	p->frame = python_member(p, at->frame_previous);
	p->instruction = python_member(p, at->frame_instruction);
	owner = python_member(p, at->frame_owner);
	is_entry = at->flags & PYTHON_ENTRY_FLAG && (u8)python_member(p, at->frame_entry);
	is_shim = owner >= at->shim_owner;
	p->entry = is_shim ? frame : p->cframe;
	if (is_shim) {
		python_end_run(level);
		return 1;
	}
	/* Past the limit, only the end of the run is looked for, to place the run among the native frames. */
	if (p->n >= p->most) {
		p->end = PYTHON_DEEPER;
		if (is_entry)
			python_end_run(level);
		return p->run != 0;
	}
	if (at->flags & PYTHON_TAGGED)
		p->code &= ~3ULL;
	number = python_number(p, level);
	n = (u64)p->base + p->n;
	barrier_var(n);
	if (n > STACK_PARTS * stack_depth)      /* never; the verifier cannot know */
		return 0;
	slot->stack.frame[n] = python_word(number, python_instruction(p), PYTHON_IN_RUN);
	p->n++;
	if (!(at->flags & PYTHON_OBJECTS))
		p->run++;
	if (!is_entry)
		return 1;
	python_end_run(level);
	if (!python_leave_cframe(p)) {
		p->end = PYTHON_UNREADABLE;
		return 0;
	}
	return 1;
}

#define PYTHON_FRAMES_AT_ONCE 32

/* A separate function, so that the verifier has fewer steps to check in its caller. */
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
	/* Here, and not in python_send(): the stack frames of nested calls add up. */
	p->pid = stack_current_pid();
	/* Also walks frames beyond the limit, to place the outermost run among the native frames. */
	for (i = 0; i < 2 * STACK_MOST_DEPTH / PYTHON_FRAMES_AT_ONCE; i++)
		if (!python_frames(level))
			break;
	return p->n;
}

#endif /* TALLY_PYTHON_BPF_H */
