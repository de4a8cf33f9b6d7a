/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluates an expression on its tree with 128-bit integers, for comparison with compiled code.
 * Makes random expressions and the values of the names in them.
 */
#ifndef TALLY_TESTS_EXPR_MEANING_H
#define TALLY_TESTS_EXPR_MEANING_H

#include "unit.h"

#include "bpf/lib/event.h"
#include "expr/expr.h"
#include "jit/operand.h"

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

/* --- evaluation of an expression on its tree ----------------------------------------------------- */

/*
 * The exact value, truncated to 64 bits if it does not fit. The result is signed if it can be below
 * zero, as the compiler's own arithmetic of bounds (jit/operand.h) says. Each value is checked
 * against these bounds.
 */
struct number {
	__int128 value;
	struct operand can;     /* bounds that are known beforehand */
	bool fault;             /* a part of it cannot be evaluated */
	bool maybe;             /* likewise, but another side decides alone if it is evaluated first */
};

static struct number number_in(__int128 exact, const struct operand *can)
{
	struct number n = { .can = *can };

	n.value = can->kind == SIGNED ? (__int128)(s64)exact : (__int128)(u64)exact;
	if (n.value < can->lowest || n.value > can->highest)
		fail_msg("%lld is out of its bounds", (s64)n.value);
	/* A value may wrap only if its bounds span all 64 bits. */
	if (n.value != exact)
		assert_true(can->highest - can->lowest == (__int128)UINT64_MAX);
	return n;
}

static struct number number_of(u64 bits, u32 size, bool is_signed)
{
	struct operand can = operand_integer(size, is_signed);

	return number_in(is_signed ? (__int128)(s64)bits : (__int128)bits, &can);
}

static struct number truth(bool holds)
{
	struct operand can = operand_between(0, 1);

	return number_in(holds, &can);
}

static struct number field_of(const struct record *r, const char *name)
{
	if (!strcmp(name, "b"))
		return number_of(r->b, 1, false);
	if (!strcmp(name, "sb"))
		return number_of(r->sb, 1, true);
	if (!strcmp(name, "h"))
		return number_of(r->h, 2, false);
	if (!strcmp(name, "sh"))
		return number_of(r->sh, 2, true);
	if (!strcmp(name, "w"))
		return number_of(r->w, 4, false);
	if (!strcmp(name, "sw"))
		return number_of(r->sw, 4, true);
	if (!strcmp(name, "d"))
		return number_of(r->d, 8, false);
	return number_of(r->sd, 8, true);
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

static bool compares(enum expr_op op, __int128 x, __int128 y)
{
	switch (op) {
	case EXPR_LESS:
		return x < y;
	case EXPR_LESS_EQUAL:
		return x <= y;
	case EXPR_GREATER:
		return x > y;
	case EXPR_GREATER_EQUAL:
		return x >= y;
	case EXPR_EQUAL:
		return x == y;
	default:
		return x != y;
	}
}

/* Exact, except for products, which are exact in their lower 64 bits. Returns false if there is no result. */
static bool computed(enum expr_op op, __int128 x, __int128 y, __int128 *result)
{
	switch (op) {
	case EXPR_ADD:
		*result = x + y;
		return true;
	case EXPR_SUBTRACT:
		*result = x - y;
		return true;
	case EXPR_MULTIPLY:
		*result = (__int128)((unsigned __int128)x * (unsigned __int128)y);
		return true;
	case EXPR_DIVIDE:
		*result = y ? x / y : 0;
		return y != 0;
	case EXPR_MODULO:
		*result = y ? x % y : 0;
		return y != 0;
	case EXPR_SHIFT_LEFT:
		*result = y < 0 || y > 63 ? 0 : (__int128)((unsigned __int128)x << y);
		return y >= 0 && y <= 63;
	case EXPR_SHIFT_RIGHT:
		*result = y < 0 || y > 63 ? 0 : x >> y;
		return y >= 0 && y <= 63;
	case EXPR_BIT_AND:
		*result = x & y;
		return true;
	case EXPR_BIT_OR:
		*result = x | y;
		return true;
	default:
		*result = x ^ y;
		return true;
	}
}

static struct number of_two(const struct expr *e, struct number a, struct number b)
{
	struct operand can;
	__int128 exact;

	if (expr_op_is_comparison(e->op))
		return truth(compares(e->op, a.value, b.value));
	can = operand_result(e->op, &a.can, &b.can);
	if (a.fault || b.fault || !computed(e->op, a.value, b.value, &exact))
		return (struct number){ .can = can, .fault = true };
	return number_in(exact, &can);
}

/* Returns whether this side of && or || decides the result alone. */
static bool decides(const struct expr *e, struct number n)
{
	return (e->op == EXPR_AND && !n.value) || (e->op == EXPR_OR && n.value);
}

static struct number of_one(const struct expr *e, struct number a)
{
	struct operand can = operand_unary(e->op, &a.can);

	switch (e->op) {
	case EXPR_NOT:
		return truth(!a.value);
	case EXPR_NEGATE:
		return a.fault ? (struct number){ .can = can } : number_in(-a.value, &can);
	case EXPR_COMPLEMENT:
		return a.fault ? (struct number){ .can = can } : number_in(~a.value, &can);
	default:
		return !strcmp(e->text, "s16") ? number_of((short)a.value, 2, true) :
						 number_of((u32)a.value, 4, false);
	}
}

/* Both orders are right: compiled code may evaluate the cheaper side of && or || first if it cannot fail. */
static struct number of_logic(const struct expr *e, struct number a, struct number b)
{
	struct number n;

	if ((a.fault && (b.fault || !decides(e, b))) || (!a.fault && !decides(e, a) && b.fault)) {
		n = truth(false);
		n.fault = true;
		return n;
	}
	n = truth(a.fault || decides(e, a) ? e->op == EXPR_OR : b.value != 0);
	n.maybe = a.fault || a.maybe || (!decides(e, a) && b.maybe);
	return n;
}

static struct number meaning(const struct record *r, const struct expr *e)
{
	struct number a, b, n;

	if (e->op == EXPR_NUMBER) {
		n.can = operand_constant(e->number, e->number > INT64_MAX ? UNSIGNED : SMALL);
		return number_in(e->number, &n.can);
	}
	if (e->op == EXPR_NAME)
		return field_of(r, e->text);
	/* +8(p):u8, where p points to the record */
	if (e->op == EXPR_TYPED && e->left->op == EXPR_MEMORY)
		return field_of(r, field_at(e->left->number));
	a = meaning(r, e->left);
	if (!e->right) {
		n = of_one(e, a);
		n.fault = a.fault;
		n.maybe = a.maybe;
		return n;
	}
	b = meaning(r, e->right);
	if (e->op == EXPR_AND || e->op == EXPR_OR)
		return of_logic(e, a, b);
	n = of_two(e, a, b);
	n.fault |= a.fault || b.fault;
	n.maybe |= a.maybe || b.maybe;
	return n;
}

/* Returns whether a compiled function agrees with the tree. wanted: its return value without a fault. */
static inline bool agrees(s64 verdict, const struct number *n, s64 wanted)
{
	if (n->maybe && verdict == EVENT_BAD_ARITHMETIC)
		return true;
	return verdict == (n->fault ? EVENT_BAD_ARITHMETIC : wanted);
}

/* Returns whether an expression is refused because a constant is larger than what it is compared with. */
static inline bool is_decided(const struct complaint *c)
{
	return strstr(c->what, "this is never true") || strstr(c->what, "this is always true");
}

/* --- random expressions --------------------------------------------------------------------------- */

/* Writes a field by its name, or as the memory at its offset. */
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

/* Small numbers and the limits of types, which would rarely meet in uniformly random numbers. */
static u64 edge(struct random *random)
{
	static const u64 edges[] = { 0, 1, 2, 63, 64, 127, 128, 255, 32767, 32768, 65535, 0x7fffffff,
				     0x80000000, 0xffffffff, INT64_MAX, 1ULL << 63, UINT64_MAX };

	return random__below(random, 2) ? edges[random__below(random, ARRAY_SIZE(edges))] :
					  random__any_size(random);
}

#endif /* TALLY_TESTS_EXPR_MEANING_H */
