// SPDX-License-Identifier: BSD-2-Clause
#include "jit/operand.h"

typedef __int128 wide;

#define MOST ((wide)UINT64_MAX)
#define SATURATED ((wide)1 << 120)      /* beyond any number that fits */

static wide lower(wide a, wide b)
{
	return a < b ? a : b;
}

static wide higher(wide a, wide b)
{
	return a > b ? a : b;
}

struct operand operand_between(wide lowest, wide highest)
{
	struct operand o = { .kind = UNSIGNED, .lowest = lowest, .highest = highest };

	if (lowest < 0)
		o.kind = SIGNED;
	else if (highest <= INT64_MAX)
		o.kind = SMALL;
	if (o.kind == SIGNED && (lowest < INT64_MIN || highest > INT64_MAX)) {
		o.lowest = INT64_MIN;
		o.highest = INT64_MAX;
	} else if (highest > MOST) {
		o.lowest = 0;
		o.highest = MOST;
	}
	o.type = c_type__integer(8, o.kind == SIGNED);
	return o;
}

struct operand operand_constant(u64 number, enum number_kind kind)
{
	wide value = kind == SIGNED ? (wide)(s64)number : (wide)number;
	struct operand o = operand_between(value, value);

	o.kind = kind;
	return o;
}

struct operand operand_of(enum number_kind kind, const struct c_type *type)
{
	struct operand o = { .kind = kind, .type = *type };
	bool is_signed;
	u32 size;

	if (!c_type__is_number(type, &size, &is_signed))
		size = 8;
	o.lowest = kind == SIGNED ? -((wide)1 << (8 * size - 1)) : 0;
	o.highest = ((wide)1 << (8 * size - (kind == SIGNED))) - 1;
	if (kind == SMALL && o.highest > INT64_MAX)
		o.highest = INT64_MAX;
	return o;
}

struct operand operand_integer(u32 size, bool is_signed)
{
	struct c_type type = c_type__integer(size, is_signed);

	return operand_of(is_signed ? SIGNED : size < 8 ? SMALL : UNSIGNED, &type);
}

struct operand operand_address(struct c_type type)
{
	type = c_type__pointer_to(type);
	return operand_of(UNSIGNED, &type);
}

/*
 * --- arithmetic --------------------------------------------------------------------------------
 */

static wide product(wide a, wide b)
{
	wide result;

	if (!__builtin_mul_overflow(a, b, &result))
		return result;
	return (a < 0) == (b < 0) ? SATURATED : -SATURATED;
}

static struct operand multiplied(const struct operand *a, const struct operand *b)
{
	wide w = product(a->lowest, b->lowest), x = product(a->lowest, b->highest);
	wide y = product(a->highest, b->lowest), z = product(a->highest, b->highest);

	return operand_between(lower(lower(w, x), lower(y, z)), higher(higher(w, x), higher(y, z)));
}

static wide magnitude(const struct operand *o)
{
	return higher(o->lowest < 0 ? -o->lowest : o->lowest,
		      o->highest < 0 ? -o->highest : o->highest);
}

/* As in C, rounds towards zero. */
static struct operand divided(const struct operand *a, const struct operand *b)
{
	if (b->lowest < 0)
		return operand_between(-magnitude(a), magnitude(a));
	return operand_between(lower(a->lowest, 0), higher(a->highest, 0));
}

/* The remainder has the sign of the dividend. */
static struct operand remaining(const struct operand *a, const struct operand *b)
{
	wide most = higher(magnitude(b), 1) - 1;

	return operand_between(a->lowest < 0 ? higher(a->lowest, -most) : 0,
			       a->highest > 0 ? lower(a->highest, most) : 0);
}

/* Limits shift counts: 64 and more are undefined. */
static int shift_count(wide n)
{
	return n < 0 ? 0 : n > 63 ? 63 : n;
}

static struct operand shifted_left(const struct operand *a, const struct operand *by)
{
	wide least = (wide)1 << shift_count(by->lowest), most = (wide)1 << shift_count(by->highest);

	return operand_between(product(a->lowest, a->lowest < 0 ? most : least),
			       product(a->highest, a->highest < 0 ? least : most));
}

static struct operand shifted_right(const struct operand *a, const struct operand *by)
{
	int least = shift_count(by->lowest), most = shift_count(by->highest);

	return operand_between(a->lowest >> (a->lowest < 0 ? least : most),
			       a->highest >> (a->highest < 0 ? most : least));
}

/* Returns all values with the bits that either range can have: -2^n .. 2^n - 1, or 0 .. 2^n - 1. */
static struct operand any_bits(const struct operand *a, const struct operand *b)
{
	wide lowest = lower(a->lowest, b->lowest), highest = higher(a->highest, b->highest), end = 1;

	while (end <= highest || end < -lowest)
		end <<= 1;
	return operand_between(lowest < 0 ? -end : 0, end - 1);
}

/* A non-negative number has no bits above its highest one, and neither has its AND with any number. */
static struct operand common_bits(const struct operand *a, const struct operand *b)
{
	if (a->lowest >= 0 && b->lowest >= 0)
		return operand_between(0, lower(a->highest, b->highest));
	if (a->lowest >= 0 || b->lowest >= 0)
		return operand_between(0, a->lowest >= 0 ? a->highest : b->highest);
	return any_bits(a, b);
}

struct operand operand_result(enum expr_op op, const struct operand *a, const struct operand *b)
{
	switch (op) {
	case EXPR_ADD:
		return operand_between(a->lowest + b->lowest, a->highest + b->highest);
	case EXPR_SUBTRACT:
		return operand_between(a->lowest - b->highest, a->highest - b->lowest);
	case EXPR_MULTIPLY:
		return multiplied(a, b);
	case EXPR_DIVIDE:
		return divided(a, b);
	case EXPR_MODULO:
		return remaining(a, b);
	case EXPR_SHIFT_LEFT:
		return shifted_left(a, b);
	case EXPR_SHIFT_RIGHT:
		return shifted_right(a, b);
	case EXPR_BIT_AND:
		return common_bits(a, b);
	default:
		return any_bits(a, b);
	}
}

struct operand operand_unary(enum expr_op op, const struct operand *o)
{
	if (op == EXPR_NEGATE)
		return operand_between(-o->highest, -o->lowest);
	return operand_between(-o->highest - 1, -o->lowest - 1);
}

/*
 * --- comparisons -------------------------------------------------------------------------------
 */

static bool is_less(const struct operand *a, const struct operand *b, bool or_equal, bool *holds)
{
	*holds = or_equal ? a->highest <= b->lowest : a->highest < b->lowest;
	return *holds || (or_equal ? a->lowest > b->highest : a->lowest >= b->highest);
}

static bool is_equal(const struct operand *a, const struct operand *b, bool *holds)
{
	*holds = a->lowest == a->highest && b->lowest == b->highest && a->lowest == b->lowest;
	return *holds || a->highest < b->lowest || b->highest < a->lowest;
}

bool operand_decides(enum expr_op op, const struct operand *a, const struct operand *b, bool *holds)
{
	bool decided;

	switch (op) {
	case EXPR_LESS:
	case EXPR_LESS_EQUAL:
		return is_less(a, b, op == EXPR_LESS_EQUAL, holds);
	case EXPR_GREATER:
	case EXPR_GREATER_EQUAL:
		return is_less(b, a, op == EXPR_GREATER_EQUAL, holds);
	case EXPR_EQUAL:
		return is_equal(a, b, holds);
	default:
		decided = is_equal(a, b, holds);
		*holds = !*holds;
		return decided;
	}
}
