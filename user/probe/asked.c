// SPDX-License-Identifier: BSD-2-Clause
#include "probe/asked.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/saved.h"
#include "probe/spot.h"
#include "report/diag.h"

#define NAME_SPACE 16           /* enough for "$arg100" */

/* An expression, and the place where it was typed. */
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
		diag_error("at most %d arguments can be saved for a function's return", PROBE_KEPT_MOST);
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

/* Returns the probe's argument that is this expression, or else the expression with the origin of `otherwise`. */
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
	if (probe_saved__argument(e)) {
		snprintf(name, sizeof(name), "$arg%llu", probe_saved__argument(e));
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

/* In a stream, the arguments of a probe are columns. Otherwise they only name expressions for other options. */
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

int probe_asked__find(struct probe_plan *p)
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
