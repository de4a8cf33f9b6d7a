// SPDX-License-Identifier: BSD-2-Clause
/* The parts of a report other than its rows: its head, counters and figures, stored as JSON. */
#include "record/load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/escape.h"

#ifdef HAVE_SQLITE

/* True for texts that writers escape. All other texts are constants of the tools, which are written unchanged. */
static bool is_escaped_later(const char *name)
{
	static const char *const names[] = { "source", "caveat", "nothing", "kernel" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * Unescapes a text. A hostile file may have any text under any name: texts that could steer a terminal remain escaped.
 */
static void undo_text(const char *name, json_t *v)
{
	char *text = json_is_string(v) ? strdup(json_string_value(v)) : NULL, *escaped;

	if (!text)
		return;
	escape_undo(text);
	if (is_escaped_later(name) || escape_is_idle(text)) {
		json_string_set_nocheck(v, text);
	} else {
		escaped = escape_string(text);
		json_string_set_nocheck(v, escaped ?: "");
		free(escaped);
	}
	free(text);
}

/* Unescapes the texts of an object to any depth, and ignores anything else. */
static void undo_texts(json_t *o)
{
	const char *name;
	json_t *v;
	void *next;
	size_t i;

	json_object_foreach_safe(o, next, name, v) {
		undo_texts(v);
		undo_text(name, v);
		for (i = 0; i < json_array_size(v); i++) {
			undo_texts(json_array_get(v, i));
			undo_text(name, json_array_get(v, i));
		}
	}
}

static int read_bounds(struct store_head *h)
{
	const json_t *bounds = json_object_get(h->json, "bounds");
	size_t n = json_array_size(bounds), i;

	if (!n)
		return 0;
	h->bound = calloc(n, sizeof(*h->bound));
	if (!h->bound)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		h->bound[i] = json_integer_value(json_array_get(bounds, i));
		if (i && h->bound[i] <= h->bound[i - 1])
			return -EUCLEAN;
	}
	h->nbounds = n;
	return 0;
}

/* Copies a cached head. Its contents are valid until the store is closed. */
int load__head(struct store *s, s64 id, struct store_head *head)
{
	sqlite3_stmt *find;
	json_t *json = NULL;
	size_t i;
	int err;

	for (i = 0; i < s->nheads; i++)
		if (s->head[i].id == id) {
			*head = s->head[i];
			return 0;
		}
	err = store__prepare(s, &find, "SELECT text FROM head WHERE id = ?");
	if (err)
		return err;
	s->sql->bind_int64(find, 1, id);
	if (s->sql->step(find) == SQLITE_ROW && s->sql->column_text(find, 0))
		json = json_loads((const char *)s->sql->column_text(find, 0), 0, NULL);
	s->sql->finalize(find);
	err = json_is_object(json) ? ARRAY_ROOM(s->head, s->nheads) : -EUCLEAN;
	if (err) {
		json_decref(json);
		return err;
	}
	undo_texts(json);
	s->head[s->nheads] = (struct store_head){ .id = id, .json = json };
	err = read_bounds(&s->head[s->nheads]);
	*head = s->head[s->nheads++];
	return err;
}

const char *load__text(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

u64 load__number(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	return json_is_real(v) ? (u64)fmax(json_real_value(v), 0) : (u64)json_integer_value(v);
}

bool load__flag(const json_t *o, const char *name)
{
	return json_is_true(json_object_get(o, name));
}

static enum unit unit_in(const json_t *o)
{
	const char *name = load__text(o, "unit");
	enum unit unit;

	for (unit = UNIT_COUNT; unit < UNIT_BYTES; unit++)
		if (name && !strcmp(name, unit_name(unit)))
			break;
	return name ? unit : UNIT_COUNT;
}

/* Loads the names of columns. Anything other than a list of names is damage. */
static int load_columns(struct report_row *columns, const json_t *list)
{
	struct field f = {};
	size_t i;
	int err = 0;

	for (i = 0; i < json_array_size(list) && !err; i++) {
		f.name = json_string_value(json_array_get(list, i));
		err = f.name ? report_row__add_field(columns, &f) : -EUCLEAN;
	}
	return err;
}

int load__use_head(struct report *r, const json_t *head)
{
	const json_t *of_lines = json_object_get(head, "columns_of_lines");

	r->source = load__text(head, "source");
	r->caveat = load__text(head, "caveat");
	r->begun = load__text(head, "begun");
	r->value = load__text(head, "value");
	r->metric = load__text(head, "metric");
	r->nothing = load__text(head, "nothing");
	r->left_out_by = load__text(head, "left_out_by");
	r->kernel = load__text(head, "kernel");
	r->cpus = load__number(head, "cpus");
	r->unit = unit_in(head);
	r->table = load__flag(head, "table");
	r->standing = load__flag(head, "standing");
	r->total_from = load__number(head, "total_from");
	r->has_events = load__flag(head, "has_events");
	r->has_losses = load__flag(head, "has_losses");
	r->has_max_keys = load__flag(head, "has_max_keys");
	r->room_by = load__text(head, "room_by");
	r->is_sampled = load__flag(head, "is_sampled");
	r->is_estimate = load__flag(head, "is_estimate");
	r->columns_of_lines = of_lines;
	return load_columns(&r->columns, of_lines ?: json_object_get(head, "columns"));
}

void load__counters(struct loss_counters *c, const json_t *o)
{
	size_t i;

	c->filtered = load__number(o, "filtered");
	c->unaccounted = load__number(o, "unaccounted");
	c->corrected = load__number(o, "corrected");
	c->begun_before = load__number(o, "begun_before");
	c->answered = load__number(o, "answered");
	c->summed = load__number(o, "summed");
	for (i = 0; i < LOSS_REASONS; i++)
		c->lost[i] = load__number(o, loss_name(i));
}

static void read_figures_of_events(struct report_stacks *s, const json_t *list)
{
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		const json_t *o = json_array_get(list, i);

		s->event[i].total = load__number(o, "total");
		s->event[i].chosen = load__number(o, "chosen");
		s->event[i].left_out = load__number(o, "left_out");
		s->event[i].missed = load__number(o, "missed");
	}
}

void load__figures(struct report *r, struct report_overhead *cost, const json_t *o)
{
	r->measured_ns = load__number(o, "measured_ns");
	r->read_ns = load__number(o, "read_ns");
	r->hidden = load__number(o, "hidden");
	r->throttled = load__number(o, "throttled");
	r->left_out = load__number(o, "left_out");
	r->chosen = load__number(o, "chosen");
	if (r->stacks) {
		r->stacks->total = load__number(o, "total");
		read_figures_of_events(r->stacks, json_object_get(o, "events"));
	}
	if (!json_object_get(o, "map_bytes"))
		return;
	*cost = (struct report_overhead){
		.ns = load__number(o, "programs_ns"), .runs = load__number(o, "programs_runs"),
		.own_ns = load__number(o, "process_ns"), .map_bytes = load__number(o, "map_bytes"),
		.duration_ns = r->duration_ns, .cpus = r->cpus,
	};
	r->overhead = cost;
}

#endif
