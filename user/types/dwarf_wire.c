// SPDX-License-Identifier: BSD-2-Clause
#include "types/dwarf_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBDW

_Static_assert(sizeof(struct dwarf_place) == 48, "new members: pointers of them go here, too");
_Static_assert(sizeof(struct dwarf_function) == 48, "new members: pointers of them go here, too");
_Static_assert(sizeof(struct dwarf_line) == 24, "new members: pointers of them go here, too");
_Static_assert(sizeof(struct dwarf_variable) == 104, "new members: pointers of them go here, too");

/* Normalizes a bool: the other side may have sent any byte. */
static void settle(bool *b)
{
	u8 byte;

	memcpy(&byte, b, 1);
	*b = byte & 1;
}

void dwarf_wire__put_place(struct wire *w, const struct dwarf_place *p)
{
	wire__put(w, p, sizeof(*p));
	wire__text(w, p->function);
}

void dwarf_wire__take_place(struct unwire *u, struct dwarf_place *p)
{
	unwire__get(u, p, sizeof(*p));
	settle(&p->is_inlined);
	settle(&p->has_untold);
	p->function = unwire__text(u);
	if (!p->function && !u->err)
		u->err = -EBADMSG;
}

void dwarf_wire__put_function(struct wire *w, const struct dwarf_function *f)
{
	size_t i;

	wire__put(w, f, sizeof(*f));
	wire__text(w, f->name);
	wire__text(w, f->linkage);
	wire__text(w, f->file);
	wire__number(w, f->nplaces);
	for (i = 0; i < f->nplaces; i++)
		dwarf_wire__put_place(w, &f->place[i]);
}

void dwarf_wire__take_function(struct unwire *u, struct dwarf_function *f)
{
	u64 n, i;

	unwire__get(u, f, sizeof(*f));
	f->name = unwire__text(u);
	f->linkage = unwire__text(u);
	f->file = unwire__text(u);
	f->nplaces = 0;
	n = unwire__count(u, sizeof(*f->place));
	f->place = calloc(n ?: 1, sizeof(*f->place));
	if (!f->place || !f->name)
		u->err = u->err ?: f->place ? -EBADMSG : -ENOMEM;
	for (i = 0; f->place && i < n; i++)
		dwarf_wire__take_place(u, &f->place[f->nplaces++]);
}

void dwarf_wire__put_functions(struct wire *w, const struct dwarf_functions *f)
{
	size_t i;

	wire__number(w, f->n);
	for (i = 0; i < f->n; i++)
		dwarf_wire__put_function(w, &f->function[i]);
}

void dwarf_wire__take_functions(struct unwire *u, struct dwarf_functions *f)
{
	u64 n = unwire__count(u, sizeof(*f->function)), i;

	*f = (struct dwarf_functions){ .function = calloc(n ?: 1, sizeof(*f->function)) };
	if (!f->function)
		u->err = -ENOMEM;
	for (i = 0; f->function && i < n && !u->err; i++)
		dwarf_wire__take_function(u, &f->function[f->n++]);
	if (u->err)
		dwarf_functions__free(f);
}

void dwarf_wire__put_lines(struct wire *w, const struct dwarf_lines *l)
{
	size_t i;

	wire__text(w, l->file);
	wire__text(w, l->directory);
	wire__number(w, l->n);
	for (i = 0; i < l->n; i++) {
		wire__put(w, &l->line[i], sizeof(l->line[i]));
		wire__array(w, l->line[i].address, l->line[i].naddresses, sizeof(u64));
	}
}

static void take_line(struct unwire *u, struct dwarf_line *l)
{
	u64 n;

	unwire__get(u, l, sizeof(*l));
	l->address = unwire__array(u, &n, sizeof(*l->address));
	l->naddresses = n;
}

void dwarf_wire__take_lines(struct unwire *u, struct dwarf_lines *l)
{
	u64 n, i;

	*l = (struct dwarf_lines){ .file = unwire__text(u) };
	l->directory = unwire__text(u);
	n = unwire__count(u, sizeof(*l->line));
	l->line = calloc(n ?: 1, sizeof(*l->line));
	if (!l->line || !l->file)
		u->err = u->err ?: l->line ? -EBADMSG : -ENOMEM;
	for (i = 0; l->line && i < n && !u->err; i++)
		take_line(u, &l->line[l->n++]);
	if (u->err)
		dwarf_lines__free(l);
}

static void put_variable(struct wire *w, const struct dwarf_variable *var)
{
	wire__put(w, var, sizeof(*var));
	wire__text(w, var->name);
	wire__text(w, var->type);
	wire__array(w, var->live, var->nlive, sizeof(*var->live));
	wire__array(w, var->live_line, var->nlive_lines, sizeof(*var->live_line));
}

void dwarf_wire__put_variables(struct wire *w, const struct dwarf_variables *v)
{
	size_t i;

	wire__number(w, v->n);
	for (i = 0; i < v->n; i++)
		put_variable(w, &v->variable[i]);
	put_variable(w, &v->result);
	wire__put(w, &v->declared, sizeof(v->declared));
}

static void take_variable(struct unwire *u, struct dwarf_variable *v)
{
	u64 n;

	unwire__get(u, v, sizeof(*v));
	settle(&v->is_parameter);
	settle(&v->is_result);
	settle(&v->is_string);
	v->name = unwire__text(u);
	v->type = unwire__text(u);
	v->live = unwire__array(u, &n, sizeof(*v->live));
	v->nlive = n;
	v->live_line = unwire__array(u, &n, sizeof(*v->live_line));
	v->nlive_lines = n;
	if ((v->where > DWARF_COMPLEX || v->kind > DWARF_ARRAY || v->passed > DWARF_PASSED_NOWHERE) &&
	    !u->err)
		u->err = -EBADMSG;
}

static void take_named(struct unwire *u, struct dwarf_variable *v)
{
	take_variable(u, v);
	if ((!v->name || !v->type) && !u->err)
		u->err = -EBADMSG;
}

void dwarf_wire__take_variables(struct unwire *u, struct dwarf_variables *v)
{
	u64 n = unwire__count(u, sizeof(*v->variable)), i;

	*v = (struct dwarf_variables){ .variable = calloc(n ?: 1, sizeof(*v->variable)) };
	if (!v->variable)
		u->err = -ENOMEM;
	for (i = 0; v->variable && i < n && !u->err; i++)
		take_named(u, &v->variable[v->n++]);
	if (!u->err)
		take_variable(u, &v->result);   /* has no name and, for inlined functions, no type */
	if (!u->err) {
		unwire__get(u, &v->declared, sizeof(v->declared));
		settle(&v->declared.is_known);
	}
	if (u->err)
		dwarf_variables__free(v);
}

#endif /* HAVE_LIBDW */
