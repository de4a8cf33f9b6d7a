// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "report/diag.h"
#include "events/probe/spot.h"

#define NAME_SPACE 16           /* of "$arg100" */

/* arg1 or $arg1: its number, from 1; else 0. */
static u64 argument_number(const struct expr *e)
{
	u64 n;

	if ((e->op != EXPR_NAME && e->op != EXPR_SPECIAL) || strncmp(e->text, "arg", 3) ||
	    parse_u64_between(e->text + 3, 1, 100, &n))
		return 0;
	return n;
}

static struct place_variable *find(struct place *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nvariables; i++)
		if (!strcmp(p->variable[i].name, name))
			return &p->variable[i];
	return NULL;
}

/*
 * --- what is asked for -------------------------------------------------------------------------
 */

/* An expression, and where it was typed. */
struct asked {
	const struct expr *expr;
	const char *option, *text;
	size_t definition;
};

static int add(struct probe_plan *p, const struct asked *a, const char *name)
{
	struct probe_saved *s = &p->saved[p->nsaved];
	size_t i;

	for (i = 0; i < p->nsaved; i++)
		if (!strcmp(p->saved[i].name, name)) {
			p->saved[i].definitions |= 1ULL << a->definition;
			return 0;
		}
	if (p->nsaved == PROBE_KEPT_MOST) {
		diag_error("%d arguments at most can be saved for a function's return", PROBE_KEPT_MOST);
		return -EINVAL;
	}
	s->name = strdup(name);
	if (!s->name)
		return -ENOMEM;
	s->expr = a->expr;
	s->definitions = 1ULL << a->definition;
	s->option = a->option;
	s->text = a->text;
	p->nsaved++;
	return 0;
}

/* The argument of a probe that has this expression. */
static struct asked asked_by(const struct probe_plan *p, const struct expr *e, const struct asked *otherwise)
{
	size_t i, k;

	for (i = 0; i < p->ndefinitions; i++)
		for (k = 0; k < p->definition[i].n; k++)
			if (p->definition[i].argument[k].expr == e)
				return (struct asked){ e, NULL, p->definition[i].argument[k].text,
						       otherwise->definition };
	return (struct asked){ e, otherwise->option, otherwise->text, otherwise->definition };
}

static int look_at(struct probe_plan *p, const struct place *end, const struct asked *a)
{
	const struct expr *e = a->expr, *other = e ? place__stands_for_other(end, e) : NULL;
	const struct place_variable *v = e && e->op == EXPR_NAME ? place__find(end, e->text) : NULL;
	struct asked next = *a;
	char name[NAME_SPACE];
	int err;

	if (!e)
		return 0;
	if (other) {
		next = asked_by(p, other, a);
		return look_at(p, end, &next);
	}
	if (v)
		return v->is_parameter ? add(p, a, v->name) : 0;
	if (argument_number(e)) {
		snprintf(name, sizeof(name), "$arg%llu", argument_number(e));
		return add(p, a, name);
	}
	next.expr = e->left;
	err = look_at(p, end, &next);
	next.expr = e->right;
	return err ?: look_at(p, end, &next);
}

static int look_at_list(struct probe_plan *p, const struct place *end, const struct probe_argument *list, size_t n,
			const char *option, size_t definition)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = look_at(p, end, &(struct asked){ list[i].expr, option, list[i].text, definition });
	return err;
}

/* Arguments of a probe are columns of a stream, else only names for the other options. */
static int look_from(struct probe_plan *p, const struct place *end, size_t definition)
{
	const struct probe_request *r = p->request;
	const struct probe_definition *d = &p->definition[definition];
	const struct asked value = {
		p->measured, r->option, p->nvalues ? p->value[0].text : p->measured_text, definition,
	};
	const struct asked filter = { p->filter, "--filter", r->filter, definition };
	int err = 0;

	if (r->what == PROBE_STREAM)
		err = look_at_list(p, end, d->argument, d->n, NULL, definition);
	if (!err)
		err = look_at_list(p, end, p->key, p->nkeys, "--by", definition);
	return err ?: look_at(p, end, &value) ?: look_at(p, end, &filter);
}

int probe_saved__find(struct probe_plan *p)
{
	const struct probe_side *s = &p->side[PROBE_END];
	struct spot spot;
	size_t i;
	int err = 0;

	for (i = 0; i < s->sites.n && !err; i++) {
		err = spot__make(&spot, p, PROBE_END, i);
		if (err)
			break;
		err = look_from(p, &spot.place, s->definition[s->sites.site[i].event - s->events.event]);
		spot__free(&spot);
	}
	return err;
}

/*
 * --- at the entry, and at the return -----------------------------------------------------------
 */

void probe_saved__prepare_begin(struct place *begin, const struct probe_plan *p)
{
	struct place_variable *v;
	struct c_type to;
	size_t i;

	for (i = 0; i < p->nsaved; i++) {
		v = find(begin, p->saved[i].name);
		if (v && c_type__referred(&v->type, &to))
			v->type = c_type__integer(8, false);
	}
}

/* The parameter that $arg1 is; NULL: not known. */
static const struct place_variable *declared(const struct place *begin, u64 n)
{
	size_t i;

	for (i = 0; i < begin->nvariables; i++)
		if (begin->variable[i].where == AT_ARGUMENT && begin->variable[i].number == n - 1)
			return &begin->variable[i];
	return NULL;
}

static int add_number(struct place *end, const struct place *begin, const struct probe_saved *s, s64 offset)
{
	const struct place_variable *v = declared(begin, argument_number(s->expr));
	struct place_variable add = { .name = s->name, .where = AT_FRAME, .offset = offset, .is_parameter = true };

	if (v)
		add.type = v->type;
	return place__add(end, &add);
}

/* Named ones are at a return already, but nowhere. */
static int add_named(struct place *end, const struct place *begin, const struct probe_saved *s, s64 offset)
{
	const struct place_variable *at_begin = place__find(begin, s->name);
	struct place_variable *v = find(end, s->name);
	char *why = at_begin && at_begin->why ? strdup(at_begin->why) : NULL;

	if (!v || !at_begin)
		return 0;
	if (at_begin->where == AT_NOWHERE) {
		free(v->why);
		v->why = why;
		return why ? 0 : -ENOMEM;
	}
	v->where = AT_FRAME;
	v->offset = offset;
	v->type = at_begin->type;
	return 0;
}

int probe_saved__add_to_end(struct place *end, const struct place *begin, const struct probe_plan *p)
{
	size_t i;
	int err = 0;

	end->own_arguments = false;
	for (i = 0; i < p->nsaved && !err; i++) {
		const struct probe_saved *s = &p->saved[i];

		err = (*s->name == '$' ? add_number : add_named)(end, begin, s, p->kept_at + 8 * i);
	}
	return err;
}

void probe_saved__free(struct probe_plan *p)
{
	while (p->nsaved)
		free(p->saved[--p->nsaved].name);
}
