// SPDX-License-Identifier: BSD-2-Clause
/*
 * The second half of a plan: the side on which each expression is evaluated, and the code of each
 * site.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "expr/fields.h"
#include "report/diag.h"
#include "probe/every_field.h"
#include "probe/plan.h"
#include "probe/saved.h"
#include "probe/sides.h"
#include "probe/spot.h"
#include "bpf/lib/task_key.h"

#define BEGINS_OWN (8 * (PROBE_KEPT_MOST + PROBE_COUNTERS + 1))

/*
 * --- fields ------------------------------------------------------------------------------------
 */

static int add_field(struct probe_plan *p, const struct probe_field *f)
{
	return ARRAY_APPEND(p->field, p->nfields, *f);
}

static int add_fields(struct probe_plan *p, const struct probe_argument *a, size_t n,
		      const char *option)
{
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		struct probe_field f = { .name = a[i].name, .expr = a[i].expr, .option = option, .text = a[i].text,
					 .is_named = a[i].is_named };

		if (a[i].expr->op == EXPR_NAME && !strcmp(a[i].expr->text, "func")) {
			p->by_site = true;
			f.expr = NULL;
		}
		err = add_field(p, &f);
	}
	return err;
}

static int add_task_fields(struct probe_plan *p)
{
	static const struct {
		u32 part;
		struct expr expr;
	} parts[] = {
		{ BY_PID, { .op = EXPR_NAME, .text = (char *)"pid" } },
		{ BY_TID, { .op = EXPR_NAME, .text = (char *)"tid" } },
	};
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts) && !err; i++)
		if (p->request->by_task & parts[i].part)
			err = add_field(p,
					&(struct probe_field){ .name = parts[i].expr.text, .expr = &parts[i].expr,
							       .option = "--by", .text = parts[i].expr.text });
	return err;
}

/* If several probes share a report, their event becomes the first key or a column. */
static bool needs_event(const struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < p->nkeys; i++)
		if (p->key[i].expr->op == EXPR_NAME && !strcmp(p->key[i].expr->text, "func"))
			return false;
	if (p->side[PROBE_END].events.n < 2)
		return false;
	return p->nkeys || p->request->by_task || p->request->what == PROBE_HIST ||
	       p->request->what == PROBE_BOUNDS;
}

static bool have_same_arguments(const struct probe_definition *a, const struct probe_definition *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->argument[i].name, b->argument[i].name) ||
		    strcmp(a->argument[i].text, b->argument[i].text))
			return false;
	return true;
}

static bool all_have_the_same(const struct probe_plan *p)
{
	size_t i;

	for (i = 1; i < p->ndefinitions; i++)
		if (!have_same_arguments(&p->definition[0], &p->definition[i]))
			return false;
	return true;
}

static size_t definition_of(const struct probe_plan *p, size_t site)
{
	const struct probe_side *s = &p->side[PROBE_END];

	return s->definition[s->sites.site[site].event - s->events.event];
}

static int add_group(struct probe_plan *p, const struct probe_argument *a, size_t n, size_t group)
{
	size_t from = p->nfields;
	int err = add_fields(p, a, n, NULL);

	for (; from < p->nfields; from++)
		p->field[from].group = group;
	return err;
}

/* Takes ownership of the arguments, including their names and texts. */
static int keep_arguments(struct probe_plan *p, struct probe_argument *a, size_t n)
{
	if (!n)
		return 0;
	if (array__grow(&p->every, p->nevery, n, sizeof(*a))) {
		probe_arguments__free(a, n);
		return -ENOMEM;
	}
	memcpy(p->every + p->nevery, a, n * sizeof(*a));
	p->nevery += n;
	free(a);
	return 0;
}

/* Adds all fields of a tracepoint, for a probe that names none. */
static int add_every_field(struct probe_plan *p, size_t site, size_t group)
{
	struct probe_argument *a;
	size_t n;
	int err = every_field__of(&a, &n, p, site);

	if (!err)
		err = add_group(p, a, n, group);
	return keep_arguments(p, a, n) ?: err;
}

/* Definitions with different arguments have one group each, and so has each tracepoint without arguments. */
static int add_groups(struct probe_plan *p)
{
	size_t nsites = p->side[PROBE_END].sites.n, d, i;
	int err = 0;

	p->group = calloc(nsites, sizeof(*p->group));
	if (!p->group)
		return -ENOMEM;
	for (d = 0; d < p->ndefinitions && !err; d++)
		err = add_group(p, p->definition[d].argument, p->definition[d].n, d + 1);
	for (i = 0; i < nsites && !err; i++) {
		d = definition_of(p, i);
		p->group[i] = p->definition[d].n ? d + 1 : p->ndefinitions + i + 1;
		p->each_site |= !p->definition[d].n;
		if (!p->definition[d].n)
			err = add_every_field(p, i, p->group[i]);
	}
	return err;
}

static int add_stream_fields(struct probe_plan *p)
{
	const struct probe_definition *first = p->definition;
	size_t nsites = p->side[PROBE_END].sites.n;

	if (!p->ndefinitions)
		return 0;
	if (p->spans && !all_have_the_same(p)) {
		diag_error("the calls of one stream need the same arguments: '%s' differs from '%s'",
			   p->definition[1].typed, first->typed);
		diag_hint("run two streams, or give one list: 'EVENT1,EVENT2 ARGUMENT...'");
		return -EINVAL;
	}
	if (p->spans || (first->n && all_have_the_same(p)))
		return add_fields(p, first->argument, first->n, NULL);
	return nsites == 1 ? add_every_field(p, 0, 0) : add_groups(p);
}

static int collect_fields(struct probe_plan *p)
{
	static const struct probe_field event = {
		.name = "event", .option = "--by", .text = "event"};
	int err = 0;

	if (needs_event(p))
		err = add_field(p, &event);
	if (!err && p->request->what == PROBE_STREAM)
		err = add_stream_fields(p);
	if (!err)
		err = add_task_fields(p);
	return err ?: add_fields(p, p->key, p->nkeys, "--by");
}

/*
 * True if texts follow the other fields, with their actual length, as in a record. Begins of spans
 * have a fixed size, so their texts are fields, as in a key.
 */
static bool texts_behind(const struct probe_plan *p)
{
	return p->request->what == PROBE_STREAM && !p->spans;
}

/*
 * --- layout ------------------------------------------------------------------------------------
 */

static int add_symbol(void *arg, const char *name, u64 number)
{
	return shape__add_name(arg, name, number);
}

static int make_shape(struct shape **shape, const struct operand_type *t, const struct place *place)
{
	*shape = NULL;
	if (t->kind != LAYOUT_VALUE && t->kind != LAYOUT_ENUM)
		return 0;
	if (!t->symbols)
		return shape__new(shape, &t->type);
	*shape = field__symbol_kind(place->format, t->symbols) == FIELD_HAS_FLAGS ?
			 shape__of_flags(t->size) :
			 shape__of_names(t->size, t->is_signed);
	return *shape ? field__each_symbol(place->format, t->symbols, add_symbol, *shape) : -ENOMEM;
}

/* A struct or an enum must be the same in all events. */
static int set_shape(struct layout_field *l, const struct probe_field *f, const struct operand_type *t,
		     const struct place *place, bool first)
{
	struct shape *shape;
	int err = make_shape(&shape, t, place);
	bool is_same = !err && shape && l->shape && shape__equal(shape, l->shape);

	if (!err && first) {
		l->shape = shape;
		l->size = t->size;
		return 0;
	}
	shape__free(shape);
	if (err || is_same)
		return err;
	diag_error("%s has different types in different events", f->name);
	return -EINVAL;
}

/* Names the column as in all other tools: "unit" is a column of stat. */
static int name_unit(struct layout_field *l)
{
	char *name = strdup("systemd_unit");

	if (!name)
		return -ENOMEM;
	free(l->name);
	l->name = name;
	return 0;
}

/* True if the numbers stand for names. The kind determines which names. */
static bool is_named(enum layout_kind kind)
{
	return kind == LAYOUT_SYMBOL || kind == LAYOUT_USER_SYMBOL || kind == LAYOUT_CONTAINER || kind == LAYOUT_UNIT;
}

/* Makes a field of the layout wide enough for this site. */
static int widen(struct layout_field *l, const struct probe_field *f, const struct place *place,
		 bool first)
{
	struct operand_type t = { .kind = LAYOUT_EVENT, .size = 4 };
	struct complaint c;
	int err = 0;

	if (f->expr)
		err = expr__type(&t, f->expr, place, &c);
	if (err) {
		diag_complaint(f->option, f->text, &c);
		return err;
	}
	if (first || t.kind == LAYOUT_SIGNED)
		l->kind = t.kind;
	if (first && t.kind == LAYOUT_UNIT && !strcmp(l->name, "unit")) {
		err = name_unit(l);
		if (err)
			return err;
	}
	if ((is_named(l->kind) || is_named(t.kind)) && l->kind != t.kind) {
		diag_error("%s has different kinds of values in different events", f->name);
		return -EINVAL;
	}
	if (first) {
		shape__free(l->shape);
		l->shape = NULL;
	}
	if (l->shape || t.kind == LAYOUT_VALUE || t.kind == LAYOUT_ENUM)
		return set_shape(l, f, &t, place, first);
	if ((l->kind == LAYOUT_TEXT) != (t.kind == LAYOUT_TEXT)) {
		diag_error("%s is a string in some events and a number in others", f->name);
		return -EINVAL;
	}
	if (t.size > l->size)
		l->size = t.size;
	return 0;
}

/* Places 8-byte numbers first, then 4-byte numbers, then texts, so that all are aligned. */
static void place_group(struct probe_plan *p, size_t group, bool record)
{
	static const u32 sizes[] = { 8, 4, 0 };
	struct layout *l = &p->layout;
	size_t pass, i;

	for (pass = 0; pass < ARRAY_SIZE(sizes); pass++)
		for (i = 0; i < l->n; i++) {
			struct layout_field *f = &l->field[i];
			bool text = f->kind >= LAYOUT_TEXT;

			if (p->field[i].group != group)
				continue;
			if (f->kind == LAYOUT_TEXT && record)
				f->size = sizeof(struct probe_text);
			if (text ? sizes[pass] : f->size != sizes[pass])
				continue;
			f->offset = l->size;
			l->size += f->size;
		}
}

static void place_fields(struct probe_plan *p, bool record)
{
	size_t groups = p->group ? p->ndefinitions + p->side[PROBE_END].sites.n : 0, group;
	struct layout *l = &p->layout;
	u32 common, most;

	l->size = 0;
	place_group(p, 0, record);
	common = most = p->group ? (l->size + 7) / 8 * 8 : l->size;
	for (group = 1; group <= groups; group++) {
		l->size = common;
		place_group(p, group, record);
		most = l->size > most ? l->size : most;
	}
	l->size = most;
}

/* True if the name is taken. In rows, the names of figures are reserved, too. */
static bool is_taken(const struct probe_plan *p, const struct probe_field *f, const char *name, bool rows)
{
	const struct layout *l = &p->layout;
	static const char *const figures[] = { "event", "count", "sum", "avg", "min", "max" };
	size_t i;

	for (i = 0; rows && i < ARRAY_SIZE(figures); i++)
		if (!strcmp(name, figures[i]))
			return true;
	for (i = 0; i < l->n; i++)
		if (!strcmp(name, l->field[i].name) &&
		    (!f->group || !p->field[i].group || f->group == p->field[i].group))
			return true;
	return false;
}

/* True if the name is that of the last member, and another column has exactly this name as its expression. */
static bool is_name_of_other(const struct probe_plan *p, const struct probe_field *f)
{
	size_t i;

	for (i = 0; i < p->nfields && !f->is_named; i++)
		if (&p->field[i] != f && p->field[i].expr && !strcmp(p->field[i].text, f->name) &&
		    strcmp(f->text, f->name) && !strcmp(p->field[i].name, f->name))
			return true;
	return false;
}

/*
 * Makes a column's name unique: the expression as typed distinguishes p->comm from p->parent->comm.
 * Returns NULL if out of memory.
 */
static char *name_of_field(const struct probe_plan *p, const struct probe_field *f, bool rows)
{
	char *name = strdup(f->name), *longer;

	if (!f->expr)
		return name;
	if (name && (is_taken(p, f, name, rows) || is_name_of_other(p, f))) {
		free(name);
		name = strdup(f->text);
	}
	while (name && is_taken(p, f, name, rows)) {
		if (asprintf(&longer, "key.%s", name) < 0)
			longer = NULL;
		free(name);
		name = longer;
	}
	return name;
}

static int make_layout(struct probe_plan *p)
{
	bool rows = p->request->what == PROBE_COUNT || p->request->what == PROBE_SUM;
	struct layout *l = &p->layout;
	bool comm = false, task = false;
	int err = collect_fields(p);
	size_t i;

	l->field = calloc(p->nfields ?: 1, sizeof(*l->field));
	if (!l->field)
		err = -ENOMEM;
	for (i = 0; i < p->nfields && !err; i++) {
		l->field[i].name = name_of_field(p, &p->field[i], rows);
		if (!l->field[i].name)
			err = -ENOMEM;
		else
			l->field[l->n++].group = p->field[i].group;
		comm |= !strcmp(p->field[i].name, "comm");
		task |= !strcmp(p->field[i].name, "pid") || !strcmp(p->field[i].name, "tid");
	}
	l->has_name = task && !comm && p->request->what != PROBE_STREAM;
	return err;
}

/* True if spans end in the thread in which they began. */
static bool is_in_thread(const struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < p->nmatches; i++)
		if (p->match[i].expr->op == EXPR_NAME && !strcmp(p->match[i].expr->text, "tid"))
			return true;
	return p->calls;
}

/* The name of a user-space address depends on the process and the time. */
static int check_addresses(const struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < p->nfields; i++) {
		if (p->layout.field[i].kind != LAYOUT_USER_SYMBOL)
			continue;
		if (p->request->what != PROBE_STREAM) {
			diag_error(
				"--by: %s is an address in a process, whose name depends on the process and the "
				"time: it cannot be a key",
				p->field[i].text);
			diag_hint("--stream shows the names; --by pid,ADDRESS counts the addresses");
			return -EINVAL;
		}
		if (p->field[i].at_begin && !is_in_thread(p)) {
			diag_error(
				"%s: an address in the first event's process needs tid in --match; the second may be "
				"in another process",
				p->field[i].text);
			return -EINVAL;
		}
	}
	return 0;
}

static bool is_of_group(const struct probe_field *f, size_t group)
{
	return !f->group || f->group == group;
}

static size_t group_of(const struct probe_plan *p, enum probe_side_name side, size_t site)
{
	return side == PROBE_END && p->group ? p->group[site] : 0;
}

/* Determines the side and the width of each field at a site. group is the site's group. */
static int look_from(struct probe_plan *p, const struct place *place, const struct place *begin,
		     enum probe_side_name side, bool first, size_t group)
{
	struct operand_type t;
	struct complaint c;
	int err = 0;
	size_t i;

	for (i = 0; i < p->nfields && !err; i++) {
		struct probe_field *f = &p->field[i];

		if (first && side == PROBE_BEGIN && f->expr)
			p->layout.field[i].is_of_begin = f->at_begin = side__belongs_to_begin(p, f->expr, begin);
		if (f->at_begin != (side == PROBE_BEGIN) || !is_of_group(f, group))
			continue;
		err = widen(&p->layout.field[i], f, place, !f->typed);
		f->typed = true;
	}
	if (err || !p->measured)
		return err;
	if (first && side == PROBE_BEGIN)
		p->value_at_begin = side__belongs_to_begin(p, p->measured, begin);
	if (p->value_at_begin != (side == PROBE_BEGIN))
		return 0;
	err = expr__type(&t, p->measured, place, &c);
	if (err)
		diag_complaint(p->request->option, p->nvalues ? p->value[0].text : p->measured_text,
			       &c);
	else if (t.kind == LAYOUT_TEXT || t.kind == LAYOUT_VALUE) {
		diag_error("%s: '%s' is %s, not a number", p->request->option, p->measured_text,
			   t.kind == LAYOUT_TEXT ? "a string" : "a structure or an array");
		diag_hint("--by counts %s", t.kind == LAYOUT_TEXT ? "strings" : "them");
		err = -EINVAL;
	}
	p->is_signed |= !err && t.is_signed;
	return err;
}

static int look_around(struct probe_plan *p)
{
	int side, err = 0;
	struct spot spot;
	size_t i;

	for (i = 0; i < p->nfields; i++)
		p->field[i].typed = false;
	for (side = PROBE_BEGIN; side < PROBE_SIDES && !err; side++)
		for (i = 0; i < p->side[side].sites.n && !err; i++) {
			err = spot__make(&spot, p, side, i);
			if (err)
				break;
			err = look_from(p, &spot.place, side == PROBE_BEGIN ? &spot.place : NULL,
					side, i == 0, group_of(p, side, i));
			spot__free(&spot);
		}
	return err;
}

/*
 * --- code --------------------------------------------------------------------------------------
 */

static int compile_filter(const struct probe_plan *p, struct code *code, const struct place *place,
			  enum probe_side_name side)
{
	struct complaint c;
	int err;

	if (!p->part[side])
		return body__constant(code, 1);
	err = filter__compile(code, p->part[side], place, &c);
	if (err)
		diag_complaint("--filter", p->request->filter, &c);
	return err;
}

static int compile_value(const struct probe_plan *p, struct code *code, const struct place *place,
			 enum probe_side_name side)
{
	const struct probe_request *r = p->request;
	bool is_signed = p->is_signed && r->what == PROBE_SUM && !r->is_unsigned;
	enum value_range range = is_signed ? VALUE_SIGNED : VALUE_UNSIGNED;
	struct complaint c;
	int err;

	if (!p->measured || p->value_at_begin != (side == PROBE_BEGIN))
		return body__constant(code, 0);
	if (r->what == PROBE_BOUNDS)
		err = bucket__compile(code, p->measured, r->bound, r->nbounds, place, &c);
	else
		err = value__compile(code, p->measured, range, place, &c);
	if (err)
		diag_complaint(r->option, p->nvalues ? p->value[0].text : p->measured_text, &c);
	return err;
}

static int compile_key(const struct probe_plan *p, struct code *code, const struct place *place,
		       enum probe_side_name side, size_t definition, size_t group)
{
	size_t most = p->nfields + 2 * PROBE_KEPT_MOST;
	const struct expr **e = calloc(most, sizeof(*e));
	struct layout_field *field = calloc(most, sizeof(*field));
	const struct probe_field **from = calloc(most, sizeof(*from));
	const struct probe_field filter = { .option = "--filter", .text = p->request->filter };
	struct probe_field saved[PROBE_KEPT_MOST];
	bool sized = p->request->what == PROBE_STREAM && side == PROBE_END;
	size_t i, n = 0, which = 0;
	struct complaint c;
	int err = e && field && from ? 0 : -ENOMEM;

	for (i = 0; i < p->nfields && !err; i++) {
		if (p->field[i].at_begin != (side == PROBE_BEGIN) || !is_of_group(&p->field[i], group))
			continue;
		from[n] = &p->field[i];
		e[n] = p->field[i].expr;
		field[n++] = p->layout.field[i];
	}
	for (i = 0; i < p->nkept && side == PROBE_BEGIN && !err; i++) {
		from[n] = &filter;
		e[n] = p->kept[i].expr;
		field[n++] = (struct layout_field){
			.kind = LAYOUT_UNSIGNED, .offset = p->kept_at + 8 * i, .size = 8 };
	}
	for (i = 0; i < p->nsaved && side == PROBE_BEGIN && !err; i++) {
		if (!(p->saved[i].definitions & 1ULL << definition))
			continue;
		saved[i] = (struct probe_field){ .option = p->saved[i].option, .text = p->saved[i].text };
		from[n] = &saved[i];
		e[n] = p->saved[i].expr;
		field[n++] = (struct layout_field){
			.kind = LAYOUT_UNSIGNED, .offset = p->kept_at + 8 * i, .size = 8 };
	}
	if (!err && !n && !sized) {
		err = body__constant(code, 0);
	} else if (!err) {
		err = key__compile(code, e, field, n, texts_behind(p), sized ? p->layout.size : 0,
				   place, &c, &which);
		if (err)
			diag_complaint(from[which]->option, from[which]->text, &c);
	}
	free(e);
	free(field);
	free(from);
	return err;
}

static int compile_match(const struct probe_plan *p, struct code *code, const struct place *place)
{
	const struct expr *e[PROBE_MATCH_MOST / 8];
	struct complaint c;
	size_t i, which = 0;
	int err;

	if (!p->spans)
		return body__constant(code, 0);
	if (p->calls)
		return match__call(code, place);
	for (i = 0; i < p->nmatches; i++)
		e[i] = p->match[i].expr;
	err = match__compile(code, e, p->nmatches, place, &c, &which);
	if (err)
		diag_complaint("--match", p->match[which].text, &c);
	return err;
}

static bool asks_for_result(const struct expr *e)
{
	if (!e)
		return false;
	if ((e->op == EXPR_SPECIAL || e->op == EXPR_NAME) && !strcmp(e->text, "retval"))
		return true;
	/* A cast determines the type. */
	if (e->op == EXPR_CAST || e->op == EXPR_TYPED)
		return false;
	return asks_for_result(e->left) || asks_for_result(e->right);
}

static bool plan_asks_for_result(const struct probe_plan *p)
{
	bool asks = asks_for_result(p->filter) || asks_for_result(p->measured);
	size_t i;

	for (i = 0; i < p->nfields; i++)
		asks |= asks_for_result(p->field[i].expr);
	for (i = 0; i < p->naliases; i++)
		asks |= asks_for_result(p->alias[i].expr);
	return asks;
}

static int compile_site(struct probe_plan *p, enum probe_side_name side, size_t i)
{
	struct probe_side *s = &p->side[side];
	struct code *code = s->own[i].code;
	struct spot spot;
	int err = spot__make(&spot, p, side, i), k;

	if (err)
		return err;
	for (k = 0; k < EVENT_BODIES; k++)
		code__free(&code[k]);
	p->guessed_result |= spot.place.guessed_result && plan_asks_for_result(p);
	err = compile_filter(p, &code[EVENT_FILTER], &spot.place, side);
	if (!err)
		err = compile_value(p, &code[EVENT_VALUE], &spot.place, side);
	if (!err)
		err = compile_key(p, &code[EVENT_KEY], &spot.place, side,
				  s->definition[s->sites.site[i].event - s->events.event], group_of(p, side, i));
	if (!err)
		err = compile_match(p, &code[EVENT_MATCH], &spot.place);
	for (k = 0; k < EVENT_BODIES && !err; k++)
		s->code[i].body[k] = (struct attach_body){ code[k].insn, code[k].n };
	spot__free(&spot);
	return err;
}

static int compile_sides(struct probe_plan *p)
{
	int side, err = 0;
	size_t i;

	for (side = PROBE_BEGIN; side < PROBE_SIDES && !err; side++)
		for (i = 0; i < p->side[side].sites.n && !err; i++)
			err = compile_site(p, side, i);
	return err;
}

/* All begins share one part of the filter, so it is divided only for the first begin. */
static int divide_filter(struct probe_plan *p)
{
	struct spot begins = {};
	int err = 0;

	if (p->spans && !p->returns && p->side[PROBE_BEGIN].sites.n)
		err = spot__make(&begins, p, PROBE_BEGIN, 0);
	if (!err)
		err = side__divide_filter(p, p->spans && !p->returns ? &begins.place : NULL);
	spot__free(&begins);
	p->kept_at = (p->layout.size + 7) / 8 * 8;
	return err;
}

/* True for a glob whose events have different names. */
static bool has_several_names(const struct probe_side *s, size_t i)
{
	const struct event_site *site = s->sites.site, *first = &site[probe_side__first_of_event(s, i)];
	size_t k;

	for (k = first - site; k < s->sites.n && site[k].event == first->event; k++)
		if (strcmp(site[k].name, first->name))
			return true;
	return false;
}

/*
 * Returns the first site of the same event with this name. The ends of a function, the copies of an inlined function,
 * and the locations of a USDT probe are one place to a user who reads the name.
 */
static u32 first_of_name(const struct probe_side *s, size_t i)
{
	const struct event_site *site = s->sites.site;
	size_t k = probe_side__first_of_event(s, i);

	while (k < i && strcmp(site[k].name, site[i].name))
		k++;
	return k;
}

/* A call has the event number of its entry. If returns are counted, the names are theirs. */
static int name_events(struct probe_plan *p)
{
	struct probe_side *s = &p->side[p->calls && !p->returns ? PROBE_BEGIN : PROBE_END];
	size_t i;

	free(p->names);
	p->names = calloc(probe_plan__nevents(p) ?: 1, sizeof(*p->names));
	if (!p->names)
		return -ENOMEM;
	for (i = 0; i < s->sites.n; i++) {
		const struct event_site *site = &s->sites.site[i];
		size_t event = site->event - s->events.event, d = s->definition[event];

		bool named = d < p->ndefinitions && p->definition[d].name;
		bool each = p->by_site || (p->request->what == PROBE_STREAM && !named &&
					   has_several_names(s, i));
		bool own = each || p->each_site;

		/* The sites of an event share a number. In spans, the numbers distinguish calls. */
		if (!p->spans && !own)
			s->slot[i] = probe_side__first_of_event(s, i);
		else if (!p->spans && !p->each_site)
			s->slot[i] = first_of_name(s, i);
		p->names[p->returns ? s->slot[i] : i] = each ? site->name :
						      named ? p->definition[d].name : site->event->name;
	}
	return 0;
}

static int check_match(struct probe_plan *p)
{
	p->match_size = p->calls ? MATCH_CALL_SIZE : 8 * p->nmatches;
	if (p->spans && !p->match_size) {
		diag_error("--from and --to need --match: the values that a begin and its end share");
		diag_hint("as in --match dev,sector, or --match tid for events of the same thread");
		return -EINVAL;
	}
	if (p->request->with && !is_in_thread(p)) {
		diag_error("--with follows one thread: it needs tid in --match");
		return -EINVAL;
	}
	if (p->match_size <= PROBE_MATCH_MOST)
		return 0;
	diag_error("--match: at most %d expressions", PROBE_MATCH_MOST / 8);
	return -EINVAL;
}

int probe_plan__compile(struct probe_plan *p)
{
	int err = check_match(p);

	if (!err && !p->layout.field)
		err = make_layout(p);
	if (err)
		return err;
	err = look_around(p) ?: check_addresses(p);
	if (err)
		return err;
	place_fields(p, texts_behind(p));
	/* In a begin, the kept values and the counters follow the begin's part of the key. */
	if (p->layout.size > PROBE_KEY_MOST - (p->spans ? BEGINS_OWN : 0)) {
		diag_error("--by: too many keys");
		return -EINVAL;
	}
	err = divide_filter(p);
	if (!err)
		err = compile_sides(p);
	return err ?: name_events(p);
}
