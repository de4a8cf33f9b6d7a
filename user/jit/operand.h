/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A number as the compiler knows it at compile time: its type and its range. Comparisons are mathematical, between any
 * two types; results of arithmetic are exact if they fit into 64 bits of their kind, and wrap otherwise. A result that
 * can be negative is signed; any other result is unsigned. Pure.
 */
#ifndef TALLY_JIT_OPERAND_H
#define TALLY_JIT_OPERAND_H

#include "expr/expr.h"
#include "types/c_type.h"

/* How to read the 64 bits of a number. */
enum number_kind {
	SMALL,                  /* 0 .. 2^63 - 1: same value signed or unsigned */
	SIGNED,
	UNSIGNED,
};

struct operand {
	enum number_kind kind;
	struct c_type type;     /* as loaded; computed values are 8-byte integers */
	__int128 lowest, highest;       /* the value's range, within that of kind */
	bool is_bits;           /* from a register: its declared type is unknown */
	u32 elements;           /* of the array at this address; 0: unknown, or not an array */
};

/* Returns a number of this declared type. */
struct operand operand_of(enum number_kind kind, const struct c_type *type);
struct operand operand_integer(u32 size, bool is_signed);
/* Returns the address of an object of this type. */
struct operand operand_address(struct c_type type);

/* Returns a computed number. If the range exceeds 64 bits, the value has wrapped and can be any of its kind. */
struct operand operand_between(__int128 lowest, __int128 highest);
struct operand operand_constant(u64 number, enum number_kind kind);

/* Returns the result of a binary operator, EXPR_ADD to EXPR_BIT_OR except comparisons, and of a unary operator. */
struct operand operand_result(enum expr_op op, const struct operand *left,
			      const struct operand *right);
struct operand operand_unary(enum expr_op op, const struct operand *operand);

/* True if the operands' ranges decide the comparison. If so, *holds is its result. */
bool operand_decides(enum expr_op op, const struct operand *left, const struct operand *right,
		     bool *holds);

#endif /* TALLY_JIT_OPERAND_H */
