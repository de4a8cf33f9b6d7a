/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions in filters, arguments and keys: parsed, with the position of every part in the text,
 * but not yet bound to an event. Pure.
 *
 * The grammar, from the weakest to the tightest binding (C's order):
 *
 *   ||   &&   |   ^   &   == != ~ !~   < <= > >=   << >>   + -   * / %
 *   ! - ~ * & (TYPE)                     prefix
 *   .NAME ->NAME [INDEX] :TYPE           postfix
 *
 * ~ and !~ mean "does (not) match the glob". Where C's order is a known trap (a & b == c is a & (b
 * == c)), parentheses are required. Operands:
 *
 *   12 0x1f 0755 4K 2M 1G                numbers; 0755 is octal; K, M, G are powers of 1024
 *   10ms 5us 2s 1m 1h                    times, in nanoseconds
 *   8:0  /dev/sda                        a device: dev_t as the kernel has it, major << 20 | minor
 *   "text"                               with \" \\ \n \t \xNN
 *   name                                 a field, an argument, an enumerator, comm pid tid ...
 *   $retval $arg1 $elapsed $stack        the event's other values
 *   %di                                  a register
 *   @name                                a global variable of the kernel or the program
 *   +8(EXPR) -8(EXPR)                    memory at EXPR + 8 (perf-probe(1))
 */
#ifndef TALLY_EXPR_EXPR_H
#define TALLY_EXPR_EXPR_H

#include "base/complaint.h"
#include "base/types.h"

enum expr_op {
	/* Operands */
	EXPR_NUMBER,            /* number */
	EXPR_TIME,              /* number, in ns */
	EXPR_DEVICE,            /* number */
	EXPR_PATH,              /* text: path of a device node */
	EXPR_STRING,            /* text */
	EXPR_NAME,              /* text */
	EXPR_SPECIAL,           /* text, without the $ */
	EXPR_REGISTER,          /* text, without the % */
	EXPR_SYMBOL,            /* text, without the @ */
	/* One operand, in left */
	EXPR_NOT,
	EXPR_NEGATE,
	EXPR_COMPLEMENT,
	EXPR_DEREFERENCE,
	EXPR_ADDRESS,
	EXPR_CAST,              /* text: the type in parentheses */
	EXPR_TYPED,             /* text: the type after the colon */
	EXPR_MEMBER,            /* text: the member of a structure */
	EXPR_ARROW,             /* text: the member of the structure pointed to */
	EXPR_MEMORY,            /* number: signed byte offset to add to left */
	/* Two operands */
	EXPR_INDEX,
	EXPR_MULTIPLY,
	EXPR_DIVIDE,
	EXPR_MODULO,
	EXPR_ADD,
	EXPR_SUBTRACT,
	EXPR_SHIFT_LEFT,
	EXPR_SHIFT_RIGHT,
	EXPR_LESS,
	EXPR_LESS_EQUAL,
	EXPR_GREATER,
	EXPR_GREATER_EQUAL,
	EXPR_EQUAL,
	EXPR_NOT_EQUAL,
	EXPR_LIKE,
	EXPR_NOT_LIKE,
	EXPR_BIT_AND,
	EXPR_BIT_XOR,
	EXPR_BIT_OR,
	EXPR_AND,
	EXPR_OR,
	EXPR_OPS,
};

struct expr {
	enum expr_op op;
	size_t at, len;         /* the source text, operands included */
	size_t op_at, op_len;   /* position of the operator */
	u64 number;
	char *text;
	struct expr *left, *right;
};

#define EXPR_MAX_DEPTH 100      /* nesting limit, beyond any typed text */

/*
 * Parses all of text. Returns 0, and the caller frees *e with expr__free(), or -EINVAL (-ENOMEM)
 * with *c filled in.
 */
int expr__parse(struct expr **e, const char *text, struct complaint *c);
void expr__free(struct expr *e);

/*
 * Formats e in normal form with all parentheses, "((a & 64) == 64)": for messages, -n and tests.
 * Allocated; NULL if out of memory.
 */
char *expr__format(const struct expr *e);

/* "==", "&&", ...; "" for operands. */
const char *expr_op_text(enum expr_op op);

bool expr_op_is_comparison(enum expr_op op);    /* < <= > >= == != ~ !~ */

#endif /* TALLY_EXPR_EXPR_H */
