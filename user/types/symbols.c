// SPDX-License-Identifier: BSD-2-Clause
#include "types/symbols.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Nesting limit of parentheses. */
#define NESTING_MAX 64

/* --- values: constant expressions of C ------------------------------------------------------- */

struct constant {
	const char *at;
	bool bad;               /* sticky */
	int nesting;
};

static void skip_blanks(struct constant *c)
{
	while (isspace((unsigned char)*c->at))
		c->at++;
}

/* Consumes the operator, unless it begins a longer one. */
static bool take(struct constant *c, const char *op)
{
	size_t n = strlen(op);

	skip_blanks(c);
	if (strncmp(c->at, op, n) || (n == 1 && strchr("|&<>", *op) && c->at[1] == *op))
		return false;
	c->at += n;
	return true;
}

static u64 parse_or(struct constant *c);

/* Consumes a cast, e.g. "(gfp_t)" or "(unsigned long)". */
static bool take_cast(struct constant *c)
{
	const char *p;

	skip_blanks(c);
	if (*c->at != '(')
		return false;
	p = c->at + 1 + strspn(c->at + 1, " ");
	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (isalnum((unsigned char)*p) || *p == '_' || *p == ' ')
		p++;
	if (*p != ')')
		return false;
	c->at = p + 1;
	return true;
}

static u64 parse_primary(struct constant *c)
{
	u64 value = 0;
	char *end;

	if (c->nesting++ > NESTING_MAX)
		c->bad = true;
	if (c->bad)
		return 0;
	if (take_cast(c) || take(c, "+")) {
		value = parse_primary(c);
	} else if (take(c, "-")) {
		value = -parse_primary(c);
	} else if (take(c, "~")) {
		value = ~parse_primary(c);
	} else if (take(c, "(")) {
		value = parse_or(c);
		c->bad |= !take(c, ")");
	} else if (isdigit((unsigned char)*c->at)) {
		value = strtoull(c->at, &end, 0);
		c->at = end + strspn(end, "uUlL");
		c->bad |= isalnum((unsigned char)*c->at) || *c->at == '_';
	} else if (*c->at == '\'' && c->at[1] && c->at[1] != '\\' && c->at[2] == '\'') {
		value = (unsigned char)c->at[1];
		c->at += 3;
	} else {
		c->bad = true;
	}
	c->nesting--;
	return value;
}

static u64 parse_sum(struct constant *c)
{
	u64 value = parse_primary(c);

	while (!c->bad) {
		if (take(c, "+"))
			value += parse_primary(c);
		else if (take(c, "-"))
			value -= parse_primary(c);
		else if (take(c, "*"))
			value *= parse_primary(c);
		else
			break;
	}
	return value;
}

static u64 parse_shift(struct constant *c)
{
	u64 value = parse_sum(c), by;

	while (!c->bad) {
		bool left = take(c, "<<");

		if (!left && !take(c, ">>"))
			break;
		by = parse_sum(c);
		if (by > 63)
			c->bad = true;
		else
			value = left ? value << by : value >> by;
	}
	return value;
}

static u64 parse_and(struct constant *c)
{
	u64 value = parse_shift(c);

	while (!c->bad && take(c, "&"))
		value &= parse_shift(c);
	return value;
}

static u64 parse_or(struct constant *c)
{
	u64 value = parse_and(c);

	while (!c->bad && take(c, "|"))
		value |= parse_and(c);
	return value;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Returns the position after the string literal at p, or NULL if it is not terminated. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : NULL;
}

/* Returns the end of the argument at p: its comma, or the call's closing parenthesis. */
static const char *end_of_argument(const char *p)
{
	int open = 0;

	while (p && *p) {
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		if (!open && (*p == ',' || *p == ')'))
			return p;
		open += strchr("({[", *p) ? 1 : strchr(")}]", *p) ? -1 : 0;
		p++;
	}
	return NULL;
}

/* True if the text has only parentheses and casts. */
static bool is_wrapping(const char *from, const char *to)
{
	for (; from < to; from++)
		if (!isspace((unsigned char)*from) && !strchr("()*_", *from) &&
		    !isalnum((unsigned char)*from))
			return false;
	return true;
}

/*
 * Extracts NAME from an expression REC->NAME or, for flags, a bit mask of it. *field is allocated. It remains NULL
 * for other expressions, whose table does not describe the field's numbers.
 */
static int find_field(char **field, const char *from, const char *to, bool is_flags)
{
	const char *at = memmem(from, to - from, "REC->", 5), *name, *end, *rest;

	if (!at || !is_wrapping(from, at))
		return 0;
	name = at + 5;
	for (end = name; end < to && (isalnum((unsigned char)*end) || *end == '_');)
		end++;
	rest = end + strspn(end, " )");
	if (rest < to && !(is_flags && *rest == '&'))
		return 0;
	if (rest < to && memmem(rest, to - rest, "REC->", 5))
		return 0;
	*field = strndup(name, end - name);
	return *field ? 0 : -ENOMEM;
}

/* Parses "{ VALUE, "NAME" }" at p, and moves p past it. Returns false if something else is there. */
static bool parse_pair(struct field_symbol *s, const char **p, int *err)
{
	struct constant c = { *p + 1, false, 0 };
	const char *comma = end_of_argument(c.at), *name, *end;

	*err = 0;
	if (!comma || *comma != ',')
		return false;
	s->value = parse_or(&c);
	skip_blanks(&c);
	c.bad |= c.at != comma;
	name = comma + 1 + strspn(comma + 1, " ");
	end = *name == '"' ? skip_string(name) : NULL;
	if (!end)
		return false;
	*p = end + strspn(end, " ");
	if (**p != '}')
		return false;
	++*p;
	s->name = NULL;
	if (c.bad)
		return true;
	s->name = strndup(name + 1, end - name - 2);
	if (!s->name)
		*err = -ENOMEM;
	return s->name;
}

/* Parses "{ 1, "A" }, { 2, "B" })", starting at p. */
static int parse_pairs(struct field_symbols *t, const char *p)
{
	struct field_symbol s;
	int err;

	for (;; p += strspn(p, " ,")) {
		p += strspn(p, " ,");
		if (*p != '{' || !parse_pair(&s, &p, &err))
			return *p == '{' ? err : 0;
		if (!s.name)
			continue;
		if (ARRAY_ROOM(t->symbol, t->n)) {
			free(s.name);
			return -ENOMEM;
		}
		t->symbol[t->n++] = s;
	}
}

static void table__free(struct field_symbols *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->symbol[i].name);
	free(t->symbol);
	free(t->field);
}

static bool is_known(const struct symbol_tables *all, const struct field_symbols *t)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->table[i].is_flags == t->is_flags && !strcmp(all->table[i].field, t->field))
			return true;
	return false;
}

/* Parses the arguments of a call, after its opening parenthesis. */
static int parse_call(struct symbol_tables *all, const char *p, bool is_flags)
{
	struct field_symbols t = { .is_flags = is_flags };
	const char *end = end_of_argument(p);
	int err;

	if (!end || *end != ',')
		return 0;
	err = find_field(&t.field, p, end, is_flags);
	p = end + 1;
	if (!err && t.field && is_flags) {
		/* Skip the delimiter between flags. */
		end = end_of_argument(p);
		p = end && *end == ',' ? end + 1 : "";
	}
	if (!err && t.field)
		err = parse_pairs(&t, p);
	if (err || !t.n || is_known(all, &t)) {
		table__free(&t);
		return err;
	}
	err = ARRAY_APPEND(all->table, all->n, t);
	if (err)
		table__free(&t);
	return err;
}

int symbol_tables__parse(struct symbol_tables *out, const char *print)
{
	static const char *const calls[] = { "__print_symbolic", "__print_flags" };
	struct symbol_tables all = {};
	const char *p;
	size_t i, n;
	int err = 0;

	for (p = print; *p && !err; p++) {
		for (i = 0; i < ARRAY_SIZE(calls) && !err; i++) {
			n = strlen(calls[i]);
			if (strncmp(p, calls[i], n))
				continue;
			n += !strncmp(p + n, "_u64", 4) || !strncmp(p + n, "64(", 3) ?
				     strcspn(p + n, "(") : 0;
			if (p[n] == '(')
				err = parse_call(&all, p + n + 1, i == 1);
		}
	}
	if (err)
		symbol_tables__free(&all);
	else
		*out = all;
	return err;
}

void symbol_tables__free(struct symbol_tables *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		table__free(&t->table[i]);
	free(t->table);
	*t = (struct symbol_tables){};
}
