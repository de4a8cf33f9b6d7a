// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * --- memory ------------------------------------------------------------------------------------
 */

/* Valid because the walk is the first member. */
static struct unwind_walker *walker_of(struct user_walk *w)
{
	return (struct unwind_walker *)w;
}

#define PAGE_BYTES 4096
#define FIRST_PIECE (2 * PAGE_BYTES)

/* Nothing is mapped below the first page. */
static bool read_piece(struct unwind_walker *of, u64 address)
{
	size_t size = (of->pieces ? WALK_PIECE : FIRST_PIECE) - address % PAGE_BYTES;
	ssize_t n = -EFAULT;

	of->have = 0;
	if (address >= PAGE_BYTES && of->pieces++ < WALK_PIECES)
		n = of->read(of->arg, address, of->bytes, size);
	of->is_unread |= n < (ssize_t)sizeof(u64);
	if (n < (ssize_t)sizeof(u64))
		return false;
	of->piece = address;
	of->have = n;
	return true;
}

static bool user_word(struct user_walk *w, u64 address, u64 *word)
{
	struct unwind_walker *of = walker_of(w);
	u64 at = address - of->piece;

	if (at > of->have || of->have - at < sizeof(*word)) {
		if (!read_piece(of, address))
			return false;
		at = 0;
	}
	memcpy(word, of->bytes + at, sizeof(*word));
	return true;
}

static bool user_code(struct user_walk *w, u64 address, u64 *code)
{
	return user_word(w, address, code);
}

/* User addresses are below 48 bits: see address_bits in bpf/lib/arch_arm64.bpf.h. */
static u64 code_address(u64 value)
{
	return RETURNS_BY_LINK ? value & ((1ULL << 48) - 1) : value;
}

/* Functions with a uretprobe return to the probe, so their callers are unknown. */
static u64 user_return(struct user_walk *w, u64 where, u64 found)
{
	(void)w;
	(void)where;
	return code_address(found);
}

/*
 * --- steps -------------------------------------------------------------------------------------
 */

/* Caches lookups: most threads wait at the same places, and a lookup in the maps takes dozens of system calls. */
static const struct unwind_rule *unwind_find_rule(struct user_walk *w, u64 pc)
{
	struct unwind_walker *of = walker_of(w);
	u64 address = pc - w->mapping.bias;
	struct walk_rule *r = &of->known[(address ^ address >> 12 ^ w->mapping.file) % WALK_RULES];

	if (w->mapping.file == UNWIND_NO_FILE)
		return NULL;
	if (r->address != address || r->file != w->mapping.file || !address) {
		*r = (struct walk_rule){ .address = address, .file = w->mapping.file };
		if (unwind_tables__find(&of->unwinder->tables, r->file, address, &r->rule))
			r->rule = NULL;
	}
	return r->rule;
}

/* Counts nothing: tables are read before walks, not on demand. */
static void unwind_lacked(u32 token)
{
	(void)token;
}

#include "bpf/lib/unwind_steps.h"

/*
 * --- walks -------------------------------------------------------------------------------------
 */

static bool find_mapping(struct unwind_walker *of, u32 pid, u64 pc)
{
	const struct unwind_mapping *m;

	if (unwind_is_mapped(&of->walk, pc))
		return true;
	m = unwind_spaces__find(&of->unwinder->spaces, pid, pc);
	if (m)
		of->walk.mapping = *m;
	return m;
}

/* Takes one step. If the process's code is known, the caller must be in it. */
static bool step(struct unwind_walker *of, u32 pid)
{
	struct user_walk *w = &of->walk;

	if (!unwind_step(w, unwind_pc(w)))
		return false;
	w->has_stepped = true;
	return !of->unwinder || find_mapping(of, pid, unwind_pc(w));
}

static void add_frame(struct unwind_walker *of, u64 *frame, u64 address)
{
	struct user_walk *w = &of->walk;

	if (of->sp)
		of->sp[w->n] = w->sp;
	frame[w->n++] = address;
}

void unwind_walker__walk(struct unwind_walker *of, u32 pid, const struct walk_regs *regs, u32 most, struct stack *to)
{
	struct user_walk *w = &of->walk;
	u64 *frame = to->frame + to->kernel;

	*w = (struct user_walk){ .regs = *regs, .end = STACK_WALKED, .is_exact = true, .most = most };
	of->have = of->pieces = 0;
	of->is_unread = false;
	if (of->unwinder)
		find_mapping(of, pid, w->ip);
	add_frame(of, frame, w->ip);
	while (step(of, pid)) {
		if (w->n >= most) {
			w->end = STACK_DEEPER;
			break;
		}
		add_frame(of, frame, w->ip + w->is_exact);
	}
	to->user = w->n;
	to->user_end = of->unwinder || w->end == STACK_DEEPER ? w->end : STACK_WALKED;
	to->guessed = of->unwinder ? w->guessed : 0;
}

int unwind_walker__new(struct unwind_walker **walker, const struct unwinder *unwinder,
		       ssize_t (*read)(void *arg, u64 address, void *to, size_t size), void *arg)
{
	struct unwind_walker *of = calloc(1, sizeof(*of));

	*walker = of;
	if (!of)
		return -ENOMEM;
	of->unwinder = unwinder;
	of->read = read;
	of->arg = arg;
	return 0;
}

void unwind_walker__free(struct unwind_walker *of)
{
	free(of);
}
