// SPDX-License-Identifier: BSD-2-Clause
/* Finds the instructions that end a function. */
#include "event/user_code_exits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/ends_with.h"
#include "base/sorted.h"

#define MOST_PARTS 16
#define LOOK_BACK 12            /* instructions before an indirect jump */

struct part {
	u64 start, size;
	bool is_shared;         /* belongs to another function, or to a part of one */
	struct disassembly d;
};

struct search {
	struct user_code *code;
	u64 entry;
	bool follow;
	struct part part[MOST_PARTS];
	size_t n;
	struct code_exits *exits;
	const char *why;
};

/* Records why the ends cannot be determined; keeps the first reason. */
static int undecided(struct search *s, const char *why)
{
	s->why = s->why ?: why;
	return -ENODATA;
}

static int add_part(struct search *s, u64 start, u64 size, bool is_shared)
{
	struct part *p = &s->part[s->n];
	int err;

	if (s->n == MOST_PARTS)
		return undecided(s, "it has too many parts");
	*p = (struct part){ .start = start, .size = size, .is_shared = is_shared };
	err = user_code__take_apart(s->code, &p->d, start, size);
	if (err)
		return err == -ENOMEM ? err : undecided(s, disassembly__is_possible() ?
						       "its code could not be disassembled" :
						       "this build lacks capstone, or it is not installed");
	s->n++;
	return 0;
}

static int add_exit(struct search *s, const struct part *p, u64 address, bool is_tail_call)
{
	struct code_exits *e = s->exits;

	return ARRAY_APPEND(e->exit, e->n, (struct code_exit){ address, is_tail_call, p->is_shared });
}

static const struct part *part_of(const struct search *s, u64 address)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (address - s->part[i].start < s->part[i].size)
			return &s->part[i];
	return NULL;
}

/*
 * --- jumps to addresses ------------------------------------------------------------------------
 */

/* True if f is split off from p. GCC and clang name such parts FUNCTION.cold, optionally with a number. */
static bool is_split_off(const struct search *s, const struct part *p, const struct binary_function *f)
{
	const char *cold = strstr(f->name, ".cold");
	size_t i;

	for (i = 0; cold && i < s->n; i++)
		if (s->part[i].is_shared == p->is_shared &&
		    user_code__has_name(s->code, s->part[i].start, f->name, cold - f->name))
			return true;
	return false;
}

/* Properties of code without a name: whether it jumps back, and whether it can end at all. */
struct nature {
	bool comes_back, ends;
};

static int look_at(struct search *s, const struct code_extent *e, struct nature *nature)
{
	struct disassembly d;
	int err = user_code__take_apart(s->code, &d, e->start, e->size);
	size_t i;

	*nature = (struct nature){};
	if (err)
		return err == -ENOMEM ? err : undecided(s, "it jumps to code that could not be disassembled");
	for (i = 0; i < d.n; i++) {
		const struct instruction *at = &d.instruction[i];
		bool jumps = at->flow == FLOW_JUMP || at->flow == FLOW_CONDITION;

		if (jumps && at->target != s->entry && part_of(s, at->target))
			nature->comes_back = true;
		else if (jumps ? at->target - e->start >= e->size :
				 at->flow == FLOW_RETURN || at->flow == FLOW_JUMP_ELSEWHERE ||
				 at->flow == FLOW_UNKNOWN)
			nature->ends = true;
	}
	disassembly__free(&d);
	return 0;
}

static int leave(struct search *s, const struct part *p, const struct instruction *i)
{
	u64 start, size;

	if (s->follow && !user_code__in_plt(s->code, i->target) &&
	    !user_code__extent(s->code, i->target, &start, &size) && start == i->target)
		return add_part(s, start, size, true);
	if (i->flow == FLOW_CONDITION)
		return undecided(s, "it jumps conditionally to another function");
	return add_exit(s, p, i->address, true);
}

/* Stripped files have no names for local functions; .eh_frame lists their ranges. */
static int jump_to_nameless(struct search *s, const struct part *p, const struct instruction *i)
{
	const struct code_extent *e = code_extents__find(user_code__extents(s->code), i->target);
	struct nature nature;
	int err;

	if (!e)
		return undecided(s, "it jumps to unknown code");
	if (user_code__stack_at(s->code, e->start) == STACK_IN_USE)
		return add_part(s, e->start, e->size, p->is_shared);
	if (e->start != i->target)
		return undecided(s, "it jumps into the middle of another function");
	err = look_at(s, e, &nature);
	if (err)
		return err;
	if (nature.comes_back)
		return add_part(s, e->start, e->size, p->is_shared);
	/* Code that cannot end, such as a call of abort(), needs no probe, regardless of the function it belongs to. */
	return nature.ends || i->flow == FLOW_JUMP ? leave(s, p, i) : 0;
}

static int jump(struct search *s, const struct part *p, const struct instruction *i)
{
	const struct binary_function *f;

	if (part_of(s, i->target)) {
		/* In Go, the function restarts on a larger stack. */
		if (i->target != s->entry || user_code__is_go(s->code))
			return 0;
		if (i->flow == FLOW_CONDITION)
			return undecided(s, "its first instruction is in a loop");
		return add_exit(s, p, i->address, true);
	}
	if (user_code__in_plt(s->code, i->target))
		return leave(s, p, i);
	f = user_code__function(s->code, i->target);
	if (!f)
		return jump_to_nameless(s, p, i);
	if (is_split_off(s, p, f))
		return f->size ? add_part(s, f->address, f->size, p->is_shared) :
				 undecided(s, "one of its parts has no size");
	if (f->address != i->target)
		return undecided(s, "it jumps into the middle of another function");
	return leave(s, p, i);
}

/*
 * --- indirect jumps: through a table of the function (switch), or to another function -----------
 */

enum verdict { STAYS, LEAVES, UNDECIDED };

#if defined(__aarch64__)

/* True if the instruction sets reg. With few exceptions, instructions set their first operand. */
static bool sets(const struct instruction *i, const char *reg)
{
	static const char *const reads[] = { "st", "cmp", "cmn", "tst", "ccm", "prfm" };
	size_t len = strlen(reg), k;

	for (k = 0; k < ARRAY_SIZE(reads); k++)
		if (!strncmp(i->mnemonic, reads[k], strlen(reads[k])))
			return false;
	/* w3 is the lower half of x3. */
	return *i->operands && !strncmp(i->operands + 1, reg + 1, len - 1) &&
	       (i->operands[len] == ',' || !i->operands[len]);
}

/*
 * A sum is an entry of a table of relative offsets. Other jumps may be tail calls, but here the stack never shows
 * that: it is the same at a function's end as in the middle of a leaf function.
 */
static enum verdict by_operand(struct search *s, const struct part *p, size_t at)
{
	const char *reg = p->d.instruction[at].operands;
	size_t i;

	(void)s;
	for (i = at; i && at - i < LOOK_BACK; i--) {
		const struct instruction *before = &p->d.instruction[i - 1];

		if (before->flow != FLOW_ON)
			break;
		if (sets(before, reg))
			return strncmp(before->mnemonic, "add", 3) ? UNDECIDED : STAYS;
	}
	return UNDECIDED;
}

#else

/* True for an entry of an address table: "(,%rax,8)", "(%rdx,%rax,8)". */
static bool is_element(const char *operand)
{
	return ends_with(operand, ",8)") || ends_with(operand, ", 8)");
}

/* For a table at a fixed address, checks its first entry. */
static enum verdict by_table(struct search *s, const char *operand)
{
	char *end;
	u64 table = strtoull(operand, &end, 16), to;

	if (end == operand || strncmp(end, "(,", 2) ||
	    user_code__read(s->code, table, &to, sizeof(to), false) != sizeof(to))
		return UNDECIDED;
	return part_of(s, to) ? STAYS : LEAVES;
}

/* Judges a jump through a register by the instruction that set the register. */
static enum verdict by_origin(struct search *s, const struct instruction *i)
{
	const char *from = i->operands, *comma = strrchr(from, ',');
	char source[64] = "";

	if (!strncmp(i->mnemonic, "add", 3))
		return STAYS;           /* a table of relative offsets */
	if (strncmp(i->mnemonic, "mov", 3) || !comma || (size_t)(comma - from) >= sizeof(source))
		return UNDECIDED;
	memcpy(source, from, comma - from);
	if (is_element(source))
		return by_table(s, source);
	return LEAVES;
}

static enum verdict by_register(struct search *s, const struct part *p, size_t at)
{
	const char *reg = strchr(p->d.instruction[at].operands, '%');
	size_t i;

	for (i = at; reg && i && at - i < LOOK_BACK; i--) {
		const struct instruction *before = &p->d.instruction[i - 1];

		if (before->flow != FLOW_ON)
			break;
		if (!strncmp(before->mnemonic, "cmp", 3) || !strncmp(before->mnemonic, "test", 4))
			continue;
		if (ends_with(before->operands, reg))
			return by_origin(s, before);
	}
	/* The register holds an argument of the function, or was computed long before. */
	return reg ? LEAVES : UNDECIDED;
}

static enum verdict by_operand(struct search *s, const struct part *p, size_t at)
{
	const char *operand = p->d.instruction[at].operands;

	operand += *operand == '*';
	if (*operand == '%')
		return by_register(s, p, at);
	return is_element(operand) ? by_table(s, operand) : LEAVES;
}

#endif

static enum verdict jump_elsewhere(struct search *s, const struct part *p, size_t at)
{
	const struct instruction *i = &p->d.instruction[at];
	enum stack_state stack = user_code__stack_at(s->code, i->address);
	enum verdict v;

	/* notrack marks the compiler's own jump tables. With the stack in use, the jump cannot be a tail call. */
	if (!strncmp(i->mnemonic, "notrack", 7) || stack == STACK_IN_USE)
		return STAYS;
	if (i->kind == INSTRUCTION_REFERS)
		return LEAVES;
	v = by_operand(s, p, at);
	return v == LEAVES && stack == STACK_UNKNOWN ? UNDECIDED : v;
}

/*
 * --- the whole function ------------------------------------------------------------------------
 */

static bool is_padding(const struct instruction *i)
{
	return !strncmp(i->mnemonic, "nop", 3) || !strcmp(i->mnemonic, "int3") ||
	       (!strncmp(i->mnemonic, "xchg", 4) && !strcmp(i->operands, "%ax, %ax"));
}

/* Complains if control can fall through the end of a part. A call at its end does not return. */
static int check_end(struct search *s, const struct part *p)
{
	size_t i;

	for (i = p->d.n; i && is_padding(&p->d.instruction[i - 1]); i--)
		;
	if (!i)
		return undecided(s, "it has no code");
	switch (p->d.instruction[i - 1].flow) {
	case FLOW_ON:
	case FLOW_CONDITION:
		return undecided(s, "it falls through its end");
	default:
		return 0;
	}
}

/* s->part may grow, but does not move. */
static int search_part(struct search *s, const struct part *p)
{
	enum verdict v;
	size_t k;
	int err = check_end(s, p);

	for (k = 0; k < p->d.n && !err; k++) {
		const struct instruction *i = &p->d.instruction[k];

		switch (i->flow) {
		case FLOW_UNKNOWN:
			err = undecided(s, "it contains unknown instructions");
			break;
		case FLOW_RETURN:
			err = add_exit(s, p, i->address, false);
			break;
		case FLOW_JUMP:
		case FLOW_CONDITION:
			err = jump(s, p, i);
			break;
		case FLOW_JUMP_ELSEWHERE:
			v = jump_elsewhere(s, p, k);
			if (v == UNDECIDED)
				err = undecided(s, "the target of an indirect jump is unknown");
			else if (v == LEAVES)
				err = add_exit(s, p, i->address, true);
			break;
		default:
			break;
		}
	}
	return err;
}

/*
 * True if an instruction begins there. Also accepts the address after a lock prefix, to which
 * single-threaded code jumps.
 */
static bool begins_at(const struct part *p, u64 address)
{
	size_t from = SORTED_UP_TO(p->d.instruction, p->d.n, address, address);

	if (!from)
		return false;
	return p->d.instruction[from - 1].address == address ||
	       (p->d.instruction[from - 1].address + 1 == address &&
		!strncmp(p->d.instruction[from - 1].mnemonic, "lock", 4));
}

/* A jump into the middle of an instruction shows that the disassembly is wrong. */
static int check_jumps(struct search *s)
{
	const struct part *p, *to;
	size_t i;

	for (p = s->part; p < s->part + s->n; p++)
		for (i = 0; i < p->d.n; i++) {
			const struct instruction *at = &p->d.instruction[i];

			if (at->flow != FLOW_JUMP && at->flow != FLOW_CONDITION)
				continue;
			to = part_of(s, at->target);
			if (to && !begins_at(to, at->target))
				return undecided(s, "it jumps into the middle of an instruction");
		}
	return 0;
}

static int search_all(struct search *s)
{
	u64 start, size;
	size_t i;
	int err = user_code__extent(s->code, s->entry, &start, &size);

	if (err || start != s->entry)
		return undecided(s, "its end is unknown");
	err = add_part(s, start, size, false);
	for (i = 0; i < s->n && !err; i++)
		err = search_part(s, &s->part[i]);
	if (!err)
		err = check_jumps(s);
	for (i = 0; i < s->n; i++)
		disassembly__free(&s->part[i].d);
	return err;
}

int user_code__exits(struct user_code *code, u64 address, bool follow, struct code_exits *exits,
		     const char **why)
{
	struct search s = { .code = code, .entry = address, .exits = exits, .follow = follow };
	int err;

	*exits = (struct code_exits){};
	err = search_all(&s);
	if (err)
		code_exits__free(exits);
	/* If the callee cannot be followed, treat the jump itself as the end. */
	if (err == -ENODATA && follow)
		return user_code__exits(code, address, false, exits, why);
	*why = s.why;
	return err;
}

void code_exits__free(struct code_exits *exits)
{
	free(exits->exit);
	*exits = (struct code_exits){};
}
