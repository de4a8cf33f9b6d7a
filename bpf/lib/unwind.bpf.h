/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of a user stack by tables (unwind.h): through code that keeps no frame pointers, out of signal
 * handlers, to the function that a thread began with. Where the tables say nothing, of code that a
 * compiler made at run time, it goes by frame pointers.
 *
 *   unwind_begin(walk, at_entry)   false: nothing is known of the current process
 *   unwind_frame(level)            from walk->ip, sp, bp to the caller's, whose frame it adds
 */
#ifndef TALLY_UNWIND_BPF_H
#define TALLY_UNWIND_BPF_H

#include "user_memory.bpf.h"
#include "unwind.h"

const volatile bool unwind_by_tables = false;

struct unwind_slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_SLAB_LINES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct unwind_line));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SLABS);
	__type(key, u32);
	__array(values, struct unwind_slab);
} unwind_slabs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_RULES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_FILES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_file);
} unwind_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_MAPPINGS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_mapping);
} unwind_mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_SPACES);
	__type(key, u32);
	__type(value, struct unwind_space);
} unwind_spaces SEC(".maps");

/* --- looking up -------------------------------------------------------------------------------- */

static __always_inline bool unwind_is_of(const struct unwind_space *space, struct mm_struct *mm)
{
	return space->code == BPF_CORE_READ(mm, start_code) && space->stack == BPF_CORE_READ(mm, start_stack);
}

/* A copy: an element that is replaced is used again at once, for another process maybe. */
static __always_inline bool unwind_space_of(struct unwind_space *space, u32 tgid, struct mm_struct *mm)
{
	const struct unwind_space *known = bpf_map_lookup_elem(&unwind_spaces, &tgid);

	if (!known)
		return false;
	*space = *(volatile const struct unwind_space *)known;
	return unwind_is_of(space, mm);
}

/* A child that has just been forked, and is not known yet, has what its parent has. */
static __always_inline bool unwind_begin(struct user_walk *w, bool at_entry)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(t, mm);

	if (!unwind_space_of(&w->space, bpf_get_current_pid_tgid() >> 32, mm) &&
	    !unwind_space_of(&w->space, BPF_CORE_READ(t, real_parent, tgid), mm))
		return false;
	w->mapping.start = w->mapping.end = 0;
	w->is_exact = true;
	w->at_entry = at_entry;
	return true;
}

/* 0 where there is none, which no more than page and rule numbers is right. */
static __always_inline u32 unwind_word(u32 n)
{
	u32 slab_number = n / UNWIND_SLAB_WORDS, line_number = n / UNWIND_LINE_WORDS % UNWIND_SLAB_LINES;
	const struct unwind_line *line;
	void *slab = bpf_map_lookup_elem(&unwind_slabs, &slab_number);

	if (!slab)
		return 0;
	line = bpf_map_lookup_elem(slab, &line_number);
	return line ? line->word[n % UNWIND_LINE_WORDS] : 0;
}

#define UNWIND_MAPPING_STEPS 17         /* a bit more than that of UNWIND_MAPPINGS */
#define UNWIND_ROW_STEPS 9              /* of UNWIND_MOST_ROWS_OF_A_PAGE */

/* The last mapping of the process that begins at pc or before it. */
static __always_inline u32 unwind_mapping_before(const struct user_walk *w, u64 pc)
{
	u32 from = w->space.first, to = from + w->space.n, i, middle;

	for (i = 0; i < UNWIND_MAPPING_STEPS && from < to; i++) {
		const struct unwind_mapping *m;

		middle = (from + to) / 2;
		m = bpf_map_lookup_elem(&unwind_mappings, &middle);
		if (m && m->start <= pc)
			from = middle + 1;
		else
			to = middle;
	}
	return from - 1;
}

/* Brings the mapping of pc, and its file, into the walk. False: nothing is mapped there. */
static __always_inline bool unwind_find_mapping(struct user_walk *w, u64 pc)
{
	const struct unwind_mapping *m;
	const struct unwind_file *f;
	u32 n, file;

	if (pc >= w->mapping.start && pc < w->mapping.end)
		return true;
	n = unwind_mapping_before(w, pc);
	if (n - w->space.first >= w->space.n)   /* before the first one, too */
		return false;
	m = bpf_map_lookup_elem(&unwind_mappings, &n);
	if (!m || pc < m->start || pc >= m->end)
		return false;
	/* The loader writes it last: with a file there is its bias. Loads are not reordered here. */
	file = *(volatile const u32 *)&m->file;
	barrier();
	w->mapping = *m;
	w->mapping.file = file;
	w->file.pages = 0;
	f = bpf_map_lookup_elem(&unwind_files, &file);
	if (f)
		w->file = *f;
	return true;
}

/* The rule at pc, which is in the walk's mapping; NULL: nothing is said of it. */
static __always_inline const struct unwind_rule *unwind_find_rule(const struct user_walk *w, u64 pc)
{
	u64 at = pc - w->mapping.bias - w->file.start, page = at >> UNWIND_PAGE_BITS;
	u32 from, to, i, middle, rule;

	if (page >= w->file.pages)
		return NULL;
	from = unwind_word(w->file.index + page);
	to = unwind_word(w->file.index + page + 1);
	for (i = 0; i < UNWIND_ROW_STEPS && from < to; i++) {
		middle = (from + to) / 2;
		if (unwind_word(w->file.rows + middle) % UNWIND_PAGE <= at % UNWIND_PAGE)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return NULL;
	rule = unwind_word(w->file.rows + from - 1) >> UNWIND_PAGE_BITS;
	return bpf_map_lookup_elem(&unwind_rules, &rule);
}

/* --- steps ------------------------------------------------------------------------------------- */

/* arch/x86/include/uapi/asm/sigcontext.h: where registers are in a struct ucontext. */
#define UCONTEXT_RBP 120
#define UCONTEXT_RSP 160
#define UCONTEXT_RIP 168

static __always_inline bool unwind_out_of_signal(struct user_walk *w)
{
	u64 context = w->sp, ip, sp, bp;

	if (!user_word(w, context + UCONTEXT_RBP, &bp) || !user_word(w, context + UCONTEXT_RSP, &sp) ||
	    !user_word(w, context + UCONTEXT_RIP, &ip))
		return false;
	w->ip = ip;
	w->sp = sp;
	w->bp = bp;
	w->is_exact = true;
	return true;
}

static __always_inline bool unwind_find_cfa(struct user_walk *w, const struct unwind_rule *r, u64 *cfa)
{
	switch (r->cfa) {
	case UNWIND_RSP:
		*cfa = w->sp + r->offset;
		return true;
	case UNWIND_RBP:
		*cfa = w->bp + r->offset;
		return true;
	case UNWIND_PLT:
		*cfa = w->sp + r->offset + ((w->ip & 15) >= (u64)r->second ? 8 : 0);
		return true;
	case UNWIND_RSP_DEREF:
	case UNWIND_RBP_DEREF:
		if (!user_word(w, (r->cfa == UNWIND_RSP_DEREF ? w->sp : w->bp) + r->offset, cfa))
			return false;
		*cfa += r->second;
		return true;
	}
	return false;
}

/* To the caller; a stack grows downwards, so it is above. */
static __always_inline bool unwind_by_rule(struct user_walk *w, const struct unwind_rule *r)
{
	u64 cfa = 0, ip = 0, bp = w->bp;

	if (!unwind_find_cfa(w, r, &cfa) || cfa <= w->sp)
		return false;
	/* What is lower in memory first: both are in the window then. */
	if (r->rbp == UNWIND_RBP_AT_CFA && !user_word(w, cfa + r->rbp_offset, &bp))
		return false;
	if (r->rbp == UNWIND_RBP_AT_RBP && !user_word(w, w->bp + r->rbp_offset, &bp))
		return false;
	if (!user_word(w, cfa - 8, &ip))
		return false;
	w->ip = user_return(w, cfa - 8, ip);
	w->sp = cfa;
	w->bp = bp;
	w->is_exact = false;
	return true;
}

static __always_inline bool unwind_by_frame_pointer(struct user_walk *w)
{
	u64 frame = w->bp, ip = 0, bp = w->bp;

	if (w->at_entry) {
		/* It has not been made yet. */
		if (!user_word(w, w->sp, &ip))
			return false;
		frame = w->sp - 8;
	} else if (frame < w->sp || !user_word(w, frame, &bp) || !user_word(w, frame + 8, &ip)) {
		return false;
	}
	w->ip = user_return(w, frame + 8, ip);
	w->sp = frame + 16;
	w->bp = bp;
	w->is_exact = false;
	return true;
}

static __always_inline bool unwind_step(struct user_walk *w)
{
	/* A return address may be the first one behind a function, whose last instruction is a call. */
	u64 pc = w->ip - !w->is_exact;
	const struct unwind_rule *rule = NULL;

	if (unwind_find_mapping(w, pc))
		rule = unwind_find_rule(w, pc);
	if (!rule || rule->cfa == UNWIND_UNKNOWN)
		return unwind_by_frame_pointer(w);
	if (rule->cfa == UNWIND_END) {
		w->end = STACK_ROOT;
		return false;
	}
	if (rule->cfa == UNWIND_SIGNAL)
		return unwind_out_of_signal(w);
	return unwind_by_rule(w, rule);
}

/* One frame more. Not static for the same reason as user_stack_frames(). 0: the walk has come to its end. */
__noinline int unwind_frame(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);
	struct user_walk *w;
	u64 n;

	VERIFIED_ONCE();
	if (!slot || !unwind_by_tables)
		return 0;
	w = &slot->walk;
	n = w->n;
	if (n >= w->most || !unwind_step(w))
		return 0;
	w->at_entry = false;
	/* What is not code is no caller. */
	if (!unwind_find_mapping(w, w->ip - !w->is_exact))
		return 0;
	barrier_var(n);
	if (n > 2 * stack_depth)        /* never; the verifier cannot know */
		return 0;
	/* All but the first are taken for return addresses, of calls that end there. */
	slot->stack.frame[n] = w->ip + w->is_exact;
	w->n = n + 1;
	return 1;
}

#endif /* TALLY_UNWIND_BPF_H */
