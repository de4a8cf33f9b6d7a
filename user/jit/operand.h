/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the compiler knows of a number before any event happens: its type, and between which two
 * numbers it is. Comparisons are those of mathematics, between any two types; results of
 * arithmetic are exact wherever they fit into 64 bits of their kind, and wrap there. A result that
 * can be below zero is signed, any other is not. Pure.
 */
#ifndef TALLY_JIT_OPERAND_H
#define TALLY_JIT_OPERAND_H

#include "expr/expr.h"
#include "types/c_type.h"

/* How the 64 bits of a number are to be read. */
enum number_kind {
	SMALL,                  /* 0 .. 2^63 - 1: the same, signed or not */
	SIGNED,
	UNSIGNED,
};

struct operand {
	enum number_kind kind;
	struct c_type type;     /* what it was loaded as; an integer of 8 bytes for what was computed */
	__int128 lowest, highest;       /* never anything else, and inside of what kind can hold */
	bool is_bits;           /* of a register: nobody says which type they have */
	u32 elements;           /* of the array that it is the address of; 0: unknown, or none */
};

/* A number of this type, as it was declared. */
struct operand operand_of(enum number_kind kind, const struct c_type *type);
struct operand operand_integer(u32 size, bool is_signed);
/* An address of something of this type. */
struct operand operand_address(struct c_type type);

/* A computed one; what does not fit into 64 bits has wrapped and can be any of its kind. */
struct operand operand_between(__int128 lowest, __int128 highest);
struct operand operand_constant(u64 number, enum number_kind kind);

/* The result of an operator, EXPR_ADD to EXPR_BIT_OR but for comparisons; and of one operand. */
struct operand operand_result(enum expr_op op, const struct operand *left,
			      const struct operand *right);
struct operand operand_unary(enum expr_op op, const struct operand *operand);

/* Is the comparison decided by what both can be? Then *holds says how. */
bool operand_decides(enum expr_op op, const struct operand *left, const struct operand *right,
		     bool *holds);

#endif /* TALLY_JIT_OPERAND_H */
