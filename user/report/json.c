// SPDX-License-Identifier: BSD-2-Clause
/* Reports as JSON, one object per line (docs/json.md). Numbers are integers in the base unit. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "report/escape.h"
#include "report/json_value.h"
#include "report/listing.h"
#include "report/report.h"

/* Converts a histogram value: signed if the histogram has bounds. */
static json_t *value_of(const struct histogram *h, u64 value)
{
	return h->bound ? json_integer((s64)value) : json_of_number(value);
}

/* Converts a sum. Sums beyond 64 bits become reals, exact to 53 bits. */
static json_t *sum_of(const struct histogram *h)
{
	return wide_fits(h->sum, h->bound) ? value_of(h, h->sum) : json_real((double)h->sum);
}

/* Returns null for the open end of the first or last bucket of a histogram with bounds. */
static json_t *bucket_end(const struct histogram *h, bool open, u64 value)
{
	return h->bound && open ? json_null() : value_of(h, value);
}

static json_t *buckets(const struct histogram *h)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < h->nbuckets; i++) {
		u32 index = h->bucket[i].index;
		json_t *b = json_array();

		json_array_append_new(b, bucket_end(h, !index, histogram__first(h, index)));
		json_array_append_new(
			b, bucket_end(h, index == h->nbounds, histogram__last(h, index)));
		json_array_append_new(b, json_of_number(h->bucket[i].count));
		json_array_append_new(list, b);
	}
	return list;
}

static json_t *group(const struct report_group *g)
{
	const struct histogram *h = &g->hist;
	json_t *o = json_object();
	size_t i;

	json_object_set_new(o, "key", json_of_fields(g->key, g->nkey));
	json_object_set_new(o, "count", json_of_number(h->count));
	json_object_set_new(o, "sum", sum_of(h));
	json_object_set_new(o, "min", value_of(h, h->min));
	json_object_set_new(o, "avg", value_of(h, histogram__average(h)));
	json_object_set_new(o, "max", value_of(h, h->max));
	if (h->count && !h->min_exact)
		json_object_set_new(o, "min_exact", json_false());
	if (h->count && !h->max_exact)
		json_object_set_new(o, "max_exact", json_false());
	for (i = 0; i < ARRAY_SIZE(report_percentiles) && !h->bound; i++)
		json_object_set_new(
			o, report_percentiles[i].json,
			json_of_number(histogram__percentile(h, report_percentiles[i].per_10k)));
	json_object_set_new(o, "buckets", buckets(h));
	return o;
}

static json_t *offset(u64 value)
{
	return value == FRAME_PLACES ? json_null() : json_of_number(value);
}

/* Writes an address as a string: kernel addresses exceed the exact range of JSON integers. */
static json_t *address(u64 value)
{
	return value == FRAME_PLACES ? json_null() : json_sprintf("0x%llx", value);
}

static json_t *frame(const struct report_frame *f, const struct report_place *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", f->name ? json_of_text(f->name) : json_null());
	json_object_set_new(o, "module", f->module ? json_of_text(f->module) : json_null());
	json_object_set_new(o, "offset", offset(p->offset));
	json_object_set_new(o, "addr", address(p->address));
	if (f->kind == FRAME_INLINED)
		json_object_set_new(o, "inlined", json_true());
	if (f->kind == FRAME_PYTHON)
		json_object_set_new(o, "python", json_true());
	if (f->file)
		json_object_set_new(o, "file", json_of_text(f->file));
	if (f->file && f->line)
		json_object_set_new(o, "line", json_of_number(f->line));
	return o;
}

static json_t *stack(const struct report_stacks *all, const struct report_stack *s)
{
	const struct report_row *key = &all->key[s->key];
	json_t *o = json_object(), *frames = json_array();
	u32 i;

	json_object_set_new(o, "key", json_of_fields(key->cell, key->ncells));
	for (i = 0; i < s->nframes; i++)
		json_array_append_new(frames, frame(&all->frame[s->frame[i]], &s->place[i]));
	json_object_set_new(o, "frames", frames);
	json_object_set_new(o, "value", json_of_number(s->value));
	return o;
}

/* Lists the events of a report of several events. */
static json_t *events_of(const struct report_stacks *s)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		const struct report_event *e = &s->event[i];

		o = json_object();
		json_object_set_new(o, "event", json_of_text(e->name));
		json_object_set_new(o, "unit", json_of_text(e->unit));
		json_object_set_new(o, "total", json_of_number(e->total));
		json_object_set_new(o, "missed", json_of_number(e->missed));
		if (e->chosen || e->left_out)
			json_object_set_new(o, "left_out", json_of_number(e->left_out));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *stacks(const struct report_stacks *all)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < all->n; i++)
		json_array_append_new(list, stack(all, &all->stack[i]));
	return list;
}

static json_t *instruction(const struct listing *l, const struct listing_line *i)
{
	json_t *o = json_object(), *target = json_null();

	json_object_set_new(o, "offset", json_of_number(i->offset));
	json_object_set_new(o, "addr", address(l->address + i->offset));
	json_object_set_new(o, "size", json_of_number(i->size));
	json_object_set_new(o, "mnemonic", i->size ? json_of_text(i->mnemonic) : json_null());
	json_object_set_new(o, "operands", i->size ? json_of_text(i->operands) : json_null());
	if (i->has_target) {
		target = json_object();
		json_object_set_new(target, "name",
				    i->target_name ? json_of_text(i->target_name) : json_null());
		json_object_set_new(target, "offset", json_of_number(i->target_offset));
		json_object_set_new(target, "addr", address(i->target));
	}
	json_object_set_new(o, "target", target);
	json_object_set_new(o, "file", i->file ? json_of_text(i->file) : json_null());
	json_object_set_new(o, "line", i->file ? json_of_number(i->line) : json_null());
	json_object_set_new(o, "value", json_of_number(i->count));
	return o;
}

static json_t *listings(const struct report_listings *all)
{
	json_t *list = json_array(), *o, *lines;
	const struct listing *l;
	size_t i;

	for (l = all->listing; l < all->listing + all->n; l++) {
		o = json_object();
		lines = json_array();
		json_object_set_new(o, "name", json_of_text(l->name));
		json_object_set_new(o, "module", l->module ? json_of_text(l->module) : json_null());
		json_object_set_new(o, "addr", address(l->address));
		json_object_set_new(o, "size", json_of_number(l->size));
		json_object_set_new(o, "value", json_of_number(l->count));
		json_object_set_new(o, "why", l->why ? json_of_text(l->why) : json_null());
		for (i = 0; i < l->n; i++)
			json_array_append_new(lines, instruction(l, &l->line[i]));
		json_object_set_new(o, "instructions", lines);
		json_array_append_new(list, o);
	}
	return list;
}

/* Lists all loss reasons of a kind. */
static json_t *losses(const struct loss_counters *c, enum loss_kind kind)
{
	json_t *o = json_object();
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		if (loss_kind(i) == kind)
			json_object_set_new(o, loss_name(i), json_of_number(c->lost[i]));
	return o;
}

static void put_losses(json_t *o, const struct loss_counters *c)
{
	enum loss_kind kind;

	for (kind = 0; kind < LOSS_KINDS; kind++)
		json_object_set_new(o, loss_kind_name(kind), losses(c, kind));
}

static json_t *program(const struct report_program *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_of_text(p->name));
	json_object_set_new(o, "runs", json_of_number(p->runs));
	json_object_set_new(o, "ns", json_of_number(p->ns));
	return o;
}

static json_t *overhead(const struct report_overhead *cost)
{
	json_t *o = json_object(), *programs = json_array();
	size_t i;

	for (i = 0; i < cost->nprograms; i++)
		json_array_append_new(programs, program(&cost->program[i]));
	json_object_set_new(o, "programs", programs);
	json_object_set_new(o, "runs", json_of_number(cost->runs));
	json_object_set_new(o, "ns", json_of_number(cost->ns));
	json_object_set_new(o, "cpu_percent", json_real(overhead_percent(cost)));
	if (cost->measured_ns)
		json_object_set_new(o, "measured_ns", json_of_number(cost->measured_ns));
	json_object_set_new(o, "own_ns", json_of_number(cost->own_ns));
	if (cost->start_ns)
		json_object_set_new(o, "start_ns", json_of_number(cost->start_ns));
	json_object_set_new(o, "map_bytes", json_of_number(cost->map_bytes));
	if (cost->budget)
		json_object_set_new(o, "budget_percent", json_real(cost->budget));
	if (cost->over_budget)
		json_object_set_new(o, "over_budget_percent", json_real(cost->over_budget));
	return o;
}

/* Lists the units of columns whose cells are all times or all sizes. */
static json_t *units(const struct report_row *row, size_t n)
{
	json_t *all = json_object(), *was;
	const char *name, *unit;
	size_t i, k;
	void *next;

	for (i = 0; i < n; i++)
		for (k = 0; k < row[i].ncells; k++) {
			const struct field *f = &row[i].cell[k];

			if (f->text || f->kind == FIELD_NONE)
				continue;
			unit = unit_name(field_unit(f));
			was = json_object_get(all, f->name);
			if (was && strcmp(json_string_value(was), unit))
				unit = unit_name(UNIT_COUNT);
			json_object_set_new(all, f->name, json_string(unit));
		}
	json_object_foreach_safe(all, next, name, was)
		if (!strcmp(json_string_value(was), unit_name(UNIT_COUNT)))
			json_object_del(all, name);
	return all;
}

/* Adds the roles of all columns. Rows of different tables may have different columns. */
static void add_columns(json_t *all, const struct field *f, size_t n)
{
	json_t *o;
	size_t i;

	for (i = 0; i < n; i++) {
		if (json_object_get(all, f[i].name))
			continue;
		o = json_object();
		json_put_role(o, f[i].role, f[i].of, f[i].per);
		json_object_set_new(all, f[i].name, o);
	}
}

static json_t *columns(const struct report *r)
{
	json_t *all = json_object();
	size_t i;

	for (i = 0; i < r->nrows; i++)
		add_columns(all, r->row[i].cell, r->row[i].ncells);
	for (i = 0; i < r->ngroups; i++)
		add_columns(all, r->group[i].key, r->group[i].nkey);
	for (i = 0; r->stacks && i < r->stacks->nkeys; i++)
		add_columns(all, r->stacks->key[i].cell, r->stacks->key[i].ncells);
	return all;
}

/* Omits the member if there are no columns (no row, or a histogram without a key). */
static void put_columns(json_t *o, const struct report *r)
{
	json_t *all = columns(r);

	if (json_object_size(all))
		json_object_set(o, "columns", all);
	json_decref(all);
}

static json_t *pair_of(const u64 number[2])
{
	json_t *list = json_array();

	json_array_append_new(list, json_of_number(number[0]));
	json_array_append_new(list, json_of_number(number[1]));
	return list;
}

static void put_verdict(json_t *o, const struct report_verdict *v)
{
	json_object_set_new(o, "verdict", json_of_text(v->text));
	json_object_set_new(o, "tested", json_of_number(v->tested));
	json_object_set_new(o, "different", json_of_number(v->different));
	json_object_set_new(o, "least_percent", json_real(v->least_percent));
	json_object_set_new(o, "reach_percent", isfinite(v->reach_percent) ? json_real(v->reach_percent) : json_null());
	json_object_set_new(o, "intervals", pair_of(v->intervals));
	json_object_set_new(o, "block", pair_of(v->block));
}

static void set_header(json_t *o, const struct report *r)
{
	json_object_set_new(o, "tool", json_of_text(r->tool));
	if (r->command)
		json_object_set_new(o, "command", json_of_text(r->command));
	if (r->kernel)
		json_object_set_new(o, "kernel", json_of_text(r->kernel));
	if (r->cpus)
		json_object_set_new(o, "cpus", json_of_number(r->cpus));
	if (r->start_ns) {
		json_object_set_new(o, "start_ns", json_of_number(r->start_ns));
		json_object_set_new(o, "start", json_of_moment(r->start_ns));
		json_object_set_new(o, "duration_ns", json_of_number(r->duration_ns));
	}
	if (r->measured_ns)
		json_object_set_new(o, "measured_ns", json_of_number(r->measured_ns));
	if (r->source)
		json_object_set_new(o, "source", json_of_text(r->source));
	if (r->value) {
		json_object_set_new(o, "value", json_of_text(r->value));
		if (!r->table)
			json_object_set_new(o, "unit", json_of_text(unit_name(r->unit)));
	}
	if (r->caveat)
		json_object_set_new(o, "note", json_of_text(r->caveat));
	if (r->has_events) {
		json_object_set_new(o, "events", json_of_number(r->events));
		json_object_set_new(o, "filtered", json_of_number(r->counters.filtered));
		json_object_set_new(o, "unaccounted", json_of_number(r->counters.unaccounted));
		json_object_set_new(o, "corrected", json_of_number(r->counters.corrected));
		if (r->counters.begun_before)
			json_object_set_new(o, "begun_before", json_of_number(r->counters.begun_before));
		if (r->counters.answered)
			json_object_set_new(o, "answered", json_of_number(r->counters.answered));
		if (r->throttled)
			json_object_set_new(o, "throttled", json_of_number(r->throttled));
	}
	if (r->has_events || r->has_losses)
		put_losses(o, &r->counters);
	if (r->hidden)
		json_object_set_new(o, "hidden", json_of_number(r->hidden));
	if (r->left_out_by)
		json_object_set_new(o, "left_out", json_of_number(r->left_out));
	if (r->overhead)
		json_object_set_new(o, "overhead", overhead(r->overhead));
	if (r->verdict)
		put_verdict(o, r->verdict);
}

int write_json(struct writer *w, const struct report *r)
{
	json_t *o = json_object(), *list = json_array();
	size_t i;
	char *line;

	set_header(o, r);
	for (i = 0; i < r->ngroups; i++)
		json_array_append_new(list, group(&r->group[i]));
	for (i = 0; i < r->nrows; i++)
		json_array_append_new(list, json_of_fields(r->row[i].cell, r->row[i].ncells));
	if (r->listings) {
		json_decref(list);
		json_object_set_new(o, "functions", listings(r->listings));
	} else if (r->stacks) {
		json_decref(list);
		if (r->stacks->nevents)
			json_object_set_new(o, "event_totals", events_of(r->stacks));
		json_object_set_new(o, "stacks", stacks(r->stacks));
	} else {
		json_object_set_new(o, r->value && !r->table ? "groups" : "rows", list);
		if (r->start_ns && r->nrows && r->table)
			json_object_set_new(o, "units", units(r->row, r->nrows));
	}
	if (r->start_ns && !r->listings)
		put_columns(o, r);
	line = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (!line)
		return -ENOMEM;
	fprintf(w->file, "%s\n", line);
	free(line);
	return 0;
}
