// SPDX-License-Identifier: BSD-2-Clause
#include "record/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "report/role.h"

struct merge {
	struct report report;
	struct report_overhead cost;
	char *tool, *command;
	size_t n;
	struct table rows, groups, stacks;      /* indexes by key into the report's arrays */
	struct table keys;                      /* index by key into the stacks' keys */
	struct report_frame *frame;
	size_t frame_room;
	/* events of a report of several events; names are borrowed, like the report's texts */
	struct report_event event[REPORT_MOST_EVENTS];
};

struct merge *merge__new(void)
{
	return calloc(1, sizeof(struct merge));
}

static void forget(struct merge *m)
{
	table__free(&m->rows);
	table__free(&m->groups);
	table__free(&m->stacks);
	table__free(&m->keys);
	report__free(&m->report);
}

void merge__free(struct merge *m)
{
	if (!m)
		return;
	forget(m);
	free(m->frame);
	free(m->tool);
	free(m->command);
	free(m);
}

size_t merge__count(const struct merge *m)
{
	return m->n;
}

/*
 * --- keys --------------------------------------------------------------------------------------
 */

static bool same_value(const struct field *a, const struct field *b)
{
	if (a->text || b->text)
		return a->text && b->text && !strcmp(a->text, b->text);
	return a->kind == b->kind && a->number == b->number;
}

struct cells {
	const struct field *cell;
	size_t n;
};

static struct cells cells_of(const struct report_row *row)
{
	return (struct cells){ row->cell, row->ncells };
}

static u64 hash_field(u64 hash, const struct field *f)
{
	return f->text ? table_hash(hash, f->text, strlen(f->text) + 1) :
			 table_hash(hash, &f->number, sizeof(f->number));
}

static u64 hash_cells(const struct cells *c)
{
	u64 hash = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->cell[i].role == ROLE_KEY)
			hash = hash_field(hash, &c->cell[i]);
	return hash;
}

static bool same_cells(const struct cells *a, const struct cells *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		if (strcmp(a->cell[i].name, b->cell[i].name) || a->cell[i].role != b->cell[i].role)
			return false;
		if (a->cell[i].role == ROLE_KEY && !same_value(&a->cell[i], &b->cell[i]))
			return false;
	}
	return true;
}

static bool same_row(const void *array, u32 index, const void *key)
{
	struct cells there = cells_of(&((const struct report_row *)array)[index]);

	return same_cells(&there, key);
}

static bool same_group(const void *array, u32 index, const void *key)
{
	const struct report_group *g = &((const struct report_group *)array)[index];
	const struct cells there = { g->key, g->nkey };

	return same_cells(&there, key);
}

static int copy_cells(struct report_row *to, const struct field *f, size_t n)
{
	struct field copy;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		copy = f[i];
		copy.text = copy.text ? strdup(copy.text) : NULL;
		if (f[i].text && !copy.text)
			return -ENOMEM;
		err = report_row__add_field(to, &copy);
		if (err)
			free(copy.text);
	}
	return err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static void drop_histogram(struct report_row *row)
{
	if (row->hist)
		histogram__free(row->hist);
	free(row->hist);
	row->hist = NULL;
}

/* Drops the histogram if either row has none, because the merged one would be incomplete. */
static int merge_histogram(struct report_row *there, const struct report_row *row)
{
	if (there->hist && row->hist)
		return histogram__add(there->hist, row->hist);
	drop_histogram(there);
	return 0;
}

static int copy_histogram(struct report_row *copy, const struct report_row *row)
{
	if (!row->hist)
		return 0;
	copy->hist = calloc(1, sizeof(*copy->hist));
	return copy->hist ? histogram__add(copy->hist, row->hist) : -ENOMEM;
}

static int add_row(struct merge *m, const struct report_row *row)
{
	struct cells key = cells_of(row);
	u64 hash = hash_cells(&key);
	s64 there = table__find(&m->rows, hash, same_row, m->report.row, &key);
	struct report_row copy = {};
	int err;

	if (there >= 0) {
		err = merge_histogram(&m->report.row[there], row);
		return err ?: report_row__combine(&m->report.row[there], row);
	}
	err = copy_cells(&copy, row->cell, row->ncells);
	if (!err)
		err = copy_histogram(&copy, row);
	if (!err)
		err = table__add(&m->rows, hash, m->report.nrows);
	return report__end_row(&m->report, &copy, err);
}

/*
 * --- histograms --------------------------------------------------------------------------------
 */

/* Takes the newest labels, because a task may have changed its name. */
static int combine_key(struct field *there, const struct field *f, size_t n)
{
	struct report_row sum = { .cell = there, .ncells = n };
	const struct report_row row = { .cell = (struct field *)f, .ncells = n };

	return report_row__combine(&sum, &row);
}

static int add_group(struct merge *m, const struct report_group *g)
{
	const struct cells key = { g->key, g->nkey };
	u64 hash = hash_cells(&key);
	s64 there = table__find(&m->groups, hash, same_group, m->report.group, &key);
	struct report_group copy = {};
	struct report_row cells = {};
	int err;

	if (there >= 0) {
		err = combine_key(m->report.group[there].key, g->key, g->nkey);
		return err ?: histogram__add(&m->report.group[there].hist, &g->hist);
	}
	err = copy_cells(&cells, g->key, g->nkey);
	copy.key = cells.cell;
	copy.nkey = cells.ncells;
	copy.hist.bound = g->hist.bound;
	copy.hist.nbounds = g->hist.nbounds;
	if (!err)
		err = histogram__add(&copy.hist, &g->hist);
	if (!err)
		err = table__add(&m->groups, hash, m->report.ngroups);
	if (!err)
		return report__add_group(&m->report, &copy);
	report_group__free(&copy);
	return err;
}

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

struct stack_key {
	const struct report_stacks *stacks;
	const struct report_stack *stack;
};

static struct cells key_of_stack(const struct report_stacks *s, const struct report_stack *stack)
{
	return cells_of(&s->key[stack->key]);
}

static bool same_stack(const void *array, u32 index, const void *key)
{
	const struct report_stacks *stacks = array;
	const struct stack_key *wanted = key;
	const struct report_stack *a = &stacks->stack[index], *b = wanted->stack;
	struct cells x = key_of_stack(stacks, a), y = key_of_stack(wanted->stacks, b);

	return a->nframes == b->nframes && !memcmp(a->frame, b->frame, a->nframes * sizeof(*a->frame)) &&
	       same_cells(&x, &y);
}

/* All reports of a store use the same frame indexes, so the longest list contains all frames. */
static int take_frames(struct merge *m, const struct report_stacks *s)
{
	if (ARRAY_RESERVE(m->frame, m->frame_room, s->nframes ?: 1))
		return -ENOMEM;
	memcpy(m->frame, s->frame, s->nframes * sizeof(*m->frame));
	m->report.stacks->frame = m->frame;
	m->report.stacks->nframes = s->nframes;
	return 0;
}

/* True if the events are the same. A line has the same events in all its reports. */
static bool same_events(const struct report_stacks *a, const struct report_stacks *b)
{
	size_t i;

	for (i = 0; i < a->nevents && i < b->nevents; i++)
		if (strcmp(a->event[i].name, b->event[i].name))
			return false;
	return a->nevents == b->nevents;
}

static int begin_events(struct merge *m, const struct report_stacks *s)
{
	size_t i;

	if (s->nevents > REPORT_MOST_EVENTS)
		return -EUCLEAN;
	for (i = 0; i < s->nevents; i++) {
		m->event[i] = s->event[i];
		m->event[i].total = m->event[i].chosen = m->event[i].left_out = m->event[i].missed = 0;
	}
	m->report.stacks->event = s->nevents ? m->event : NULL;
	m->report.stacks->nevents = s->nevents;
	return 0;
}

static void add_events(struct merge *m, const struct report_stacks *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		m->event[i].total += s->event[i].total;
		m->event[i].chosen += s->event[i].chosen;
		m->event[i].left_out += s->event[i].left_out;
		m->event[i].missed += s->event[i].missed;
	}
}

static int begin_stacks(struct merge *m, const struct report_stacks *s)
{
	if (m->report.stacks)
		return 0;
	m->report.stacks = calloc(1, sizeof(*m->report.stacks));
	if (!m->report.stacks)
		return -ENOMEM;
	m->report.stacks->unit = s->unit;
	m->report.stacks->type = s->type;
	m->report.stacks->period = s->period;
	m->report.stacks->callee_first = s->callee_first;
	return begin_events(m, s);
}

static int find_key(struct merge *m, const struct report_row *row, u32 *index)
{
	struct report_stacks *to = m->report.stacks;
	const struct cells wanted = cells_of(row);
	const u64 hash = hash_cells(&wanted);
	const s64 known = table__find(&m->keys, hash, same_row, to->key, &wanted);
	struct report_row copy = {};
	int err;

	if (known >= 0) {
		*index = known;
		return 0;
	}
	if (ARRAY_ROOM(to->key, to->nkeys))
		return -ENOMEM;
	err = copy_cells(&copy, row->cell, row->ncells);
	if (!err)
		err = table__add(&m->keys, hash, to->nkeys);
	if (err) {
		report_row__free(&copy);
		return err;
	}
	to->key[to->nkeys] = copy;
	*index = to->nkeys++;
	return 0;
}

static void *copy_of(const void *from, size_t size)
{
	void *to = malloc(size ?: 1);

	return to ? memcpy(to, from, size) : NULL;
}

static int add_new_stack(struct merge *m, const struct report_stacks *s, const struct report_stack *stack, u64 hash)
{
	struct report_stacks *to = m->report.stacks;
	struct report_stack copy = *stack;
	int err = ARRAY_ROOM(to->stack, to->n);

	copy.frame = copy_of(stack->frame, stack->nframes * sizeof(*stack->frame));
	copy.place = copy_of(stack->place, stack->nframes * sizeof(*stack->place));
	if (!copy.frame || !copy.place)
		err = -ENOMEM;
	if (!err)
		err = find_key(m, &s->key[stack->key], &copy.key);
	if (!err)
		err = table__add(&m->stacks, hash, to->n);
	if (err) {
		free(copy.frame);
		free(copy.place);
		return err;
	}
	to->stack[to->n++] = copy;
	return 0;
}

static int add_to_stack(struct report_stacks *to, size_t index, const struct report_stacks *s,
			const struct report_stack *stack)
{
	const struct report_row *key = &s->key[stack->key];

	to->stack[index].value += stack->value;
	return combine_key(to->key[to->stack[index].key].cell, key->cell, key->ncells);
}

static int add_stacks(struct merge *m, const struct report_stacks *s)
{
	int err = begin_stacks(m, s);
	size_t i;

	if (!err && !same_events(m->report.stacks, s))
		err = -EUCLEAN;
	if (!err)
		err = take_frames(m, s);
	for (i = 0; i < s->n && !err; i++) {
		const struct stack_key key = { s, &s->stack[i] };
		struct cells cells = key_of_stack(s, &s->stack[i]);
		u64 hash = table_hash(hash_cells(&cells), s->stack[i].frame, s->stack[i].nframes * sizeof(u32));
		s64 there = table__find(&m->stacks, hash, same_stack, m->report.stacks, &key);

		if (there >= 0)
			err = add_to_stack(m->report.stacks, there, s, &s->stack[i]);
		else
			err = add_new_stack(m, s, &s->stack[i], hash);
	}
	if (m->report.stacks)
		m->report.stacks->total += s->total;
	if (!err)
		add_events(m, s);
	return err;
}

/*
 * --- reports -----------------------------------------------------------------------------------
 */

/* Adds up the remaining totals of the report. */
static void add_totals(struct merge *m, const struct report *r)
{
	struct report *to = &m->report;
	size_t i;

	/* One estimated interval makes the sum an estimate. All other intervals were measured throughout. */
	if (r->measured_ns || to->measured_ns)
		to->measured_ns = (to->measured_ns ?: to->duration_ns) + (r->measured_ns ?: r->duration_ns);
	to->duration_ns += r->duration_ns;
	to->events += r->events;
	to->throttled += r->throttled;
	to->left_out += r->left_out;
	to->chosen += r->chosen;
	to->hidden += r->hidden;
	to->counters.filtered += r->counters.filtered;
	to->counters.unaccounted += r->counters.unaccounted;
	to->counters.corrected += r->counters.corrected;
	to->counters.begun_before += r->counters.begun_before;
	to->counters.answered += r->counters.answered;
	to->counters.summed += r->counters.summed;
	for (i = 0; i < LOSS_REASONS; i++)
		to->counters.lost[i] += r->counters.lost[i];
	if (!r->overhead)
		return;
	m->cost.runs += r->overhead->runs;
	m->cost.ns += r->overhead->ns;
	m->cost.own_ns += r->overhead->own_ns;
	m->cost.duration_ns += r->overhead->duration_ns;
	m->cost.cpus = r->overhead->cpus;
	m->cost.map_bytes = r->overhead->map_bytes;
	to->overhead = &m->cost;
}

/* Takes the columns, which only reports without rows have. */
static int take_columns(struct report *to, const struct report *r)
{
	if (to->columns.ncells || !r->columns.ncells)
		return 0;
	to->columns_of_lines = r->columns_of_lines;
	return copy_cells(&to->columns, r->columns.cell, r->columns.ncells);
}

/* Takes constants from the last report. */
static int take_head(struct merge *m, const struct report *r)
{
	struct report *to = &m->report;

	if (!m->tool) {
		m->tool = strdup(r->tool);
		m->command = r->command ? strdup(r->command) : NULL;
		to->start_ns = r->start_ns;
	}
	if (!m->tool || (r->command && !m->command))
		return -ENOMEM;
	to->tool = m->tool;
	to->command = m->command;
	to->source = r->source;
	to->caveat = r->caveat ?: to->caveat;
	to->begun = r->begun;
	to->value = r->value;
	to->metric = r->metric;
	to->unit = r->unit;
	to->table = r->table;
	to->standing = r->standing;
	to->total_from = r->total_from ?: to->total_from;       /* 0 without rows */
	to->read_ns = r->read_ns;
	to->kernel = r->kernel;
	to->cpus = r->cpus;
	to->has_events = r->has_events;
	to->has_losses = r->has_losses;
	to->has_max_keys = r->has_max_keys;
	to->room_by = r->room_by;
	to->is_sampled = r->is_sampled;
	to->is_estimate = r->is_estimate;
	to->nothing = r->nothing;
	to->left_out_by = r->left_out_by;
	return take_columns(to, r);
}

/* Drops rows, stacks and their totals. Losses and filtered events are kept, because they cover all readings. */
static void drop_standing(struct merge *m)
{
	struct report *to = &m->report;
	size_t i;

	for (i = 0; i < to->nrows; i++)
		report_row__free(&to->row[i]);
	to->nrows = 0;
	report_stacks__free(to->stacks);
	to->stacks = NULL;
	table__free(&m->rows);
	table__free(&m->stacks);
	table__free(&m->keys);
	m->rows = m->stacks = m->keys = (struct table){};
	to->events = to->hidden = to->left_out = to->chosen = 0;
}

int merge__add(struct merge *m, const struct report *r)
{
	int err = take_head(m, r);
	size_t i;

	if (!err && r->standing)
		drop_standing(m);
	for (i = 0; i < r->nrows && !err; i++)
		err = add_row(m, &r->row[i]);
	for (i = 0; i < r->ngroups && !err; i++)
		err = add_group(m, &r->group[i]);
	if (!err && r->stacks)
		err = add_stacks(m, r->stacks);
	if (!err)
		add_totals(m, r);
	m->n += !err;
	return err;
}

/* Computes the percentiles of a table of histograms (run/tabulate.h). */
static void take_percentiles(struct report_row *row)
{
	const struct field *max = report_row__cell(row, "max");
	struct field *f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(report_percentiles) && row->hist && max; i++) {
		f = report_row__cell(row, report_percentiles[i].json);
		if (!f || f->text || max->text || max->kind == FIELD_NONE)
			continue;
		f->number = histogram__percentile(row->hist, report_percentiles[i].per_10k);
		f->kind = max->kind;
	}
}

static size_t key_cells(const struct report_row *row)
{
	size_t n = 0;

	while (n < row->ncells && field_is_key(&row->cell[n]))
		n++;
	return n;
}

int merge__total(const struct report *r, struct report_row *total)
{
	size_t nkeys = r->nrows ? key_cells(&r->row[0]) : 0, i;
	int err = report_row__begin_total(total, r, nkeys);

	for (i = 0; i < total->ncells; i++)
		total->cell[i].role = ROLE_KEY;
	if (!err && r->nrows)
		err = copy_histogram(total, &r->row[0]);
	for (i = 0; i < r->nrows && !err; i++) {
		if (i)
			err = merge_histogram(total, &r->row[i]);
		if (!err)
			err = report_row__combine(total, &r->row[i]);
	}
	if (err) {
		report_row__free(total);
		return err;
	}
	report_row__derive(total, r->duration_ns);
	take_percentiles(total);
	return 0;
}

struct report *merge__report(struct merge *m)
{
	size_t i;

	for (i = 0; i < m->report.nrows && m->n > 1 && !m->report.standing; i++) {
		report_row__derive(&m->report.row[i], m->report.duration_ns);
		take_percentiles(&m->report.row[i]);
	}
	return m->n ? &m->report : NULL;
}
