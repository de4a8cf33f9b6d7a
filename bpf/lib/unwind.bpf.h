/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks a user stack by tables (unwind.h): through code without frame pointers, out of signal handlers, to the
 * thread's first function. Code without tables, such as JIT-compiled code, is walked by frame pointers.
 *
 *   unwind_begin(walk, at_entry)
 *   unwind_frame(level)            steps from walk->ip, sp, bp to the caller, and adds its frame; 0 if the walk ends
 *   unwind_find_vma(level)         must be called if walk->asks is set after that; 0 if the walk ends
 */
#ifndef TALLY_UNWIND_BPF_H
#define TALLY_UNWIND_BPF_H

#include "python.bpf.h"
#include "user_memory.bpf.h"
#include "unwind.h"
#include "unwind_maps.bpf.h"
#include "vma.bpf.h"

const volatile bool unwind_by_tables = false;

u32 unwind_lacks[UNWIND_LACKS] = {};

/* --- looking up -------------------------------------------------------------------------------- */

static __always_inline bool unwind_is_of(const struct unwind_space *space, struct mm_struct *mm)
{
	return space->code == BPF_CORE_READ(mm, start_code) && space->stack == BPF_CORE_READ(mm, start_stack);
}

/* Makes a copy, because a replaced element is reused at once, possibly for another process. */
static __always_inline bool unwind_space_of(struct unwind_space *space, u32 tgid, struct mm_struct *mm)
{
	const struct unwind_space *known = bpf_map_lookup_elem(&unwind_spaces, &tgid);

	if (!known)
		return false;
	*space = *(volatile const struct unwind_space *)known;
	return unwind_is_of(space, mm);
}

/*
 * A child that was just forked, and is not yet known, uses its parent's entry. If the parent is not known either, or if
 * more code has been mapped since, mappings are looked up in the kernel's own structures.
 */
static __always_inline void unwind_begin(struct user_walk *w, bool at_entry)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(t, mm);

	if (!unwind_space_of(&w->space, bpf_get_current_pid_tgid() >> 32, mm) &&
	    !unwind_space_of(&w->space, BPF_CORE_READ(t, real_parent, tgid), mm))
		w->space.first = w->space.n = 0;
	w->mapping.start = w->mapping.end = 0;
	w->mapping.token = 0;   /* do not count again the table that the previous walk lacked */
	w->has_begun = w->has_stepped = false;
	w->is_exact = true;
	w->sp_is_least = false;
	w->at_entry = at_entry;
}

/* Returns 0 if the word does not exist, which has the same effect as a stored 0: row 0, or rule 0 (UNWIND_UNKNOWN). */
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

#define UNWIND_MAPPING_STEPS 17         /* steps of a binary search: log2(UNWIND_MAPPINGS), plus 1 */
#define UNWIND_ROW_STEPS 9              /* log2(UNWIND_MOST_ROWS_OF_A_PAGE), plus 1 */

/* The last mapping of the process that begins at or before pc. */
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

static __always_inline void unwind_load_file(struct user_walk *w, u32 number)
{
	const struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &number);

	w->mapping.file = number;
	w->file.pages = 0;
	if (f)
		w->file = *f;
}

/* Loads the mapping of pc, and its file, into the walk. Returns false if the loader does not know it. */
static __always_inline bool unwind_known_mapping(struct user_walk *w, u64 pc)
{
	const struct unwind_mapping *m;
	u32 n, token, file;

	n = unwind_mapping_before(w, pc);
	if (n - w->space.first >= w->space.n)   /* also true before the first mapping */
		return false;
	m = bpf_map_lookup_elem(&unwind_mappings, &n);
	if (!m || pc < m->start || pc >= m->end)
		return false;
	/*
	 * The loader writes bias, file and token in this order: a valid file implies a valid bias, and a cleared token
	 * that the file is known. Loads are not reordered here.
	 */
	token = *(volatile const u32 *)&m->token;
	barrier();
	file = *(volatile const u32 *)&m->file;
	barrier();
	w->mapping = *m;
	w->mapping.token = token;
	unwind_load_file(w, file);
	return true;
}

/* --- mappings that the loader does not know yet ------------------------------------------------ */

static __always_inline void unwind_modified(struct unwind_identity *id, struct inode *inode)
{
	struct inode___renamed *renamed = (void *)inode;
	struct inode___old *old = (void *)inode;

	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		id->modified_s = BPF_CORE_READ(inode, i_mtime_sec);
		id->modified_ns = BPF_CORE_READ(inode, i_mtime_nsec);
	} else if (bpf_core_field_exists(renamed->__i_mtime)) {
		id->modified_s = BPF_CORE_READ(renamed, __i_mtime.tv_sec);
		id->modified_ns = BPF_CORE_READ(renamed, __i_mtime.tv_nsec);
	} else {
		id->modified_s = BPF_CORE_READ(old, i_mtime.tv_sec);
		id->modified_ns = BPF_CORE_READ(old, i_mtime.tv_nsec);
	}
}

/* A mapping of a file without tables, or without tables so far, keeps UNWIND_NO_FILE. */
static __always_inline void unwind_find_file(struct user_walk *w, struct vm_area_struct *vma)
{
	u64 offset = BPF_CORE_READ(vma, vm_pgoff) * USER_PAGE;
	struct inode *inode = BPF_CORE_READ(vma, vm_file, f_inode);
	const struct unwind_found *found;
	struct unwind_identity *id = &w->identity;
	u32 i;

	id->inode = BPF_CORE_READ(inode, i_ino);
	id->size = BPF_CORE_READ(inode, i_size);
	id->device = BPF_CORE_READ(inode, i_sb, s_dev);
	unwind_modified(id, inode);
	found = bpf_map_lookup_elem(&unwind_found, id);
	if (!found) {
		id->device = UNWIND_ANY_DEVICE;
		found = bpf_map_lookup_elem(&unwind_found, id);
	}
	if (!found)
		return;
	for (i = 0; i < UNWIND_SEGMENTS && i < found->n; i++) {
		if (offset < found->segment[i].from || offset >= found->segment[i].to)
			continue;
		w->mapping.bias = w->mapping.start - offset - found->segment[i].delta;
		w->mapping.token = 0;
		unwind_load_file(w, found->file);
		return;
	}
}

/* Only memory at user addresses can be code. */
#define USER_ADDRESSES (1ULL << 56)

static __always_inline bool unwind_load_vma(struct user_walk *w, u64 pc)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	struct vm_area_struct *vma;

	if (pc < USER_PAGE || pc >= USER_ADDRESSES)
		return false;
	vma = vma_in_tree(mm, pc, w->pivot) ?: vma_in_rb_tree(mm, pc);
	if (!vma || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return false;
	w->mapping.start = BPF_CORE_READ(vma, vm_start);
	w->mapping.end = BPF_CORE_READ(vma, vm_end);
	w->mapping.bias = 0;
	w->mapping.token = UNWIND_UNSEEN;
	w->mapping.file = UNWIND_NO_FILE;
	w->file.pages = 0;
	if (BPF_CORE_READ(vma, vm_file))
		unwind_find_file(w, vma);
	return true;
}

/* Returns the rule at pc in the walk's mapping, or NULL if there is none. */
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

static __always_inline bool user_code(struct user_walk *w, u64 address, u64 *code)
{
	return !bpf_probe_read_user(code, sizeof(*code), (void *)address);
}

static __always_inline void unwind_lacked(u32 token)
{
	__sync_fetch_and_add(&unwind_lacks[token % UNWIND_LACKS], 1);
}

#include "unwind_steps.h"

/* Consumers treat all frames but the first as return addresses, which follow a call. */
static __always_inline bool unwind_add(struct stack_slot *slot)
{
	struct user_walk *w = &slot->walk;
	u64 n = w->n;

	barrier_var(n);
	if (n > 2 * stack_depth)        /* never true, which the verifier does not know */
		return false;
	slot->stack.frame[n] = w->ip + w->is_exact;
	if (python_in_stacks)
		slot->stack.frame[STACK_POINTERS + n] = w->sp;
	w->n = n + 1;
	return true;
}

/*
 * Not static, for the reason given at user_stack_frames(). A caller must be code: if the loader knows no mapping that
 * contains it, unwind_find_vma() must be called. Nested functions share 512 bytes of stack, which a call from here
 * would exceed in offcputime on 6.1. Returns 0 at the end of the walk.
 */
__noinline int unwind_frame(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);
	struct user_walk *w;

	VERIFIED_ONCE();
	if (!slot || !unwind_by_tables)
		return 0;
	w = &slot->walk;
	w->asks = false;
	if (!w->has_begun) {
		w->has_begun = true;
		w->sought = unwind_pc(w);
		if (!unwind_known_mapping(w, w->sought)) {
			w->asks = true;
			return 1;
		}
	}
	if (w->n >= w->most || !unwind_step(w, unwind_pc(w)))
		return 0;
	w->at_entry = false;
	w->has_stepped = true;
	w->sought = unwind_pc(w);
	w->asks = !unwind_is_mapped(w, w->sought) && !unwind_known_mapping(w, w->sought);
	return w->asks || unwind_add(slot);
}

/* Also not static. Loads the mapping of the frame at walk->sought, and adds the frame unless it is the first. */
__noinline int unwind_find_vma(u32 level)
{
	struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &level);

	VERIFIED_ONCE();
	if (!slot || !unwind_by_tables)
		return false;
	if (!unwind_load_vma(&slot->walk, slot->walk.sought))
		return !slot->walk.has_stepped;
	return !slot->walk.has_stepped || unwind_add(slot);
}

#endif /* TALLY_UNWIND_BPF_H */
