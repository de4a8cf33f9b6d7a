/* SPDX-License-Identifier: BSD-2-Clause */
/* The lexer of expressions. Only expr/parse.c needs this. */
#ifndef TALLY_EXPR_LEX_H
#define TALLY_EXPR_LEX_H

#include "expr/expr.h"

enum token_kind {
	TOKEN_END,
	TOKEN_OPERAND,          /* op is EXPR_NUMBER to EXPR_SYMBOL */
	TOKEN_PUNCTUATION,      /* text[at..len]: an operator, a parenthesis, ... */
};

struct token {
	enum token_kind kind;
	enum expr_op op;
	size_t at, len;
	u64 number;
	char *text;             /* of names and strings; owned until taken */
};

struct lexer {
	const char *text;
	size_t at;              /* position of the next token */
	struct complaint *c;
};

/*
 * Returns the next token. If operand is set, an operand is allowed here: a slash begins a device path, and a percent
 * sign a register. Returns 0, or -EINVAL (-ENOMEM) with the complaint filled in.
 */
int lexer__next(struct lexer *lexer, struct token *t, bool operand);

#endif /* TALLY_EXPR_LEX_H */
