/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an expression means, worked out on its tree with 128-bit integers, for comparison with what is
 * compiled; random expressions, and the values that names have in them.
 */
#ifndef TALLY_TESTS_EXPR_MEANING_H
#define TALLY_TESTS_EXPR_MEANING_H

#include "unit.h"

#include "expr/expr.h"

/* --- values -------------------------------------------------------------------------------------- */

struct record {
	u64 common;
	u8 b;
	__s8 sb;
	__u16 h;
	__s16 sh;
	__u16 pad;
	u32 w;
	int sw;
	u64 d;
	s64 sd;
	char pad2, text[8], pad3[3];
	u32 any;
	char pad4[8];
	u32 vec;
	char dynamic[60];
};

/* --- what an expression means, worked out on the tree -------------------------------------------- */

struct number {
	__int128 value;
	enum { SMALL, SIGNED, UNSIGNED } kind;
	bool fault;             /* something in it cannot be worked out */
	bool maybe;             /* so has it, but another side decides alone, if it is asked first */
};

static struct number number_of(u64 bits, int kind)
{
	struct number n = { .kind = kind };

	n.value = kind == SIGNED ? (__int128)(s64)bits : (__int128)bits;
	return n;
}

static struct number field_of(const struct record *r, const char *name)
{
	if (!strcmp(name, "b"))
		return number_of(r->b, SMALL);
	if (!strcmp(name, "sb"))
		return number_of(r->sb, SIGNED);
	if (!strcmp(name, "h"))
		return number_of(r->h, SMALL);
	if (!strcmp(name, "sh"))
		return number_of(r->sh, SIGNED);
	if (!strcmp(name, "w"))
		return number_of(r->w, SMALL);
	if (!strcmp(name, "sw"))
		return number_of(r->sw, SIGNED);
	if (!strcmp(name, "d"))
		return number_of(r->d, UNSIGNED);
	return number_of(r->sd, SIGNED);
}

static const struct {
	const char *name, *type;
	size_t at;
} numbers_of_record[] = {
	{ "b", "u8", offsetof(struct record, b) },   { "sb", "s8", offsetof(struct record, sb) },
	{ "h", "u16", offsetof(struct record, h) },  { "sh", "s16", offsetof(struct record, sh) },
	{ "w", "u32", offsetof(struct record, w) },  { "sw", "s32", offsetof(struct record, sw) },
	{ "d", "u64", offsetof(struct record, d) },  { "sd", "s64", offsetof(struct record, sd) },
};

static const char *field_at(size_t at)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers_of_record); i++)
		if (numbers_of_record[i].at == at)
			return numbers_of_record[i].name;
	fail_msg("nothing is at %zu", at);
	return NULL;
}

static struct number meaning(const struct record *r, const struct expr *e);

static int joined(struct number a, struct number b, int both_small)
{
	if (a.kind == UNSIGNED || b.kind == UNSIGNED)
		return UNSIGNED;
	return a.kind == SIGNED || b.kind == SIGNED ? SIGNED : both_small;
}

static struct number of_two(const struct expr *e, struct number a, struct number b)
{
	u64 x = a.value, y = b.value;

	switch (e->op) {
	case EXPR_ADD:
		return number_of(x + y, joined(a, b, SIGNED));
	case EXPR_SUBTRACT:
		return number_of(x - y, joined(a, b, SIGNED));
	case EXPR_MULTIPLY:
		return number_of(x * y, joined(a, b, SIGNED));
	case EXPR_DIVIDE:
	case EXPR_MODULO:
		if (!y)
			return (struct number){ .fault = true };
		return number_of(e->op == EXPR_DIVIDE ? x / y : x % y, joined(a, b, SMALL));
	case EXPR_SHIFT_LEFT:
		if (y > 63)
			return (struct number){ .fault = true };
		return number_of(x << y, a.kind == SMALL ? SIGNED : a.kind);
	case EXPR_SHIFT_RIGHT:
		if (y > 63)
			return (struct number){ .fault = true };
		return number_of(a.kind == SIGNED ? (u64)((s64)x >> y) : x >> y, a.kind);
	case EXPR_BIT_AND:
		return number_of(x & y, a.kind == SMALL || b.kind == SMALL ? SMALL : joined(a, b, SMALL));
	case EXPR_BIT_OR:
		return number_of(x | y, joined(a, b, SMALL));
	case EXPR_BIT_XOR:
		return number_of(x ^ y, joined(a, b, SMALL));
	case EXPR_LESS:
		return number_of(a.value < b.value, SMALL);
	case EXPR_LESS_EQUAL:
		return number_of(a.value <= b.value, SMALL);
	case EXPR_GREATER:
		return number_of(a.value > b.value, SMALL);
	case EXPR_GREATER_EQUAL:
		return number_of(a.value >= b.value, SMALL);
	case EXPR_EQUAL:
		return number_of(a.value == b.value, SMALL);
	default:
		return number_of(a.value != b.value, SMALL);
	}
}

/* && and ||: what the side says that decides alone. */
static bool decides(const struct expr *e, struct number n)
{
	return (e->op == EXPR_AND && !n.value) || (e->op == EXPR_OR && n.value);
}

static struct number of_one(const struct expr *e, struct number a)
{
	switch (e->op) {
	case EXPR_NOT:
		return number_of(!a.value, SMALL);
	case EXPR_NEGATE:
		return number_of(-(u64)a.value, a.kind == UNSIGNED ? UNSIGNED : SIGNED);
	case EXPR_COMPLEMENT:
		return number_of(~(u64)a.value, a.kind == UNSIGNED ? UNSIGNED : SIGNED);
	default:
		return !strcmp(e->text, "s16") ? number_of((short)a.value, SIGNED) :
						 number_of((u32)a.value, SMALL);
	}
}

/* The cheaper side of && and || may be asked first where it cannot fail: both orders are right. */
static struct number of_logic(const struct expr *e, struct number a, struct number b)
{
	struct number n;

	if (a.fault && (b.fault || !decides(e, b)))
		return a;
	if (!a.fault && !decides(e, a) && b.fault)
		return b;
	n = number_of(a.fault || decides(e, a) ? e->op == EXPR_OR : b.value != 0, SMALL);
	n.maybe = a.fault || a.maybe || (!decides(e, a) && b.maybe);
	return n;
}

static struct number meaning(const struct record *r, const struct expr *e)
{
	struct number a, b, n;

	if (e->op == EXPR_NUMBER)
		return number_of(e->number, e->number > INT64_MAX ? UNSIGNED : SMALL);
	if (e->op == EXPR_NAME)
		return field_of(r, e->text);
	/* +8(p):u8, where p points to the record */
	if (e->op == EXPR_TYPED && e->left->op == EXPR_MEMORY)
		return field_of(r, field_at(e->left->number));
	a = meaning(r, e->left);
	if (!e->right) {
		n = a.fault ? a : of_one(e, a);
		n.maybe = a.maybe;
		return n;
	}
	b = meaning(r, e->right);
	if (e->op == EXPR_AND || e->op == EXPR_OR)
		return of_logic(e, a, b);
	if (a.fault || b.fault)
		return a.fault ? a : b;
	n = of_two(e, a, b);
	n.maybe |= a.maybe || b.maybe;
	return n;
}

/* --- random ones ---------------------------------------------------------------------------------- */

/* A field, or what is in memory where it is. */
static void put_field(struct random *random, FILE *f, bool memory)
{
	size_t i = random__below(random, ARRAY_SIZE(numbers_of_record));

	if (memory && !random__below(random, 3))
		fprintf(f, "+%zu(p):%s", numbers_of_record[i].at, numbers_of_record[i].type);
	else
		fputs(numbers_of_record[i].name, f);
}

static void put_random(struct random *random, FILE *f, int depth, bool memory)
{
	static const char *const two[] = {
		"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=",
		"<", "<=", ">", ">=", "==", "!=", "&&", "||", "&&", "||",
	};
	static const char *const one[] = { "!", "-", "~", "(u32)", "(s16)" };

	switch (depth ? random__below(random, 5) : random__below(random, 2)) {
	case 0:
		put_field(random, f, memory);
		break;
	case 1:
		fprintf(f, "%llu", random__any_size(random));
		break;
	case 2:
		fprintf(f, "%s(", one[random__below(random, ARRAY_SIZE(one))]);
		put_random(random, f, depth - 1, memory);
		fputc(')', f);
		break;
	default:
		fputc('(', f);
		put_random(random, f, depth - 1, memory);
		fprintf(f, ") %s (", two[random__below(random, ARRAY_SIZE(two))]);
		put_random(random, f, depth - 1, memory);
		fputc(')', f);
	}
}

/* Small numbers and the edges of types meet more often than chance would have it. */
static u64 edge(struct random *random)
{
	static const u64 edges[] = { 0, 1, 2, 63, 64, 127, 128, 255, 32767, 32768, 65535, 0x7fffffff,
				     0x80000000, 0xffffffff, INT64_MAX, 1ULL << 63, UINT64_MAX };

	return random__below(random, 2) ? edges[random__below(random, ARRAY_SIZE(edges))] :
					  random__any_size(random);
}

#endif /* TALLY_TESTS_EXPR_MEANING_H */
