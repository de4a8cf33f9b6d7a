// SPDX-License-Identifier: BSD-2-Clause
#include "expr/tracepoint_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/fields.h"

struct maker {
	FILE *out;
	const struct tracepoint_format *format;
	const char *event;
	struct complaint *c;
};

static int make(struct maker *m, const struct expr *e);

/* --- fields ------------------------------------------------------------------------------------ */

static const struct tracepoint_field *find_field(const struct maker *m, const char *name)
{
	return field__find(m->format, name);
}

/* True if the kernel's filter accepts the name ("comm", "CPU", ...) for every event. */
static bool is_everywhere(const char *name)
{
	return !strcmp(name, "comm") || !strcmp(name, "COMM") || !strcmp(name, "cpu") ||
	       !strcmp(name, "CPU");
}

static bool is_text(const struct maker *m, const char *name)
{
	const struct tracepoint_field *f = find_field(m, name);

	return f ? field_is_text(f) : !strcasecmp(name, "comm");
}

static bool is_pointer(const struct maker *m, const char *name)
{
	const struct tracepoint_field *f = find_field(m, name);

	return f && field_is_pointer(f);
}

static int unknown_field(struct maker *m, const struct expr *e)
{
	return field__complain(m->format, m->event, e, m->c);
}

/* --- constants --------------------------------------------------------------------------------- */

static bool is_constant(const struct expr *e)
{
	if (e->op == EXPR_NEGATE || e->op == EXPR_COMPLEMENT)
		return is_constant(e->left);
	return e->op == EXPR_NUMBER || e->op == EXPR_TIME || e->op == EXPR_DEVICE ||
	       e->op == EXPR_PATH || e->op == EXPR_STRING;
}

static int make_number(struct maker *m, const struct expr *e)
{
	u64 number = e->number;
	int err = 0;

	if (e->op == EXPR_NEGATE) {
		fprintf(m->out, "-%llu", e->left->number);
		return 0;
	}
	if (e->op == EXPR_COMPLEMENT)
		number = ~e->left->number;
	if (e->op == EXPR_PATH)
		err = expr__device(e, &number, m->c);
	if (!err)
		fprintf(m->out, "%llu", number);
	return err;
}

/* The kernel accepts both kinds of quotes, but no escapes, so the text must not contain both kinds. */
static int make_text(struct maker *m, const struct expr *e)
{
	char quote = strchr(e->text, '"') ? '\'' : '"';

	if (strchr(e->text, quote))
		return complain(m->c, -EINVAL, e->at, e->len, "the kernel's filter cannot have both kinds of quotes "
							      "in one string");
	fprintf(m->out, "%c%s%c", quote, e->text, quote);
	return 0;
}

/* --- comparisons ------------------------------------------------------------------------------- */

static enum expr_op mirrored(enum expr_op op)
{
	switch (op) {
	case EXPR_LESS:
		return EXPR_GREATER;
	case EXPR_LESS_EQUAL:
		return EXPR_GREATER_EQUAL;
	case EXPR_GREATER:
		return EXPR_LESS;
	case EXPR_GREATER_EQUAL:
		return EXPR_LESS_EQUAL;
	default:
		return op;
	}
}

static int check_text(struct maker *m, const struct expr *name, const struct expr *value, enum expr_op op,
		      const struct expr *whole)
{
	bool text = is_text(m, name->text);

	if (op == EXPR_LIKE || op == EXPR_NOT_LIKE) {
		if (!text)
			return complain(m->c, -EINVAL, whole->op_at, whole->op_len,
					"%s is not a string; only strings can match a glob", name->text);
		if (value->op != EXPR_STRING)
			return complain(m->c, -EINVAL, value->at, value->len, "expected a glob in quotes");
		return 0;
	}
	if (text && value->op != EXPR_STRING)
		return complain(m->c, -EINVAL, value->at, value->len, "%s is a string; compare it with a string in "
								      "quotes", name->text);
	if (text && op != EXPR_EQUAL && op != EXPR_NOT_EQUAL)
		return complain(m->c, -EINVAL, whole->op_at, whole->op_len, "strings have no order; use ==, !=, ~ or "
									    "!~");
	if (!text && value->op == EXPR_STRING && is_pointer(m, name->text))
		return complain(m->c, -EINVAL, value->at, value->len, "%s is a pointer; filters cannot read the "
								      "string that it points to", name->text);
	if (!text && value->op == EXPR_STRING)
		return complain(m->c, -EINVAL, value->at, value->len, "%s is a number, not a string", name->text);
	return 0;
}

static int check_sign(struct maker *m, const struct expr *name, const struct expr *value)
{
	const struct tracepoint_field *f = find_field(m, name->text);

	if (!f || f->is_signed || value->op != EXPR_NEGATE)
		return 0;
	return complain(m->c, -EINVAL, value->at, value->len, "%s is unsigned (%s): it is never negative",
			f->name, f->type);
}

static int make_comparison(struct maker *m, const struct expr *e)
{
	const struct expr *name = e->left, *value = e->right;
	struct expr symbol = { .op = EXPR_NUMBER };
	enum expr_op op = e->op;
	int err;

	if (is_constant(name) && value->op == EXPR_NAME) {
		name = e->right;
		value = e->left;
		op = mirrored(op);
	}
	if (name->op != EXPR_NAME) {
		complain(m->c, 0, name->at, name->len, "expected the name of a field");
		return complain_hint(m->c, -EINVAL, "the kernel's filter compares fields with constants");
	}
	if (!find_field(m, name->text) && !is_everywhere(name->text))
		return unknown_field(m, name);
	if (value->op == EXPR_NAME && field__symbol(m->format, name->text, value->text, &symbol.number)) {
		symbol.at = value->at;
		symbol.len = value->len;
		value = &symbol;
	}
	if (!is_constant(value)) {
		complain(m->c, 0, value->at, value->len, "expected a number or a string in quotes");
		return complain_hint(m->c, -EINVAL, value->op == EXPR_NAME && is_text(m, name->text) ?
				     "put strings in quotes" :
				     "the kernel's filter compares fields with constants");
	}
	err = check_text(m, name, value, op, e);
	if (!err)
		err = check_sign(m, name, value);
	if (err)
		return err;
	fprintf(m->out, "%s%s %s ", op == EXPR_NOT_LIKE ? "!(" : "", name->text,
		expr_op_text(op == EXPR_NOT_LIKE ? EXPR_LIKE : op));
	err = value->op == EXPR_STRING ? make_text(m, value) : make_number(m, value);
	if (op == EXPR_NOT_LIKE)
		fputc(')', m->out);
	return err;
}

/* Handles (flags & 0x40) == 0x40 and similar tests: the kernel only tests bits against zero. */
static int make_bits(struct maker *m, const struct expr *e)
{
	const struct expr *bits = e->left, *value = e->right;
	u64 mask;

	if (bits->right->op != EXPR_NUMBER || value->op != EXPR_NUMBER ||
	    (e->op != EXPR_EQUAL && e->op != EXPR_NOT_EQUAL))
		return complain(m->c, -EINVAL, bits->at, bits->len, "the kernel's filter can only test if any of "
				"these bits are set: FIELD & MASK");
	mask = bits->right->number;
	if (value->number && (value->number != mask || mask & (mask - 1)))
		return complain(m->c, -EINVAL, value->at, value->len, "the kernel's filter can only test if any "
				"of these bits are set: FIELD & MASK");
	/* A single bit that equals itself is set. Bits that equal zero are clear. */
	if ((e->op == EXPR_EQUAL) == !value->number)
		fputc('!', m->out);
	fputc('(', m->out);
	if (make_comparison(m, bits))
		return -EINVAL;
	fputc(')', m->out);
	return 0;
}

static int make_pair(struct maker *m, const struct expr *e)
{
	int err;

	fputc('(', m->out);
	err = make(m, e->left);
	fprintf(m->out, ") %s (", expr_op_text(e->op));
	if (!err)
		err = make(m, e->right);
	fputc(')', m->out);
	return err;
}

static int make(struct maker *m, const struct expr *e)
{
	int err;

	switch (e->op) {
	case EXPR_AND:
	case EXPR_OR:
		return make_pair(m, e);
	case EXPR_NOT:
		fputs("!(", m->out);
		err = make(m, e->left);
		fputc(')', m->out);
		return err;
	case EXPR_BIT_AND:
		return make_comparison(m, e);
	case EXPR_NAME:
		if (!find_field(m, e->text) && !is_everywhere(e->text))
			return unknown_field(m, e);
		if (is_text(m, e->text))
			break;
		fprintf(m->out, "%s != 0", e->text);
		return 0;
	default:
		if (expr_op_is_comparison(e->op))
			return e->left->op == EXPR_BIT_AND ? make_bits(m, e) : make_comparison(m, e);
	}
	complain(m->c, 0, e->at, e->len, "this is not a condition");
	return complain_hint(m->c, -EINVAL, "compare a field with a value, as in count < 10");
}

int tracepoint_filter__make(char **filter, const struct expr *e, const struct tracepoint_format *format,
			    const char *event, struct complaint *c)
{
	struct maker m = { .format = format, .event = event, .c = c };
	char *text = NULL;
	size_t n = 0;
	int err;

	m.out = open_memstream(&text, &n);
	if (!m.out)
		return -ENOMEM;
	err = make(&m, e);
	if (fclose(m.out) && !err)
		err = -ENOMEM;
	if (err) {
		free(text);
		return err;
	}
	*filter = text;
	return 0;
}
