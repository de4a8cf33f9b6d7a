// SPDX-License-Identifier: BSD-2-Clause
#include "expr/expr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "expr/lex.h"

struct parser {
	struct lexer lexer;
	struct token token;     /* the current token */
	int depth;
};

/* --- nodes ------------------------------------------------------------------------------------- */

void expr__free(struct expr *e)
{
	if (!e)
		return;
	expr__free(e->left);
	expr__free(e->right);
	free(e->text);
	free(e);
}

/* Takes ownership of left and right, also on failure. */
static int make(struct expr **e, enum expr_op op, struct expr *left, struct expr *right)
{
	*e = calloc(1, sizeof(**e));
	if (!*e) {
		expr__free(left);
		expr__free(right);
		return -ENOMEM;
	}
	(*e)->op = op;
	(*e)->left = left;
	(*e)->right = right;
	return 0;
}

static void place(struct expr *e, size_t from, size_t to)
{
	e->at = from;
	e->len = to - from;
}

static size_t end_of(const struct expr *e)
{
	return e->at + e->len;
}

/* --- tokens ------------------------------------------------------------------------------------ */

static int advance(struct parser *p, bool operand)
{
	free(p->token.text);
	p->token.text = NULL;
	return lexer__next(&p->lexer, &p->token, operand);
}

static bool is_at(const struct parser *p, const char *punctuation)
{
	const struct token *t = &p->token;

	return t->kind == TOKEN_PUNCTUATION && t->len == strlen(punctuation) &&
	       !strncmp(p->lexer.text + t->at, punctuation, t->len);
}

/* Returns the meaning of an operator of another language ("and", "or", "not"), or NULL. */
static const char *word_operator(const struct parser *p)
{
	static const char *const words[][2] = {
		{ "and", "&&" }, { "AND", "&&" }, { "or", "||" }, { "OR", "||" }, { "not", "!" },
		{ "NOT", "!" }, { "like", "~" }, { "LIKE", "~" }, { "eq", "==" }, { "ne", "!=" },
		{ "lt", "<" }, { "gt", ">" }, { "le", "<=" }, { "ge", ">=" }, { "is", "==" },
	};
	size_t i;

	for (i = 0; p->token.text && i < ARRAY_SIZE(words); i++)
		if (!strcmp(p->token.text, words[i][0]))
			return words[i][1];
	return NULL;
}

/* Complains about a token where an operator or the end is expected. */
static int complain_about_rest(struct parser *p)
{
	const struct token *t = &p->token;
	struct complaint *c = p->lexer.c;
	const char *meant = word_operator(p);

	if (t->kind == TOKEN_OPERAND && meant)
		return complain(c, -EINVAL, t->at, t->len, "unknown operator '%s', did you mean '%s'?",
				t->text, meant);
	if (t->kind == TOKEN_OPERAND)
		return complain(c, -EINVAL, t->at, t->len, "an operator is missing before this");
	if (is_at(p, ")"))
		return complain(c, -EINVAL, t->at, 1, "unmatched ')'");
	if (is_at(p, "]"))
		return complain(c, -EINVAL, t->at, 1, "unmatched ']'");
	return complain(c, -EINVAL, t->at, t->len, "unexpected '%.*s'", (int)t->len,
			p->lexer.text + t->at);
}

static int complain_about_operand(struct parser *p)
{
	const struct token *t = &p->token;

	if (t->kind == TOKEN_END)
		return complain(p->lexer.c, -EINVAL, t->at, 0, "a value is missing at the end");
	return complain(p->lexer.c, -EINVAL, t->at, t->len, "a value is missing before '%.*s'",
			(int)t->len, p->lexer.text + t->at);
}

/* On failure, *e may hold a partial result, which the caller frees. */

/* --- the grammar ------------------------------------------------------------------------------- */

static int parse_binary(struct parser *p, struct expr **e, int level);
static int parse_unary(struct parser *p, struct expr **e);

static int parse_operand(struct parser *p, struct expr **e)
{
	int err = make(e, p->token.op, NULL, NULL);

	if (err)
		return err;
	place(*e, p->token.at, p->token.at + p->token.len);
	(*e)->number = p->token.number;
	(*e)->text = p->token.text;
	p->token.text = NULL;
	return advance(p, false);
}

/* Requires this token, and moves past it. */
static int expect(struct parser *p, const char *closing, size_t opened, bool operand)
{
	if (is_at(p, closing))
		return advance(p, operand);
	if (p->token.kind == TOKEN_END)
		return complain(p->lexer.c, -EINVAL, opened, 1, "'%s' is missing to close this", closing);
	return complain_about_rest(p);
}

/* Returns the length of a name, which may be a C++ or Rust name: ns::table, map<int, entry *>. */
static size_t type_name_length(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789 ";
	size_t n = 0, nested = 0;

	for (;;) {
		n += strspn(text + n, letters);
		if (text[n] == ':' && text[n + 1] == ':')
			n += 2;
		else if (text[n] == '<' && text[n + 1] != '<' && text[n + 1] != '=')
			nested++, n++;
		else if (nested && text[n] == '>')
			nested--, n++;
		else if (nested && (text[n] == ',' || text[n] == '*' || text[n] == '&'))
			n++;
		else
			return nested ? 0 : n;
	}
}

/* True if the text after (name) cannot begin with an operator, which makes (name) a cast. */
static bool is_before_operand(const char *text)
{
	static const char *const words[] = { "and", "or", "like", "eq", "ne", "lt", "gt", "le", "ge", "is" };
	size_t len, i;

	text += strspn(text, " ");
	len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (len == strlen(words[i]) && !strncasecmp(text, words[i], len))
			return false;
	return len || *text == '$' || *text == '@';
}

/*
 * Returns the length of (TYPE) before an operand, or 0. TYPE is a name, optionally with struct,
 * union, enum, unsigned, and stars. Parentheses without any of these are an expression, unless a
 * value follows.
 */
static size_t cast_length(const char *text)
{
	static const char *const leading[] = {
		"struct ", "union ", "enum ", "class ", "unsigned ", "signed ", "const ", "long ", "short ",
	};
	static const char *const plain[] = {
		"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "int", "char", "long", "short",
		"unsigned", "signed", "bool", "size_t", "x8", "x16", "x32", "x64",
	};
	size_t n = 1 + strspn(text + 1, " "), from = n, i, len;
	bool is_type = false, pointer = false;

	for (i = 0; i < ARRAY_SIZE(leading); i++)
		is_type |= !strncmp(text + n, leading[i], strlen(leading[i]));
	n += type_name_length(text + n);
	len = n - from;
	while (len && text[from + len - 1] == ' ')
		len--;
	for (i = 0; i < ARRAY_SIZE(plain); i++)
		is_type |= len == strlen(plain[i]) && !strncmp(text + from, plain[i], len);
	while (text[n] == '*' || text[n] == ' ')
		pointer |= text[n++] == '*';
	if (text[n] != ')' || !len || (text[from] >= '0' && text[from] <= '9'))
		return 0;
	if (!is_type && !pointer && !is_before_operand(text + n + 1))
		return 0;
	/* (name *) is always a cast: an operand follows. */
	return n + 1;
}

static int parse_cast(struct parser *p, struct expr **e, size_t len)
{
	const char *text = p->lexer.text + p->token.at + 1;
	size_t from = p->token.at, n = len - 2;
	struct expr *operand = NULL;
	int err;

	while (n && *text == ' ')
		text++, n--;
	while (n && text[n - 1] == ' ')
		n--;
	p->lexer.at = from + len;
	err = advance(p, true);
	if (!err)
		err = parse_unary(p, &operand);
	if (err) {
		expr__free(operand);
		return err;
	}
	err = make(e, EXPR_CAST, operand, NULL);
	if (err)
		return err;
	place(*e, from, end_of(operand));
	(*e)->op_at = from;
	(*e)->op_len = len;
	(*e)->text = strndup(text, n);
	return (*e)->text ? 0 : -ENOMEM;
}

/* True for +N(EXPR) and -N(EXPR): the token is the sign, and a number and a parenthesis follow. */
static bool is_memory(const struct parser *p)
{
	const char *text = p->lexer.text + p->token.at;
	size_t digits;

	if (!is_at(p, "+") && !is_at(p, "-"))
		return false;
	text++;
	digits = strspn(text, "0123456789abcdefxABCDEFX");
	return digits && text[0] >= '0' && text[0] <= '9' && text[digits] == '(';
}

static int parse_memory(struct parser *p, struct expr **e)
{
	size_t from = p->token.at, opened, end;
	bool negative = is_at(p, "-");
	struct expr *inner = NULL;
	u64 offset;
	int err;

	err = advance(p, true);         /* the number */
	offset = p->token.number;
	if (!err)
		err = advance(p, false);        /* the parenthesis */
	opened = p->token.at;
	if (!err)
		err = advance(p, true);
	if (!err)
		err = parse_binary(p, &inner, 0);
	end = p->token.at + 1;
	if (!err)
		err = expect(p, ")", opened, false);
	if (err) {
		expr__free(inner);
		return err;
	}
	err = make(e, EXPR_MEMORY, inner, NULL);
	if (err)
		return err;
	place(*e, from, end);
	(*e)->op_at = from;
	(*e)->op_len = opened - from;
	(*e)->number = negative ? -offset : offset;
	return 0;
}

static int parse_parentheses(struct parser *p, struct expr **e)
{
	size_t from = p->token.at, cast = cast_length(p->lexer.text + from), end;
	int err;

	if (cast)
		return parse_cast(p, e, cast);
	err = advance(p, true);
	if (!err)
		err = parse_binary(p, e, 0);
	if (err)
		return err;
	end = p->token.at + 1;
	err = expect(p, ")", from, false);
	if (!err)
		place(*e, from, end);
	return err;
}

/* Parses a name after `.`, `->` or `:`. */
static int parse_suffix_name(struct parser *p, struct expr **e, enum expr_op op, const char *what)
{
	size_t op_at = p->token.at, op_len = p->token.len;
	struct expr *operand = *e;
	int err = advance(p, true);

	if (err)
		return err;
	if (p->token.kind != TOKEN_OPERAND || p->token.op != EXPR_NAME)
		return complain(p->lexer.c, -EINVAL, op_at, op_len, "the name of %s is missing after this",
				what);
	*e = NULL;
	err = make(e, op, operand, NULL);
	if (err)
		return err;
	place(*e, operand->at, p->token.at + p->token.len);
	(*e)->op_at = op_at;
	(*e)->op_len = op_len;
	(*e)->text = p->token.text;
	p->token.text = NULL;
	return advance(p, false);
}

static int parse_index(struct parser *p, struct expr **e)
{
	size_t opened = p->token.at, end;
	struct expr *array = *e, *index = NULL;
	int err = advance(p, true);

	if (!err)
		err = parse_binary(p, &index, 0);
	end = p->token.at + 1;
	if (!err)
		err = expect(p, "]", opened, false);
	if (err) {
		expr__free(index);
		return err;
	}
	*e = NULL;
	err = make(e, EXPR_INDEX, array, index);
	if (err)
		return err;
	place(*e, array->at, end);
	(*e)->op_at = opened;
	(*e)->op_len = end - opened;
	return 0;
}

static int parse_postfix(struct parser *p, struct expr **e)
{
	int err = 0;

	if (is_memory(p))
		err = parse_memory(p, e);
	else if (is_at(p, "("))
		err = parse_parentheses(p, e);
	else if (p->token.kind == TOKEN_OPERAND)
		err = parse_operand(p, e);
	else
		err = complain_about_operand(p);
	while (!err) {
		if (is_at(p, "."))
			err = parse_suffix_name(p, e, EXPR_MEMBER, "a member");
		else if (is_at(p, "->"))
			err = parse_suffix_name(p, e, EXPR_ARROW, "a member");
		else if (is_at(p, ":"))
			err = parse_suffix_name(p, e, EXPR_TYPED, "a type");
		else if (is_at(p, "["))
			err = parse_index(p, e);
		else
			return 0;
	}
	return err;
}

static int parse_prefix(struct parser *p, struct expr **e, enum expr_op op)
{
	size_t from = p->token.at, len = p->token.len;
	struct expr *operand = NULL;
	int err = advance(p, true);

	if (!err)
		err = parse_unary(p, &operand);
	if (err) {
		expr__free(operand);
		return err;
	}
	err = make(e, op, operand, NULL);
	if (err)
		return err;
	place(*e, from, end_of(operand));
	(*e)->op_at = from;
	(*e)->op_len = len;
	return 0;
}

static int parse_unary(struct parser *p, struct expr **e)
{
	static const struct {
		const char *text;
		enum expr_op op;
	} prefixes[] = {
		{ "!", EXPR_NOT }, { "-", EXPR_NEGATE }, { "~", EXPR_COMPLEMENT },
		{ "*", EXPR_DEREFERENCE }, { "&", EXPR_ADDRESS },
	};
	size_t i;
	int err;

	if (++p->depth > EXPR_MAX_DEPTH)
		return complain(p->lexer.c, -EINVAL, p->token.at, p->token.len, "this is nested too deeply");
	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (is_at(p, prefixes[i].text))
			break;
	if (i < ARRAY_SIZE(prefixes) && !is_memory(p))
		err = parse_prefix(p, e, prefixes[i].op);
	else
		err = parse_postfix(p, e);
	p->depth--;
	return err;
}

/* Binary operators, from the weakest to the strongest. */
static const struct {
	const char *text;
	enum expr_op op;
	int level;
} binary[] = {
	{ "||", EXPR_OR, 0 }, { "&&", EXPR_AND, 1 }, { "|", EXPR_BIT_OR, 2 }, { "^", EXPR_BIT_XOR, 3 },
	{ "&", EXPR_BIT_AND, 4 }, { "==", EXPR_EQUAL, 5 }, { "!=", EXPR_NOT_EQUAL, 5 },
	{ "~", EXPR_LIKE, 5 }, { "!~", EXPR_NOT_LIKE, 5 }, { "<", EXPR_LESS, 6 },
	{ "<=", EXPR_LESS_EQUAL, 6 }, { ">", EXPR_GREATER, 6 }, { ">=", EXPR_GREATER_EQUAL, 6 },
	{ "<<", EXPR_SHIFT_LEFT, 7 }, { ">>", EXPR_SHIFT_RIGHT, 7 }, { "+", EXPR_ADD, 8 },
	{ "-", EXPR_SUBTRACT, 8 }, { "*", EXPR_MULTIPLY, 9 }, { "/", EXPR_DIVIDE, 9 },
	{ "%", EXPR_MODULO, 9 },
};
#define LEVELS 10

const char *expr_op_text(enum expr_op op)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(binary); i++)
		if (binary[i].op == op)
			return binary[i].text;
	switch (op) {
	case EXPR_NOT:
		return "!";
	case EXPR_NEGATE:
		return "-";
	case EXPR_COMPLEMENT:
		return "~";
	case EXPR_DEREFERENCE:
		return "*";
	case EXPR_ADDRESS:
		return "&";
	case EXPR_MEMBER:
		return ".";
	case EXPR_ARROW:
		return "->";
	case EXPR_TYPED:
		return ":";
	default:
		return "";
	}
}

bool expr_op_is_comparison(enum expr_op op)
{
	return op >= EXPR_LESS && op <= EXPR_NOT_LIKE;
}

static bool in_parentheses(const struct parser *p, const struct expr *e)
{
	return p->lexer.text[e->at] == '(' && e->op != EXPR_CAST;
}

/*
 * Requires parentheses where C's meaning is never the intended one: a & b == c is a & (b == c), and
 * a < b < c compares a truth value.
 */
static int check_trap(const struct parser *p, const struct expr *e)
{
	bool bits = e->op == EXPR_BIT_AND || e->op == EXPR_BIT_OR || e->op == EXPR_BIT_XOR;
	const struct expr *sides[] = { e->left, e->right };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		const struct expr *side = sides[i];

		if (!expr_op_is_comparison(side->op) || in_parentheses(p, side))
			continue;
		if (bits) {
			complain(p->lexer.c, 0, e->op_at, e->op_len, "'%s' and '%s' together need parentheses",
				 expr_op_text(e->op), expr_op_text(side->op));
			return complain_hint(p->lexer.c, -EINVAL, "as in (flags & 0x40) %s 0x40",
					     expr_op_text(side->op));
		}
		if (expr_op_is_comparison(e->op)) {
			complain(p->lexer.c, 0, e->op_at, e->op_len, "comparisons cannot be chained");
			return complain_hint(p->lexer.c, -EINVAL, "as in 1 <= x && x <= 9");
		}
	}
	return 0;
}

static int parse_binary(struct parser *p, struct expr **e, int level)
{
	struct expr *left, *right;
	size_t i, op_at, op_len;
	int err;

	*e = NULL;
	if (level == LEVELS)
		return parse_unary(p, e);
	err = parse_binary(p, e, level + 1);
	while (!err) {
		for (i = 0; i < ARRAY_SIZE(binary); i++)
			if (binary[i].level == level && is_at(p, binary[i].text))
				break;
		if (i == ARRAY_SIZE(binary))
			return 0;
		op_at = p->token.at;
		op_len = p->token.len;
		right = NULL;
		err = advance(p, true);
		if (!err)
			err = parse_binary(p, &right, level + 1);
		if (err) {
			expr__free(right);
			return err;
		}
		left = *e;
		err = make(e, binary[i].op, left, right);
		if (err)
			return err;
		place(*e, left->at, end_of(right));
		(*e)->op_at = op_at;
		(*e)->op_len = op_len;
		err = check_trap(p, *e);
	}
	return err;
}

int expr__parse(struct expr **e, const char *text, struct complaint *c)
{
	struct parser p = { .lexer = { .text = text, .c = c } };
	int err;

	*e = NULL;
	err = advance(&p, true);
	if (!err)
		err = parse_binary(&p, e, 0);
	if (!err && p.token.kind != TOKEN_END)
		err = complain_about_rest(&p);
	free(p.token.text);
	if (!err)
		return 0;
	expr__free(*e);
	*e = NULL;
	if (err == -ENOMEM)
		complain(c, 0, 0, 0, "not enough memory");
	return err;
}
