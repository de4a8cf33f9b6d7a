// SPDX-License-Identifier: BSD-2-Clause
#include "probe/definition.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/code_name.h"

/*
 * Returns the end of the part that begins at `from`: the first separator outside brackets and
 * quotes. Only in events do the angle brackets of template arguments count as brackets.
 */
static size_t end_of_part(const char *text, size_t from, const char *separators, bool is_event)
{
	bool quoted = false;
	int nesting = 0;
	size_t i;

	for (i = from; text[i]; i++) {
		if (quoted) {
			if (text[i] == '\\' && text[i + 1])
				i++;
			else
				quoted = text[i] != '"';
			continue;
		}
		if (!nesting && strchr(separators, text[i]) &&
		    !(is_event && code_name__has_blank(text + from, strlen(text + from), i - from)))
			break;
		/* Skip template arguments: ns::T<unsigned int>::m. */
		if (is_event && text[i] == '<') {
			size_t behind = code_name__behind_group(text, strlen(text), i);

			i = behind > i ? behind - 1 : i;
			continue;
		}
		quoted = text[i] == '"';
		nesting += strchr("([{", text[i]) ? 1 : strchr(")]}", text[i]) ? -1 : 0;
		if (nesting < 0)
			nesting = 0;
	}
	return i;
}

/* Returns the length of NAME in a leading NAME= (not NAME==), or 0. */
static size_t name_in_front(const char *text, size_t len)
{
	size_t n = 0;

	if (!isalpha((unsigned char)text[0]) && text[0] != '_')
		return 0;
	while (n < len && (isalnum((unsigned char)text[n]) || text[n] == '_'))
		n++;
	return n + 1 < len && text[n] == '=' && text[n + 1] != '=' ? n : 0;
}

/* Returns the name of an expression without an alias: the member at its end, or the text as typed. */
static char *name_of(const struct expr *e, const char *text)
{
	while (e->op == EXPR_TYPED)
		e = e->left;
	if (e->op == EXPR_MEMBER || e->op == EXPR_ARROW || e->op == EXPR_NAME)
		return strdup(e->text);
	if (e->op == EXPR_SPECIAL || e->op == EXPR_REGISTER || e->op == EXPR_SYMBOL)
		return strdup(e->text);
	return strdup(text);
}

static int add_argument(struct probe_argument **argument, size_t *n, const char *text, size_t len,
			struct complaint *c, char **part)
{
	size_t name = name_in_front(text, len);
	struct probe_argument a = {};
	int err = 0;

	a.text = strndup(text + (name ? name + 1 : 0), len - (name ? name + 1 : 0));
	if (!a.text || ARRAY_ROOM(*argument, *n)) {
		free(a.text);
		return -ENOMEM;
	}
	err = expr__parse(&a.expr, a.text, c);
	if (err) {
		*part = a.text;
		return err;
	}
	a.is_named = name;
	a.name = name ? strndup(text, name) : name_of(a.expr, a.text);
	if (!a.name) {
		expr__free(a.expr);
		free(a.text);
		return -ENOMEM;
	}
	(*argument)[(*n)++] = a;
	return 0;
}

void probe_arguments__free(struct probe_argument *argument, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(argument[i].name);
		free(argument[i].text);
		expr__free(argument[i].expr);
	}
	free(argument);
}

int probe_arguments__parse(struct probe_argument **argument, size_t *n, const char *typed,
			   struct complaint *c, char **part)
{
	size_t at = 0, end, from;
	int err = 0;

	*argument = NULL;
	*part = NULL;
	*n = 0;
	do {
		from = at + strspn(typed + at, " \t");
		end = end_of_part(typed, from, ",", false);
		at = end;
		while (end > from && isblank((unsigned char)typed[end - 1]))
			end--;
		if (end == from)
			err = complain(c, -EINVAL, from, 1, "expected an expression here");
		else
			err = add_argument(argument, n, typed + from, end - from, c, part);
	} while (!err && typed[at++] == ',');
	if (!err)
		return 0;
	probe_arguments__free(*argument, *n);
	*argument = NULL;
	*n = 0;
	return err;
}

void probe_definition__free(struct probe_definition *d)
{
	free(d->name);
	free(d->event);
	probe_arguments__free(d->argument, d->n);
	*d = (struct probe_definition){};
}

int probe_definition__parse(struct probe_definition *d, const char *typed, struct complaint *c,
			    char **argument)
{
	size_t at = strspn(typed, " \t"), end = end_of_part(typed, at, " \t", true), name;
	int err = 0;

	*d = (struct probe_definition){ .typed = typed };
	*argument = NULL;
	if (end == at)
		return complain(c, -EINVAL, 0, 1, "expected an event");
	name = name_in_front(typed + at, end - at);
	if (name) {
		d->name = strndup(typed + at, name);
		at += name + 1;
	}
	d->event_at = at;
	d->event = strndup(typed + at, end - at);
	if (!d->event || (name && !d->name))
		err = -ENOMEM;
	for (at = end + strspn(typed + end, " \t"); !err && typed[at];
	     at = end + strspn(typed + end, " \t")) {
		end = end_of_part(typed, at, " \t", false);
		err = add_argument(&d->argument, &d->n, typed + at, end - at, c, argument);
	}
	if (err)
		probe_definition__free(d);
	return err;
}
