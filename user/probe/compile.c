// SPDX-License-Identifier: BSD-2-Clause
/* The second half of a plan: where each expression is worked out, and the code of each site. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/diag.h"
#include "probe/plan.h"
#include "bpf/task_key.h"

#define CONJUNCTS 32            /* a && b && c: parts of a filter that can be at different sides */

/*
 * --- which side --------------------------------------------------------------------------------
 */

/* The result and the time passed are known at the end of a span alone. */
static bool mentions_end(const struct probe_plan *p, const struct expr *e)
{
	size_t i;

	if (e->op == EXPR_SPECIAL && (!strcmp(e->text, "retval") || !strcmp(e->text, "elapsed")))
		return true;
	for (i = 0; e->op == EXPR_NAME && i < p->naliases; i++)
		if (!strcmp(p->alias[i].name, e->text) && p->alias[i].expr->op != EXPR_NAME)
			return mentions_end(p, p->alias[i].expr);
	return (e->left && mentions_end(p, e->left)) || (e->right && mentions_end(p, e->right));
}

/* A place of a side, with everything that goes with it. */
struct spot {
	struct place place;
	struct tracepoint_format format;
	struct place_alias *alias;
};

/* The first of the sites that belong to the same event. */
static size_t first_of_event(const struct probe_side *s, size_t i)
{
	while (i && s->sites.site[i - 1].event == s->sites.site[i].event)
		i--;
	return i;
}

/* The names that the probe itself gives come before those of others. */
static int add_aliases(struct spot *spot, const struct probe_plan *p, size_t definition)
{
	size_t i, first = 0, n = 0;

	spot->alias = calloc(2 * p->naliases + 1, sizeof(*spot->alias));
	if (!spot->alias)
		return -ENOMEM;
	for (i = 0; i < definition && i < p->ndefinitions; i++)
		first += p->definition[i].n;
	for (i = 0; definition < p->ndefinitions && i < p->definition[definition].n; i++)
		spot->alias[n++] = p->alias[first + i];
	for (i = 0; i < p->naliases; i++)
		spot->alias[n++] = p->alias[i];
	spot->place.alias = spot->alias;
	spot->place.naliases = n;
	return 0;
}

static void spot__free(struct spot *spot)
{
	site_place__free(&spot->place, &spot->format);
	free(spot->alias);
}

static int spot__make(struct spot *spot, struct probe_plan *p, enum probe_side_name side, size_t i)
{
	struct probe_side *s = &p->side[side];
	const struct event_site *site = &s->sites.site[i];
	int err = site_place__make(&spot->place, &spot->format, site, s->attachments.way[i],
				   &p->known);

	spot->alias = NULL;
	if (!err)
		err = add_aliases(spot, p, s->definition[site->event - s->events.event]);
	if (err) {
		diag_error("the fields of %s cannot be read: %s", site->name, strerror(-err));
		spot__free(spot);
		return err;
	}
	spot->place.is_end = p->spans && side == PROBE_END;
	spot->place.by_site = p->by_site;
	spot->place.number = first_of_event(s, i);
	return 0;
}

static bool is_known(const struct expr *e, const struct place *place)
{
	struct complaint ignored;
	struct operand_type t;
	struct code code = {};
	bool known = !expr__type(&t, e, place, &ignored);

	/* Conditions are no values where they compare texts. */
	if (!known) {
		known = !filter__compile(&code, e, place, &ignored);
		code__free(&code);
	}
	return known;
}

/* begin: a place of a begin, NULL without spans. */
static bool belongs_to_begin(const struct probe_plan *p, const struct expr *e,
			     const struct place *begin)
{
	if (!begin || mentions_end(p, e))
		return false;
	return p->request->latency || is_known(e, begin);
}

/*
 * --- fields ------------------------------------------------------------------------------------
 */

static int add_field(struct probe_plan *p, const struct probe_field *f)
{
	struct probe_field *larger = realloc(p->field, (p->nfields + 1) * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	p->field = larger;
	p->field[p->nfields++] = *f;
	return 0;
}

static int add_fields(struct probe_plan *p, const struct probe_argument *a, size_t n,
		      const char *option)
{
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		struct probe_field f = { a[i].name, a[i].expr, option, a[i].text, false };

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
					&(struct probe_field){parts[i].expr.text, &parts[i].expr,
							      "--by", parts[i].expr.text, false});
	return err;
}

/* Several probes in one run share the report: which it was is the first key, or its own column. */
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

/* One stream has one kind of line: the arguments of all its probes have to be the same. */
static int add_stream_fields(struct probe_plan *p)
{
	const struct probe_definition *first = p->definition, *d;
	size_t i, k;

	if (!p->ndefinitions)
		return 0;
	for (i = 1; i < p->ndefinitions; i++) {
		d = &p->definition[i];
		for (k = 0; k < first->n && d->n == first->n; k++)
			if (strcmp(d->argument[k].name, first->argument[k].name) ||
			    strcmp(d->argument[k].text, first->argument[k].text))
				break;
		if (d->n == first->n && k == first->n)
			continue;
		diag_error("the probes of one stream need the same arguments: '%s' has others than "
			   "'%s'",
			   d->typed, first->typed);
		diag_hint("run two of them, or give one list: 'EVENT1,EVENT2 ARGUMENT...'");
		return -EINVAL;
	}
	return add_fields(p, first->argument, first->n, NULL);
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
 * Texts of a record stand behind its other fields, as long as they are. What begins carry to their
 * ends has one size: there they are fields as in a key.
 */
static bool texts_behind(const struct probe_plan *p)
{
	return p->request->what == PROBE_STREAM && !p->spans;
}

/*
 * --- layout ------------------------------------------------------------------------------------
 */

/* Makes a field of the layout as wide as this site needs it. */
static int widen(struct layout_field *l, const struct probe_field *f, const struct place *place,
		 bool first)
{
	struct operand_type t = { LAYOUT_EVENT, 4, false };
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
	if ((l->kind == LAYOUT_TEXT) != (t.kind == LAYOUT_TEXT)) {
		diag_error("%s is a text in some of the events, and a number in others", f->name);
		return -EINVAL;
	}
	if (t.size > l->size)
		l->size = t.size;
	return 0;
}

/* Numbers of 8 bytes first, then those of 4, then texts: everything lies where it may. */
static void place_fields(struct layout *l, bool record)
{
	static const u32 sizes[] = { 8, 4, 0 };
	size_t pass, i;

	for (pass = 0; pass < ARRAY_SIZE(sizes); pass++)
		for (i = 0; i < l->n; i++) {
			struct layout_field *f = &l->field[i];
			bool text = f->kind == LAYOUT_TEXT;

			if (text && record)
				f->size = sizeof(struct probe_text);
			if (text ? sizes[pass] : f->size != sizes[pass])
				continue;
			f->offset = l->size;
			l->size += f->size;
		}
}

/* rows: its figures are columns beside the key. */
static bool is_taken(const struct layout *l, const char *name, bool rows)
{
	static const char *const figures[] = { "event", "count", "sum", "avg", "min", "max" };
	size_t i;

	for (i = 0; rows && i < ARRAY_SIZE(figures); i++)
		if (!strcmp(name, figures[i]))
			return true;
	for (i = 0; i < l->n; i++)
		if (!strcmp(name, l->field[i].name))
			return true;
	return false;
}

/* No two columns have one name: what is typed tells p->comm from p->parent->comm. NULL without
 * memory. */
static char *name_of_field(const struct layout *l, const struct probe_field *f, bool rows)
{
	char *name = strdup(f->name), *longer;

	if (!f->expr)
		return name;
	if (name && is_taken(l, name, rows)) {
		free(name);
		name = strdup(f->text);
	}
	while (name && is_taken(l, name, rows)) {
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
		l->field[i].name = name_of_field(l, &p->field[i], rows);
		if (!l->field[i].name)
			err = -ENOMEM;
		else
			l->n++;
		comm |= !strcmp(p->field[i].name, "comm");
		task |= !strcmp(p->field[i].name, "pid") || !strcmp(p->field[i].name, "tid");
	}
	l->has_name = task && !comm && p->request->what != PROBE_STREAM;
	return err;
}

/* Of each site's point of view: which side, and how wide. */
static int look_from(struct probe_plan *p, const struct place *place, const struct place *begin,
		     enum probe_side_name side, bool first)
{
	struct operand_type t;
	struct complaint c;
	int err = 0;
	size_t i;

	for (i = 0; i < p->nfields && !err; i++) {
		struct probe_field *f = &p->field[i];

		if (first && side == PROBE_BEGIN && f->expr)
			f->at_begin = belongs_to_begin(p, f->expr, begin);
		if (f->at_begin == (side == PROBE_BEGIN))
			err = widen(&p->layout.field[i], f, place, first);
	}
	if (err || !p->measured)
		return err;
	if (first && side == PROBE_BEGIN)
		p->value_at_begin = belongs_to_begin(p, p->measured, begin);
	if (p->value_at_begin != (side == PROBE_BEGIN))
		return 0;
	err = expr__type(&t, p->measured, place, &c);
	if (err)
		diag_complaint(p->request->option, p->nvalues ? p->value[0].text : p->measured_text,
			       &c);
	else if (t.kind == LAYOUT_TEXT) {
		diag_error("%s: '%s' is a text, and no number", p->request->option,
			   p->measured_text);
		diag_hint("--by counts texts");
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

	for (side = PROBE_BEGIN; side < PROBE_SIDES && !err; side++)
		for (i = 0; i < p->side[side].sites.n && !err; i++) {
			err = spot__make(&spot, p, side, i);
			if (err)
				break;
			err = look_from(p, &spot.place, side == PROBE_BEGIN ? &spot.place : NULL,
					side, i == 0);
			spot__free(&spot);
		}
	return err;
}

/*
 * --- code --------------------------------------------------------------------------------------
 */

/* The parts of a && b && c that are for this side, in nodes of the caller's. NULL: none. */
static const struct expr *part_of_filter(const struct probe_plan *p, const struct expr *e,
					 bool begin, const struct place *begins,
					 struct expr nodes[CONJUNCTS], size_t *n)
{
	const struct expr *left, *right;

	if (e->op != EXPR_AND || *n == CONJUNCTS)
		return belongs_to_begin(p, e, begins) == begin ? e : NULL;
	left = part_of_filter(p, e->left, begin, begins, nodes, n);
	right = part_of_filter(p, e->right, begin, begins, nodes, n);
	if (!left || !right)
		return left ?: right;
	if (*n == CONJUNCTS)
		return e;
	nodes[*n] = *e;
	nodes[*n].left = (struct expr *)left;
	nodes[*n].right = (struct expr *)right;
	return &nodes[(*n)++];
}

static int compile_filter(const struct probe_plan *p, struct code *code, const struct place *place,
			  enum probe_side_name side, const struct place *begins)
{
	struct expr nodes[CONJUNCTS];
	const struct expr *e = NULL;
	struct complaint c;
	size_t n = 0;
	int err;

	if (p->filter)
		e = part_of_filter(p, p->filter, side == PROBE_BEGIN, begins, nodes, &n);
	if (!e)
		return body__constant(code, 1);
	err = filter__compile(code, e, place, &c);
	if (err)
		diag_complaint("--filter", p->request->filter, &c);
	return err;
}

static int compile_value(const struct probe_plan *p, struct code *code, const struct place *place,
			 enum probe_side_name side)
{
	const struct probe_request *r = p->request;
	struct complaint c;
	int err;

	if (!p->measured || p->value_at_begin != (side == PROBE_BEGIN))
		return body__constant(code, 0);
	if (r->what == PROBE_BOUNDS)
		err = bucket__compile(code, p->measured, r->bound, r->nbounds, place, &c);
	else
		err = value__compile(code, p->measured, r->what == PROBE_SUM, place, &c);
	if (err)
		diag_complaint(r->option, p->nvalues ? p->value[0].text : p->measured_text, &c);
	return err;
}

static int compile_key(const struct probe_plan *p, struct code *code, const struct place *place,
		       enum probe_side_name side)
{
	const struct expr **e = calloc(p->nfields + 1, sizeof(*e));
	struct layout_field *field = calloc(p->nfields + 1, sizeof(*field));
	const struct probe_field **from = calloc(p->nfields + 1, sizeof(*from));
	bool sized = p->request->what == PROBE_STREAM && side == PROBE_END;
	size_t i, n = 0, which = 0;
	struct complaint c;
	int err = e && field && from ? 0 : -ENOMEM;

	for (i = 0; i < p->nfields && !err; i++) {
		if (p->field[i].at_begin != (side == PROBE_BEGIN))
			continue;
		from[n] = &p->field[i];
		e[n] = p->field[i].expr;
		field[n++] = p->layout.field[i];
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
	if (p->request->latency)
		return match__call(code, place);
	for (i = 0; i < p->nmatches; i++)
		e[i] = p->match[i].expr;
	err = match__compile(code, e, p->nmatches, place, &c, &which);
	if (err)
		diag_complaint("--match", p->match[which].text, &c);
	return err;
}

static int compile_site(struct probe_plan *p, enum probe_side_name side, size_t i,
			const struct place *begins)
{
	struct probe_side *s = &p->side[side];
	struct code *code = s->own[i].code;
	struct spot spot;
	int err = spot__make(&spot, p, side, i), k;

	if (err)
		return err;
	for (k = 0; k < EVENT_BODIES; k++)
		code__free(&code[k]);
	err = compile_filter(p, &code[EVENT_FILTER], &spot.place, side, begins);
	if (!err)
		err = compile_value(p, &code[EVENT_VALUE], &spot.place, side);
	if (!err)
		err = compile_key(p, &code[EVENT_KEY], &spot.place, side);
	if (!err)
		err = compile_match(p, &code[EVENT_MATCH], &spot.place);
	for (k = 0; k < EVENT_BODIES && !err; k++)
		s->code[i].body[k] = (struct attach_body){ code[k].insn, code[k].n };
	spot__free(&spot);
	return err;
}

static int compile_sides(struct probe_plan *p)
{
	struct spot begins = {};
	int side, err = 0;
	size_t i;

	/* Which parts of the filter are for begins is the same for all of them. */
	if (p->spans)
		err = spot__make(&begins, p, PROBE_BEGIN, 0);
	for (side = PROBE_BEGIN; side < PROBE_SIDES && !err; side++)
		for (i = 0; i < p->side[side].sites.n && !err; i++)
			err = compile_site(p, side, i, p->spans ? &begins.place : NULL);
	spot__free(&begins);
	return err;
}

/* What the numbers of events are called: each function by its name, or each probe by its own. */
static int name_events(struct probe_plan *p)
{
	struct probe_side *s = &p->side[p->request->latency ? PROBE_BEGIN : PROBE_END];
	size_t i;

	free(p->names);
	p->names = calloc(s->sites.n ?: 1, sizeof(*p->names));
	if (!p->names)
		return -ENOMEM;
	for (i = 0; i < s->sites.n; i++) {
		const struct event_site *site = &s->sites.site[i];
		size_t event = site->event - s->events.event, d = s->definition[event];

		/* All places of an event are counted as one. Those of spans tell calls apart. */
		if (!p->spans && !p->by_site)
			s->slot[i] = first_of_event(s, i);
		if (p->by_site)
			p->names[i] = site->name;
		else
			p->names[i] = d < p->ndefinitions && p->definition[d].name
					      ? p->definition[d].name
					      : site->event->name;
	}
	return 0;
}

static int check_match(struct probe_plan *p)
{
	p->match_size = p->request->latency ? MATCH_CALL_SIZE : 8 * p->nmatches;
	if (!p->spans || p->match_size)
		goto size;
	diag_error("--from and --to need --match: what a begin and its end have in common");
	diag_hint("as in --match dev,sector, or --match tid for events of the same thread");
	return -EINVAL;
size:
	if (p->match_size <= PROBE_MATCH_MOST)
		return 0;
	diag_error("--match: %d expressions at most", PROBE_MATCH_MOST / 8);
	return -EINVAL;
}

int probe_plan__compile(struct probe_plan *p)
{
	int err = check_match(p);

	if (!err && !p->layout.field)
		err = make_layout(p);
	if (err)
		return err;
	err = look_around(p);
	if (err)
		return err;
	p->layout.size = 0;
	place_fields(&p->layout, texts_behind(p));
	if (p->layout.size > PROBE_KEY_MOST) {
		diag_error("--by: these are too many keys");
		return -EINVAL;
	}
	err = compile_sides(p);
	return err ?: name_events(p);
}
