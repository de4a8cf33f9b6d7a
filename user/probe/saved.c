// SPDX-License-Identifier: BSD-2-Clause
#include "probe/saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

u64 probe_saved__argument(const struct expr *e)
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

/* Returns the parameter that $arg1 refers to, or NULL if it is unknown. */
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
	const struct place_variable *v = declared(begin, probe_saved__argument(s->expr));
	struct place_variable add = { .name = s->name, .where = AT_FRAME, .offset = offset, .is_parameter = true };

	if (v)
		add.type = v->type;
	return place__add(end, &add);
}

/* A return already knows the named arguments, but they have no location there. */
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
