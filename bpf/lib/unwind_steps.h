/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps of a walk by tables (unwind.h) from a function to its caller, for programs (unwind.bpf.h), and for the loader,
 * which walks sleeping threads (user/unwind/walk.c). The including file must first define:
 *
 *   user_word(walk, address, word)     reads a word of the stack; false if it cannot be read
 *   user_code(walk, address, word)     the same for a word of the code
 *   user_return(walk, where, found)    the return address that was found at a stack address, as it was before a
 *                                      uretprobe replaced it
 *   code_address(value)                a return address without its signature bits
 *   unwind_find_rule(walk, pc)         the rule at pc, in the walk's mapping; NULL if there is none
 *   unwind_lacked(token)               counts a walk that lacked the table of a file still being read
 *
 * This file defines:
 *
 *   unwind_step(walk, pc)              steps from walk->ip, sp, bp to the caller; pc is unwind_pc()
 */
#ifndef TALLY_UNWIND_STEPS_H
#define TALLY_UNWIND_STEPS_H

#include "stack.h"
#include "unwind.h"
#include "walk_regs.h"

static __always_inline bool unwind_is_mapped(const struct user_walk *w, u64 pc)
{
	return pc >= w->mapping.start && pc < w->mapping.end;
}

/*
 * Reads the lowest address first, so that all words are in the window. Reads into the walk, not onto the stack, where
 * 6.12 leaves little room: if a read fails, the walk ends anyway.
 */
static __always_inline bool unwind_out_of_signal(struct user_walk *w)
{
	u64 frame = w->sp;

	if (!user_word(w, frame + SIGNAL_FP, &w->bp) ||
	    (SIGNAL_BASE && !user_word(w, frame + SIGNAL_BASE, &w->base)) ||
	    (RETURNS_BY_LINK && !user_word(w, frame + SIGNAL_LINK, &w->link)) ||
	    !user_word(w, frame + SIGNAL_SP, &w->sp) || !user_word(w, frame + SIGNAL_IP, &w->ip))
		return false;
	w->link = RETURNS_BY_LINK ? code_address(w->link) : 0;
	w->is_exact = true;
	return true;
}

/*
 * True if the walk is at the code to which a signal handler returns. For machines where no table describes this code.
 */
static __always_inline bool unwind_is_signal_return(struct user_walk *w)
{
	u64 code = 0;

	return SIGNAL_RETURN && !w->is_exact && !w->sp_is_least && user_code(w, w->ip, &code) && code == SIGNAL_RETURN;
}

/*
 * On machines where a frame record may be anywhere in its frame, a step by frame record leaves sp inexact: it is below
 * the caller's sp. If a function saves fp and the return address side by side, the two are its frame record, and fp
 * points to it.
 */
static __always_inline bool unwind_has_record(const struct unwind_rule *r)
{
	return r->fp == UNWIND_FP_AT_CFA && r->ra_offset == r->fp_offset + 8;
}

static __always_inline bool unwind_needs_sp(const struct unwind_rule *r)
{
	if (r->cfa == UNWIND_SP)
		return !unwind_has_record(r);
	return r->cfa != UNWIND_FP && r->cfa != UNWIND_FP_DEREF;
}

static __always_inline bool unwind_find_cfa(struct user_walk *w, const struct unwind_rule *r, u64 *cfa)
{
	switch (r->cfa) {
	case UNWIND_SP:
		*cfa = RETURNS_BY_LINK && w->sp_is_least ? w->bp - r->fp_offset : w->sp + r->offset;
		return true;
	case UNWIND_FP:
		*cfa = w->bp + r->offset;
		return true;
	case UNWIND_BASE:
		*cfa = w->base + r->offset;
		return true;
	case UNWIND_PLT:
		*cfa = w->sp + r->offset + ((w->ip & 15) >= (u64)r->second ? 8 : 0);
		return true;
	case UNWIND_SP_DEREF:
	case UNWIND_FP_DEREF:
		if (!user_word(w, (r->cfa == UNWIND_SP_DEREF ? w->sp : w->bp) + r->offset, cfa))
			return false;
		*cfa += r->second;
		return true;
	}
	return false;
}

/*
 * Only a function that has not called another function has its return address in the link register: cfa may equal sp.
 */
static __always_inline bool unwind_by_link(struct user_walk *w, u64 cfa, u64 bp)
{
	if (cfa < w->sp || !w->link)
		return false;
	w->ip = user_return(w, w->sp, w->link);
	w->sp = cfa;
	w->bp = bp;
	w->link = 0;
	w->is_exact = false;
	return true;
}

/* Steps to the caller, which is at a higher address: stacks grow downwards. */
static __always_inline bool unwind_by_rule(struct user_walk *w, const struct unwind_rule *r)
{
	u64 cfa = 0, frame = w->bp;

	if (!unwind_find_cfa(w, r, &cfa))
		return false;
	/* Read the lower addresses first: the higher ones are then in the window. */
	if (r->base_at == UNWIND_BASE_LOST ||
	    (r->base_at != UNWIND_BASE_SAME && !user_word(w, cfa + r->base_at, &w->base)))
		w->base = 0;
	if (r->fp == UNWIND_FP_AT_CFA && !user_word(w, cfa + r->fp_offset, &w->bp))
		return false;
	if (r->fp == UNWIND_FP_AT_FP && !user_word(w, frame + r->fp_offset, &w->bp))
		return false;
	if (!r->ra_offset)
		return unwind_by_link(w, cfa, w->bp);
	if (cfa <= w->sp || !user_word(w, cfa + r->ra_offset, &w->ip))
		return false;
	w->ip = user_return(w, cfa + r->ra_offset, w->ip);
	w->sp = cfa;
	w->link = 0;
	w->sp_is_least = false;
	w->is_exact = false;
	return true;
}

static __always_inline bool unwind_by_frame_pointer(struct user_walk *w)
{
	u64 frame = w->bp, ip = 0, bp = w->bp;

	if (RETURNS_BY_LINK && w->at_entry)
		return unwind_by_link(w, w->sp, w->bp);
	if (w->at_entry) {
		/* The frame is not set up yet. */
		if (!user_word(w, w->sp, &ip))
			return false;
		frame = w->sp - 8;
	} else if (frame < w->sp || !user_word(w, frame, &bp) || !user_word(w, frame + 8, &ip)) {
		return false;
	}
	w->ip = user_return(w, frame + 8, ip);
	w->sp = frame + 16;
	w->bp = bp;
	w->link = 0;
	w->sp_is_least = RETURNS_BY_LINK;
	w->base = 0;
	w->is_exact = false;
	return true;
}

/* As long as the code's table is not known, a step by frame pointers may omit callers, except at a function's entry. */
static __always_inline void unwind_note_guess(struct user_walk *w)
{
	u32 token = w->mapping.token, frame = w->n - w->first - 1;

	if (w->mapping.file != UNWIND_NO_FILE || !token)
		return;
	if (token != UNWIND_UNSEEN)
		unwind_lacked(token);
	if (!w->at_entry)
		w->guessed |= 1U << (frame < STACK_GUESSES ? frame : STACK_GUESSES - 1);
}

/* pc is that of the frame, in its mapping if it has one. */
static __always_inline bool unwind_step(struct user_walk *w, u64 pc)
{
	const struct unwind_rule *rule = NULL;

	if (unwind_is_mapped(w, pc))
		rule = unwind_find_rule(w, pc);
	w->end = STACK_GUESSED;
	if (!rule || rule->cfa == UNWIND_UNKNOWN) {
		if (unwind_is_signal_return(w))
			return unwind_out_of_signal(w);
		unwind_note_guess(w);
		return unwind_by_frame_pointer(w);
	}
	if (rule->cfa == UNWIND_END) {
		w->end = STACK_ROOT;
		return false;
	}
	if (RETURNS_BY_LINK && w->sp_is_least && rule->cfa != UNWIND_SIGNAL && unwind_needs_sp(rule))
		return unwind_by_frame_pointer(w);
	w->end = STACK_STUCK;
	if (!(rule->cfa == UNWIND_SIGNAL ? unwind_out_of_signal(w) : unwind_by_rule(w, rule)))
		return false;
	w->end = STACK_WALKED;
	return true;
}

static __always_inline u64 unwind_pc(const struct user_walk *w)
{
	/* A return address may be just past a function whose last instruction is a call. */
	return w->ip - !w->is_exact;
}

#endif /* TALLY_UNWIND_STEPS_H */
