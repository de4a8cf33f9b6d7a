/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps of a walk of CPython's frames (python.h). Programs walk the current process (python.bpf.h), and the loader
 * walks sleeping threads (user/runtime/python_walk.c). The including file must first define or declare:
 *
 *   barrier_var(variable)          keeps the compiler from removing the check that follows, which the verifier needs
 *   python_read(walk, to, size, address)
 *                                  reads memory of the process; false if it cannot be read
 *   python_process_mix(walk)       identifies the process, because pids and addresses are reused
 *   python_number(walk, level)     the number of the current code object, or 0 if its names are unknown
 *   python_put(walk, word)         writes the word of frame walk->n; false if there is no room
 *   python_end_run(walk, level)    sets the native frame of a run's outermost frame, from walk->entry on the C stack
 *
 * level is that of the program's slot; the loader may pass any value. This file defines:
 *
 *   python_begin_search(walk)      begins to search for the state of the thread walk->thread
 *   python_step_state(walk)        examines the next state; false if the search is over
 *   python_end_search(walk, over)  puts the thread's current frame into walk->frame; false if there is none
 *   python_step_frame(walk, level) adds the next frame; false if the walk is over
 *   python_identify(walk)          sets walk->identity of the current code object
 *   python_fill(walk, code, lines) fills in the record of the current code object
 *
 * The memory is not trusted: every step is bounded, and anything unreadable or implausible ends the walk.
 */
#ifndef TALLY_PYTHON_STEPS_H
#define TALLY_PYTHON_STEPS_H

#include "python.h"
#include "stack.h"

/* --- memory ------------------------------------------------------------------------------------ */

/* Reads an object into the block, from which python_member() takes its members. */
static __always_inline bool python_read_block(struct python_walk *p, u64 address, u32 size)
{
	u64 n = size;

	barrier_var(n);
	if (!n || n > PYTHON_BLOCK)
		return false;
	return python_read(p, p->block, n, address);
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

static __always_inline bool python_begin_search(struct python_walk *p)
{
	p->frame = p->cframe = p->state = 0;
	p->end = PYTHON_UNREADABLE;
	if (!python_read(p, &p->first_interpreter, sizeof(p->first_interpreter),
			 p->process.runtime + p->process.layout.interpreters))
		return false;
	p->next_interpreter = p->first_interpreter;
	p->end = PYTHON_CROWDED;
	return true;
}

/*
 * Accepts the state just read, which belongs to this thread. A thread has one state per interpreter: with several
 * interpreters it may have several states, and the active one is then unknown.
 */
static __always_inline bool python_take_state(struct python_walk *p)
{
	if (p->frame) {
		p->end = PYTHON_AMBIGUOUS;
		return false;
	}
	p->frame = python_member(p, p->process.layout.thread_frame);
	return p->next_interpreter || p->interpreter != p->first_interpreter;
}

/* Iterates over the states of all interpreters, one interpreter after the other. */
static __always_inline bool python_step_state(struct python_walk *p)
{
	const struct python_layout *at = &p->process.layout;

	if (!p->state) {
		p->interpreter = p->next_interpreter;
		if (!p->interpreter) {
			p->end = PYTHON_NO_STATE;
			return false;
		}
		if (!python_read(p, &p->state, sizeof(p->state), p->interpreter + at->threads) ||
		    !python_read(p, &p->next_interpreter, sizeof(p->next_interpreter),
				 p->interpreter + at->next_interpreter)) {
			p->end = PYTHON_UNREADABLE;
			return false;
		}
		return true;
	}
	if (!python_read_block(p, p->state, at->thread_size) ||
	    python_member(p, at->thread_interpreter) != p->interpreter) {
		p->end = PYTHON_UNREADABLE;
		return false;
	}
	p->state = python_member(p, at->thread_next);
	if (python_member(p, at->thread_id) != p->thread)
		return true;
	return python_take_state(p);
}

/* The state found counts if all states were examined, or if the search could stop early. */
static __always_inline bool python_end_search(struct python_walk *p, bool over)
{
	const struct python_layout *at = &p->process.layout;

	if (over && p->end == PYTHON_CROWDED)
		p->end = PYTHON_WHOLE;
	if (p->end == PYTHON_NO_STATE && p->frame)
		p->end = PYTHON_WHOLE;
	if (p->end != PYTHON_WHOLE)
		return false;
	if (at->flags & PYTHON_CFRAMES) {
		p->cframe = p->frame;
		if (!python_read(p, &p->frame, sizeof(p->frame), p->cframe + at->cframe_frame)) {
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

/* True if the str itself contains its characters. All do since 3.12; before, those of code objects do. */
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
	if (!python_read(p, &p->head, sizeof(p->head), text) || p->head.type != p->process.text_type ||
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
	if (n > PYTHON_HEAD_BYTES)      /* never true, which the verifier does not know */
		return false;
	if (n && !python_read(p, p->text, n, address))
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
	/* Python's own hash covers the whole string, under a per-process key; names always have such a hash. */
	if (p->head.hash != PYTHON_NO_HASH) {
		p->identity = stack_mix(p->identity, p->head.length);
		return true;
	}
	return python_mix_bytes(p, python_characters(p, text), python_text_bytes(&p->head));
}

/* In a bytes object, the size is where a str has its length, and the bytes follow the hash. */
static __always_inline bool python_read_lines(struct python_walk *p)
{
	return python_read(p, &p->head, __builtin_offsetof(struct python_text_head, state), p->lines) &&
	       p->head.type == p->process.bytes_type && p->head.length >= 0;
}

static __always_inline bool python_mix_lines(struct python_walk *p)
{
	if (!python_read_lines(p))
		return false;
	return python_mix_bytes(p, p->lines + __builtin_offsetof(struct python_text_head, state),
				p->head.length);
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
	p->identity = stack_mix(python_process_mix(p), p->code);
	p->identity = stack_mix(stack_mix(p->identity, p->name), p->file);
	p->identity = stack_mix(stack_mix(p->identity, p->lines), p->first_line);
	return python_mix_text(p, p->name) && python_mix_text(p, p->file) && python_mix_lines(p);
}

static __always_inline bool python_copy(struct python_walk *p, void *to, u64 most, u64 address, u64 size, u32 *copied)
{
	u64 n = size < most ? size : most;

	barrier_var(n);
	*copied = 0;
	if (n > most)
		return false;
	if (n && !python_read(p, to, n, address))
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
	return python_copy(p, to, most, python_characters(p, text), python_text_bytes(&p->head), &t->bytes);
}

static __always_inline bool python_copy_lines(struct python_walk *p, struct python_code *c, u32 *copied)
{
	if (!python_read_lines(p))
		return false;
	c->nlines = p->head.length < 1 << 30 ? p->head.length : 1 << 30;
	/* Omit a table that is too long: a truncated table would give wrong lines. */
	if (c->nlines > PYTHON_LINES_BYTES)
		c->nlines = 0;
	return python_copy(p, c->lines, PYTHON_LINES_BYTES,
			   p->lines + __builtin_offsetof(struct python_text_head, state), c->nlines, copied);
}

/* *lines is set to the size of the line table in bytes. */
static __always_inline bool python_fill(struct python_walk *p, struct python_code *c, u32 *lines)
{
	c->first_line = p->first_line;
	c->runs = p->process.runs;
	c->runs_end = p->process.runs_end;
	c->layout = p->process.layout;
	return python_copy_text(p, p->name, &c->name, c->name_bytes, PYTHON_NAME_BYTES) &&
	       python_copy_text(p, p->file, &c->file, c->file_bytes, PYTHON_FILE_BYTES) &&
	       python_copy_lines(p, c, lines);
}

/* --- frames ------------------------------------------------------------------------------------ */

/* 3.11: the caller of a run is the current frame of the previous _PyCFrame. */
static __always_inline bool python_leave_cframe(struct python_walk *p)
{
	const struct python_layout *at = &p->process.layout;
	if (!python_read(p, &p->outer, sizeof(p->outer), p->cframe + at->cframe_previous))
		return false;
	/* The outermost _PyCFrame is in the thread state and has no frame. */
	if (!python_read(p, &p->outer_frame, sizeof(p->outer_frame), p->outer + at->cframe_frame) ||
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

static __always_inline bool python_step_frame(struct python_walk *p, u32 level)
{
	const struct python_layout *at = &p->process.layout;
	u8 owner, is_entry, is_shim;
	u64 frame = p->frame;
	u32 number;

	if (!frame)
		return false;
	if (!python_read_block(p, frame, at->frame_size)) {
		p->end = PYTHON_UNREADABLE;
		return false;
	}
	p->code = python_member(p, at->frame_code);
	p->frame = python_member(p, at->frame_previous);
	p->instruction = python_member(p, at->frame_instruction);
	owner = python_member(p, at->frame_owner);
	is_entry = at->flags & PYTHON_ENTRY_FLAG && (u8)python_member(p, at->frame_entry);
	is_shim = owner >= at->shim_owner;
	p->entry = is_shim ? frame : p->cframe;
	if (is_shim) {
		python_end_run(p, level);
		return true;
	}
	/* Past the limit, only search for the end of the run, to place the run among the native frames. */
	if (p->n >= p->most) {
		p->end = PYTHON_DEEPER;
		if (is_entry)
			python_end_run(p, level);
		return p->run != 0;
	}
	if (at->flags & PYTHON_TAGGED)
		p->code &= ~3ULL;
	number = python_number(p, level);
	if (!python_put(p, python_word(number, python_instruction(p), PYTHON_IN_RUN)))
		return false;
	p->n++;
	if (!(at->flags & PYTHON_OBJECTS))
		p->run++;
	if (!is_entry)
		return true;
	python_end_run(p, level);
	if (!python_leave_cframe(p)) {
		p->end = PYTHON_UNREADABLE;
		return false;
	}
	return true;
}

#endif /* TALLY_PYTHON_STEPS_H */
