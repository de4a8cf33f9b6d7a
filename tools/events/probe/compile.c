// SPDX-License-Identifier: BSD-2-Clause
/* The second half of a plan: where each expression is worked out, and the code of each site. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"
#include "events/probe/plan.h"
#include "events/probe/sides.h"
#include "bpf/lib/task_key.h"

#define BEGINS_OWN (8 * (PROBE_KEPT_MOST + PROBE_COUNTERS + 1))

/*
 * --- places ------------------------------------------------------------------------------------
 */

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
	if (!err && side == PROBE_END)
		err = side__add_kept(&spot->place, p);
	if (err) {
		diag_error("the fields of %s cannot be read: %s", site->name, strerror(-err));
		spot__free(spot);
		return err;
	}
	spot->place.is_end = p->spans && side == PROBE_END;
	spot->place.by_site = p->by_site;
	spot->place.number = p->request->latency && side == PROBE_END ?
				     first_of_event(&p->side[PROBE_BEGIN], s->slot[i]) :
				     first_of_event(s, i);
	return 0;
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
			f->at_begin = side__belongs_to_begin(p, f->expr, begin);
		if (f->at_begin == (side == PROBE_BEGIN))
			err = widen(&p->layout.field[i], f, place, first);
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
		       enum probe_side_name side)
{
	size_t most = p->nfields + PROBE_KEPT_MOST;
	const struct expr **e = calloc(most, sizeof(*e));
	struct layout_field *field = calloc(most, sizeof(*field));
	const struct probe_field **from = calloc(most, sizeof(*from));
	const struct probe_field filter = { .option = "--filter", .text = p->request->filter };
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
	for (i = 0; i < p->nkept && side == PROBE_BEGIN && !err; i++) {
		from[n] = &filter;
		e[n] = p->kept[i].expr;
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
	if (p->request->latency)
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
	/* Whose type is then said. */
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
	int side, err = 0;
	size_t i;

	for (side = PROBE_BEGIN; side < PROBE_SIDES && !err; side++)
		for (i = 0; i < p->side[side].sites.n && !err; i++)
			err = compile_site(p, side, i);
	return err;
}

/* What is for begins is the same for all of them: the first one says it. */
static int divide_filter(struct probe_plan *p)
{
	struct spot begins = {};
	int err = 0;

	if (p->spans && p->side[PROBE_BEGIN].sites.n)
		err = spot__make(&begins, p, PROBE_BEGIN, 0);
	if (!err)
		err = side__divide_filter(p, p->spans ? &begins.place : NULL);
	spot__free(&begins);
	p->kept_at = (p->layout.size + 7) / 8 * 8;
	return err;
}

/* Is it a glob, of events that have names of their own? */
static bool has_several_names(const struct probe_side *s, size_t i)
{
	const struct event_site *site = s->sites.site, *first = &site[first_of_event(s, i)];
	size_t k;

	for (k = first - site; k < s->sites.n && site[k].event == first->event; k++)
		if (strcmp(site[k].name, first->name))
			return true;
	return false;
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

		bool named = d < p->ndefinitions && p->definition[d].name;
		bool each = p->by_site || (p->request->what == PROBE_STREAM && !named &&
					   has_several_names(s, i));

		/* All places of an event are counted as one. Those of spans tell calls apart. */
		if (!p->spans && !each)
			s->slot[i] = first_of_event(s, i);
		if (each)
			p->names[i] = site->name;
		else
			p->names[i] = named ? p->definition[d].name : site->event->name;
	}
	return 0;
}

/* Counters are divided up by thread: a span that ends in another one has none. */
static bool is_in_thread(const struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < p->nmatches; i++)
		if (p->match[i].expr->op == EXPR_NAME && !strcmp(p->match[i].expr->text, "tid"))
			return true;
	return p->request->latency;
}

static int check_match(struct probe_plan *p)
{
	p->match_size = p->request->latency ? MATCH_CALL_SIZE : 8 * p->nmatches;
	if (p->spans && !p->match_size) {
		diag_error("--from and --to need --match: what a begin and its end have in common");
		diag_hint("as in --match dev,sector, or --match tid for events of the same thread");
		return -EINVAL;
	}
	if (p->request->with && !is_in_thread(p)) {
		diag_error("--with is about one thread: its begin and its end need tid in --match");
		return -EINVAL;
	}
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
	/* Behind a begin's part of the key stands what is kept, and its counters. */
	if (p->layout.size > PROBE_KEY_MOST - (p->spans ? BEGINS_OWN : 0)) {
		diag_error("--by: these are too many keys");
		return -EINVAL;
	}
	err = divide_filter(p);
	if (!err)
		err = compile_sides(p);
	return err ?: name_events(p);
}
