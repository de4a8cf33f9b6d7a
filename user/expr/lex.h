/* SPDX-License-Identifier: BSD-2-Clause */
/* From the text of an expression to its words. Only expr/parse.c needs this. */
#ifndef TALLY_EXPR_LEX_H
#define TALLY_EXPR_LEX_H

#include "expr/expr.h"

enum token_kind {
	TOKEN_END,
	TOKEN_OPERAND,          /* op says which: EXPR_NUMBER to EXPR_SYMBOL */
	TOKEN_PUNCTUATION,      /* text[at..len]: an operator, a parenthesis, ... */
};

struct token {
	enum token_kind kind;
	enum expr_op op;
	size_t at, len;
	u64 number;
	char *text;             /* owned until it is taken; of names and strings */
};

struct lexer {
	const char *text;
	size_t at;              /* where the next token is looked for */
	struct complaint *c;
};

/*
 * The next token. Where an operand may stand (operand), a slash begins the path of a device, a
 * percent sign a register. Returns 0, or -EINVAL (-ENOMEM) with the complaint filled in.
 */
int lexer__next(struct lexer *lexer, struct token *t, bool operand);

#endif /* TALLY_EXPR_LEX_H */
