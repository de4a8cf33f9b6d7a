// SPDX-License-Identifier: BSD-2-Clause
/* Converts reports and single events to rows. */
#include "record/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"
#include "report/escape.h"
#include "report/json_value.h"

#ifdef HAVE_SQLITE

/* Suffix of a truncated text, as in stream writers. */
#define CUT "..."

/*
 * --- dictionaries ------------------------------------------------------------------------------
 */

/* Runs the statement that finds an id. Sets *id to 0 if there is none. */
static int find_id(struct store *s, sqlite3_stmt *find, s64 *id)
{
	int result = s->sql->step(find);

	*id = result == SQLITE_ROW ? s->sql->column_int64(find, 0) : 0;
	s->sql->reset(find);
	return store__error(result);
}

/* Finds a row, or adds it. Both statements take the parameters that bind() binds. */
static int find_or_add(struct store *s, enum store_statement find, enum store_statement add,
		       int (*bind)(struct store *s, sqlite3_stmt *statement, const void *what), const void *what,
		       s64 *id)
{
	int err = 0;
	sqlite3_stmt *statement = store__statement(s, find, &err);

	if (!err)
		err = bind(s, statement, what);
	if (!err)
		err = find_id(s, statement, id);
	if (err || *id)
		return err;
	statement = store__statement(s, add, &err);
	if (!err)
		err = bind(s, statement, what);
	if (!err)
		err = store__run(s, statement);
	*id = s->sql->last_insert_rowid(s->db);
	return err ?: room__added(s, 0);
}

/* Binds a text that needs no escaping. The text must remain valid until the statement has run. */
static int bind_plain(struct store *s, sqlite3_stmt *statement, const void *text)
{
	return store__error(s->sql->bind_text(statement, 1, text, -1, SQLITE_STATIC));
}

/* Longer texts are cut at this length, or before a UTF-8 sequence that extends past it. */
#define TEXT_MAX 4096

static int bind_cut(struct store *s, sqlite3_stmt *statement, int index, const char *text)
{
	size_t len = TEXT_MAX, i;
	char *cut;
	int err;

	if (!text || strnlen(text, TEXT_MAX + sizeof(CUT)) < TEXT_MAX + sizeof(CUT))
		return store__bind_text(s, statement, index, text);
	for (i = 0; i < 3 && (text[len] & 0xc0) == 0x80; i++)
		len--;
	if (asprintf(&cut, "%.*s" CUT, (int)len, text) < 0)
		return -ENOMEM;
	err = store__bind_text(s, statement, index, cut);
	free(cut);
	return err;
}

/* Binds '' for a missing text: NULL equals nothing, so the same frame would be added again each time. */
static int bind_frame(struct store *s, sqlite3_stmt *statement, const void *what)
{
	const struct report_frame *f = what;
	int err = bind_cut(s, statement, 1, f->name ?: "");

	if (!err)
		err = bind_cut(s, statement, 2, f->module ?: "");
	s->sql->bind_int64(statement, 3, f->name ? 0 : f->offset);
	s->sql->bind_int64(statement, 4, f->kind);
	if (!err)
		err = bind_cut(s, statement, 5, f->file ?: "");
	s->sql->bind_int64(statement, 6, f->line);
	return err;
}

struct names {
	const char *tool, *command;
};

static int find_measurement(struct store *s, const struct names *names, s64 *id)
{
	int err = 0;
	sqlite3_stmt *statement = store__statement(s, FIND_MEASUREMENT, &err);

	if (!err)
		err = store__bind_text(s, statement, 1, names->command);
	if (!err)
		err = find_id(s, statement, id);
	if (err || *id)
		return err;
	statement = store__statement(s, ADD_MEASUREMENT, &err);
	if (!err)
		err = store__bind_text(s, statement, 1, names->tool);
	if (!err)
		err = store__bind_text(s, statement, 2, names->command);
	if (!err)
		err = store__run(s, statement);
	*id = s->sql->last_insert_rowid(s->db);
	return err;
}

/*
 * --- cells -------------------------------------------------------------------------------------
 */

static int bind_field(struct store *s, sqlite3_stmt *statement, int index, const struct field *f)
{
	if (f->text)
		return bind_cut(s, statement, index, f->text);
	if (f->kind == FIELD_NONE || (f->kind == FIELD_REAL && !isfinite(f->real)))
		return store__error(s->sql->bind_null(statement, index));
	if (f->kind == FIELD_REAL)
		return store__error(s->sql->bind_double(statement, index, f->real));
	return store__error(s->sql->bind_int64(statement, index, (s64)f->number));
}

static struct shape_column column_of(const struct field *f)
{
	return (struct shape_column){
		.name = (char *)f->name, .kind = f->text ? FIELD_NONE : f->kind,
		.decimals = !f->text && f->kind == FIELD_REAL ? f->decimals : 0,
		.machine = f->machine, .word = f->word, .role = f->role, .of = (char *)f->of, .per = (char *)f->per,
	};
}

#define COLUMNS 128             /* far more columns than any tool has */

static struct shape *shape_of(struct store *s, s64 measurement, enum shape_kind kind, const struct field *f, size_t n,
			      int *err)
{
	struct shape_column column[COLUMNS];
	size_t i;

	*err = n > COLUMNS ? -EIO : 0;
	for (i = 0; i < n && !*err; i++)
		column[i] = column_of(&f[i]);
	return *err ? NULL : shapes__find(s, measurement, kind, column, n, err);
}

/* Adds a row. The caller has bound the row's own columns; cells follow, beginning with column first. */
static int add_row(struct store *s, struct shape *shape, s64 report, int first, const struct field *f, size_t n)
{
	int err = 0;
	size_t i;

	s->sql->bind_int64(shape->add, 1, report);
	s->sql->bind_int64(shape->add, 2, s->position++);
	for (i = 0; i < n && !err; i++)
		err = bind_field(s, shape->add, first + i, &f[i]);
	return err ?: store__run(s, shape->add) ?: room__added(s, 0);
}

/*
 * --- histograms --------------------------------------------------------------------------------
 */

static char *bucket_text(const struct histogram *h)
{
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; i < h->nbuckets; i++)
		fprintf(f, "%s[%u,%llu]", i ? "," : "[", h->bucket[i].index, h->bucket[i].count);
	fputs(h->nbuckets ? "]" : "[]", f);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Binds a sum. Sums beyond 64 bits become decimal text. */
static int bind_sum(struct store *s, sqlite3_stmt *statement, int index, __int128 sum)
{
	char text[UNITS_SPACE];

	if (sum == (s64)sum)
		return store__error(s->sql->bind_int64(statement, index, sum));
	format_digits(text, sum);
	return store__error(s->sql->bind_text(statement, index, text, -1, SQLITE_TRANSIENT));
}

/* Binds the histogram to the columns from the third to the tenth. */
static int bind_histogram(struct store *s, sqlite3_stmt *statement, const struct histogram *h)
{
	char *buckets = bucket_text(h);
	int err = buckets ? 0 : -ENOMEM;

	if (!err) {
		s->sql->bind_int64(statement, 3, h->count);
		err = bind_sum(s, statement, 4, h->sum);
		s->sql->bind_int64(statement, 5, h->min);
		s->sql->bind_int64(statement, 6, h->max);
		s->sql->bind_int64(statement, 7, h->min_exact | h->max_exact << 1);
		s->sql->bind_int64(statement, 8, h->bound ? 0 : histogram__percentile(h, 5000));
		s->sql->bind_int64(statement, 9, h->bound ? 0 : histogram__percentile(h, 9900));
		s->sql->bind_text(statement, 10, buckets, -1, SQLITE_TRANSIENT);
	}
	free(buckets);
	return err;
}

static int save_with_histogram(struct store *s, s64 measurement, s64 report, enum shape_kind kind,
			       const struct field *f, size_t n, const struct histogram *h)
{
	int err;
	struct shape *shape = shape_of(s, measurement, kind, f, n, &err);

	if (!err)
		err = bind_histogram(s, shape->add, h);
	return err ?: add_row(s, shape, report, 11, f, n);
}

static int save_group(struct store *s, s64 measurement, s64 report, const struct report_group *g)
{
	return save_with_histogram(s, measurement, report, SHAPE_HISTOGRAMS, g->key, g->nkey, &g->hist);
}

static int save_row(struct store *s, s64 measurement, s64 report, const struct report_row *row)
{
	struct shape *shape;
	int err;

	if (row->hist)
		return save_with_histogram(s, measurement, report, SHAPE_TABLES, row->cell, row->ncells, row->hist);
	shape = shape_of(s, measurement, SHAPE_ROWS, row->cell, row->ncells, &err);
	return err ?: add_row(s, shape, report, 3, row->cell, row->ncells);
}

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

static int find_frames(struct store *s, const struct report_stacks *stacks, s64 **id)
{
	size_t i;
	int err = 0;

	*id = calloc(stacks->nframes ?: 1, sizeof(**id));
	if (!*id)
		return -ENOMEM;
	for (i = 0; i < stacks->nframes && !err; i++)
		err = find_or_add(s, FIND_FRAME, ADD_FRAME, bind_frame, &stacks->frame[i], &(*id)[i]);
	return err;
}

static int find_stack(struct store *s, const struct report_stack *stack, const s64 *frame, s64 *id)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int err;
	u32 i;

	if (!f)
		return -ENOMEM;
	for (i = 0; i < stack->nframes; i++)
		fprintf(f, "%s%lld", i ? "," : "", (long long)frame[stack->frame[i]]);
	err = fclose(f) ? -ENOMEM : find_or_add(s, FIND_STACK, ADD_STACK, bind_plain, text, id);
	free(text);
	return err;
}

static int save_stack(struct store *s, s64 measurement, s64 report, const struct report_stacks *stacks, size_t i,
		      const s64 *frame)
{
	const struct report_stack *stack = &stacks->stack[i];
	const struct report_row *key = &stacks->key[stack->key];
	struct shape *shape;
	s64 id = 0;
	int err = find_stack(s, stack, frame, &id);

	if (err)
		return err;
	shape = shape_of(s, measurement, SHAPE_STACKS, key->cell, key->ncells, &err);
	if (err)
		return err;
	s->sql->bind_int64(shape->add, 3, stack->value);
	s->sql->bind_int64(shape->add, 4, id);
	return add_row(s, shape, report, 5, key->cell, key->ncells);
}

static int save_stacks(struct store *s, s64 measurement, s64 report, const struct report_stacks *stacks)
{
	s64 *frame;
	int err = find_frames(s, stacks, &frame);
	size_t i;

	for (i = 0; i < stacks->n && !err; i++)
		err = save_stack(s, measurement, report, stacks, i, frame);
	free(frame);
	return err;
}

/*
 * --- the head of a report ----------------------------------------------------------------------
 */

static void put_text(json_t *o, const char *name, const char *text)
{
	if (text)
		json_object_set_new(o, name, json_of_text(text));
}

static json_t *bounds_of(const struct histogram *h)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < h->nbounds; i++)
		json_array_append_new(list, json_integer(h->bound[i]));
	return list;
}

static json_t *events_of(const struct report_stacks *s)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		o = json_object();
		put_text(o, "name", s->event[i].name);
		put_text(o, "unit", s->event[i].unit);
		json_object_set_new(o, "period", json_of_number(s->event[i].period));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *names_of(const struct report_row *columns)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < columns->ncells; i++)
		json_array_append_new(list, json_of_text(columns->cell[i].name));
	return list;
}

/* Stores the columns of a report without rows, since no row names them. */
static void put_columns(json_t *o, const struct report *r, json_t *of_lines)
{
	bool empty = !r->nrows && !r->ngroups && (!r->stacks || !r->stacks->n);

	if (of_lines)
		json_object_set(o, "columns_of_lines", of_lines);
	else if (empty && r->columns.ncells)
		json_object_set_new(o, "columns", names_of(&r->columns));
}

/* Returns the part of a report that is the same in every interval. */
static json_t *head_of(const struct report *r, json_t *columns_of_lines)
{
	json_t *o = json_object(), *stacks;

	put_text(o, "source", r->source);
	put_text(o, "caveat", r->caveat);
	put_text(o, "begun", r->begun);
	put_text(o, "value", r->value);
	put_text(o, "metric", r->metric);
	put_text(o, "nothing", r->nothing);
	put_text(o, "left_out_by", r->left_out_by);
	put_text(o, "kernel", r->kernel);
	json_object_set_new(o, "cpus", json_integer(r->cpus));
	json_object_set_new(o, "unit", json_string(unit_name(r->unit)));
	json_put_flag(o, "table", r->table);
	json_put_flag(o, "standing", r->standing);
	if (r->total_from)
		json_object_set_new(o, "total_from", json_integer(r->total_from));
	json_put_flag(o, "has_events", r->has_events);
	json_put_flag(o, "has_losses", r->has_losses);
	json_put_flag(o, "has_max_keys", r->has_max_keys);
	put_text(o, "room_by", r->room_by);
	json_put_flag(o, "is_sampled", r->is_sampled);
	json_put_flag(o, "is_estimate", r->is_estimate);
	put_columns(o, r, columns_of_lines);
	if (r->ngroups && r->group[0].hist.bound)
		json_object_set_new(o, "bounds", bounds_of(&r->group[0].hist));
	if (r->stacks) {
		stacks = json_object();
		put_text(stacks, "unit", r->stacks->unit);
		put_text(stacks, "type", r->stacks->type);
		json_object_set_new(stacks, "period", json_of_number(r->stacks->period));
		json_put_flag(stacks, "callee_first", r->stacks->callee_first);
		if (r->stacks->nevents)
			json_object_set_new(stacks, "events", events_of(r->stacks));
		json_object_set_new(o, "stacks", stacks);
	}
	return o;
}

static void put_count(json_t *o, const char *name, u64 n)
{
	if (n)
		json_object_set_new(o, name, json_of_number(n));
}

static json_t *counters_of(const struct loss_counters *c)
{
	json_t *o = json_object();
	size_t i;

	put_count(o, "filtered", c->filtered);
	put_count(o, "unaccounted", c->unaccounted);
	put_count(o, "corrected", c->corrected);
	put_count(o, "begun_before", c->begun_before);
	put_count(o, "answered", c->answered);
	put_count(o, "summed", c->summed);
	for (i = 0; i < LOSS_REASONS; i++)
		put_count(o, loss_name(i), c->lost[i]);
	return o;
}

static json_t *figures_of_events(const struct report_stacks *s)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		o = json_object();
		put_count(o, "total", s->event[i].total);
		put_count(o, "chosen", s->event[i].chosen);
		put_count(o, "left_out", s->event[i].left_out);
		put_count(o, "missed", s->event[i].missed);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *figures_of(const struct report *r)
{
	json_t *o = json_object();

	put_count(o, "measured_ns", r->measured_ns);
	put_count(o, "read_ns", r->read_ns);
	put_count(o, "hidden", r->hidden);
	put_count(o, "throttled", r->throttled);
	put_count(o, "left_out", r->left_out);
	put_count(o, "chosen", r->chosen);
	if (r->stacks)
		put_count(o, "total", r->stacks->total);
	if (r->stacks && r->stacks->nevents)
		json_object_set_new(o, "events", figures_of_events(r->stacks));
	if (r->overhead) {
		put_count(o, "programs_ns", r->overhead->ns);
		put_count(o, "programs_runs", r->overhead->runs);
		put_count(o, "process_ns", r->overhead->own_ns);
		put_count(o, "map_bytes", r->overhead->map_bytes);
	}
	return o;
}

/* Binds an object and releases the reference. {} becomes NULL. */
static int bind_json(struct store *s, sqlite3_stmt *statement, int index, json_t *o)
{
	char *text = json_object_size(o) ? json_dumps(o, JSON_COMPACT) : NULL;
	int err = text || !json_object_size(o) ? 0 : -ENOMEM;

	if (!err)
		err = store__error(text ? s->sql->bind_text(statement, index, text, -1, SQLITE_TRANSIENT) :
					  s->sql->bind_null(statement, index));
	json_decref(o);
	free(text);
	return err;
}

static int find_head(struct store *s, const struct report *r, s64 *id)
{
	json_t *o = head_of(r, s->columns);
	char *text = json_dumps(o, JSON_COMPACT);
	int err = text ? find_or_add(s, FIND_HEAD, ADD_HEAD, bind_plain, text, id) : -ENOMEM;

	json_decref(o);
	free(text);
	return err;
}

/*
 * --- the interval ------------------------------------------------------------------------------
 */

static int begin_interval(struct store *s)
{
	int err = 0;
	sqlite3_stmt *add;

	if (s->interval)
		return 0;
	add = store__statement(s, ADD_INTERVAL, &err);
	if (err)
		return err;
	s->sql->bind_int64(add, 1, s->recording);
	err = store__run(s, add);
	s->interval = s->sql->last_insert_rowid(s->db);
	s->start_ns = UINT64_MAX;
	s->end_ns = 0;
	s->position = 0;
	s->lines_report = 0;
	return err;
}

/* r: NULL for single events. */
static int add_report(struct store *s, s64 measurement, const struct report *r, s64 *id)
{
	s64 head = 0;
	int err = r ? find_head(s, r, &head) : 0;
	sqlite3_stmt *add = err ? NULL : store__statement(s, ADD_REPORT, &err);

	if (err)
		return err;
	s->sql->bind_int64(add, 1, s->interval);
	s->sql->bind_int64(add, 2, measurement);
	if (r) {
		s->sql->bind_int64(add, 3, head);
		s->sql->bind_int64(add, 4, r->start_ns);
		s->sql->bind_int64(add, 5, r->duration_ns);
		s->sql->bind_int64(add, 6, r->events);
		err = bind_json(s, add, 7, counters_of(&r->counters));
		if (!err)
			err = bind_json(s, add, 8, figures_of(r));
	} else {
		for (int i = 3; i <= 8; i++)
			s->sql->bind_null(add, i);
	}
	if (!err)
		err = store__run(s, add);
	*id = s->sql->last_insert_rowid(s->db);
	return err;
}

static void forget_columns(struct store *s)
{
	json_decref(s->columns);
	s->columns = NULL;
}

static int save_report(struct store *s, const struct report *r)
{
	const struct names names = { r->tool, r->command ?: r->tool };
	s64 measurement, id;
	size_t i;
	int err = begin_interval(s);

	if (!err)
		err = find_measurement(s, &names, &measurement);
	if (!err && s->columns_measurement != measurement)
		forget_columns(s);
	if (!err)
		err = add_report(s, measurement, r, &id);
	forget_columns(s);
	for (i = 0; i < r->nrows && !err; i++)
		err = save_row(s, measurement, id, &r->row[i]);
	for (i = 0; i < r->ngroups && !err; i++)
		err = save_group(s, measurement, id, &r->group[i]);
	if (!err && r->stacks)
		err = save_stacks(s, measurement, id, r->stacks);
	/*
	 * Use the times of the line that is read first in each interval: a span over all lines would overlap the next
	 * interval.
	 */
	if (r->start_ns < s->start_ns) {
		s->start_ns = r->start_ns;
		s->end_ns = r->start_ns + r->duration_ns;
	}
	return err;
}

static struct shape *shape_of_line(struct store *s, s64 measurement, const struct stream_line *line, int *err)
{
	struct shape_column column[COLUMNS];
	size_t i;

	*err = line->n > COLUMNS ? -EIO : 0;
	for (i = 0; i < line->n && !*err; i++) {
		column[i] = column_of(&line->field[i].field);
		column[i].escaped = line->field[i].escaped;
		column[i].seconds = line->field[i].seconds;
	}
	return *err ? NULL : shapes__find(s, measurement, SHAPE_LINES, column, line->n, err);
}

static int bind_line_field(struct store *s, sqlite3_stmt *statement, int index, const struct stream_field *v)
{
	char *cut = NULL;
	int err;

	if (v->fault)
		return store__error(s->sql->bind_null(statement, index));
	if (!v->field.text || !v->cut)
		return bind_field(s, statement, index, &v->field);
	if (asprintf(&cut, "%s" CUT, v->field.text) < 0)
		return -ENOMEM;
	err = store__bind_text(s, statement, index, cut);
	free(cut);
	return err;
}

static int save_line(struct store *s, const struct names *names, const struct stream_line *line)
{
	struct shape *shape = NULL;
	s64 measurement;
	size_t i;
	int err = begin_interval(s);

	if (!err)
		err = find_measurement(s, names, &measurement);
	if (!err && (!s->lines_report || s->lines_measurement != measurement)) {
		err = add_report(s, measurement, NULL, &s->lines_report);
		s->lines_measurement = measurement;
	}
	if (!err)
		shape = shape_of_line(s, measurement, line, &err);
	if (err)
		return err;
	s->sql->bind_int64(shape->add, 1, s->lines_report);
	s->sql->bind_int64(shape->add, 2, s->position++);
	s->sql->bind_int64(shape->add, 3, line->time_ns);
	err = bind_cut(s, shape->add, 4, line->comm);
	s->sql->bind_int64(shape->add, 5, line->pid);
	s->sql->bind_int64(shape->add, 6, line->tid);
	s->sql->bind_int64(shape->add, 7, line->cpu);
	if (!err)
		err = bind_cut(s, shape->add, 8, line->event);
	if (line->has_elapsed && !line->elapsed_unknown)
		s->sql->bind_int64(shape->add, 9, line->elapsed_ns);
	else
		s->sql->bind_null(shape->add, 9);
	s->sql->bind_int64(shape->add, 10, line->has_elapsed ? LINE_HAS_ELAPSED : 0);
	for (i = 0; i < line->n && !err; i++)
		err = bind_line_field(s, shape->add, 11 + i, &line->field[i]);
	return err ?: store__run(s, shape->add) ?: room__added(s, 0);
}

static int save_columns(struct store *s, const struct names *names, const struct stream_line *like)
{
	struct stream_line line = *like;
	const char *name;
	size_t i;
	int err = begin_interval(s);

	line.has_stack = false;         /* stacks are not recorded */
	if (!err)
		err = find_measurement(s, names, &s->columns_measurement);
	json_decref(s->columns);
	s->columns = json_array();
	for (i = 0; (name = stream__column(&line, i)); i++)
		json_array_append_new(s->columns, json_of_text(name));
	return err;
}

/* True if the error affects only this interval, so that the next one may be written. */
static bool is_for_now(int err)
{
	return err == -ENOSPC || err == -EIO || err == -EROFS || err == -EFBIG || err == -ETXTBSY;
}

static int keep_failure(struct store *s, int err)
{
	if (!err)
		return 0;
	s->failed = err;
	return is_for_now(err) ? 0 : store__complain(s, err);
}

int store__add_report(struct store *s, const struct report *r)
{
	return s->failed ? 0 : keep_failure(s, save_report(s, r));
}

int store__add_line(struct store *s, const char *tool, const char *command, const struct stream_line *line)
{
	const struct names names = { tool, command ?: tool };

	return s->failed ? 0 : keep_failure(s, save_line(s, &names, line));
}

int store__add_columns(struct store *s, const char *tool, const char *command, const struct stream_line *like)
{
	const struct names names = { tool, command ?: tool };

	return s->failed ? 0 : keep_failure(s, save_columns(s, &names, like));
}

/*
 * --- end of the interval -----------------------------------------------------------------------
 */

static int close_interval(struct store *s)
{
	int err = 0;
	sqlite3_stmt *end = store__statement(s, END_INTERVAL, &err);

	if (err)
		return err;
	s->sql->bind_int64(end, 1, s->start_ns);
	s->sql->bind_int64(end, 2, s->end_ns - s->start_ns);
	s->sql->bind_int64(end, 3, s->interval);
	return store__run(s, end);
}

/* SQLite may have rolled back already. Tables created in the transaction no longer exist: reload them. */
static int roll_back(struct store *s)
{
	shapes__free(s);
	if (!s->sql->get_autocommit(s->db))
		store__exec(s, "ROLLBACK");
	return shapes__load(s);
}

/* Reports once that an interval cannot be written, or that the oldest ones cannot be removed. err: the reason. */
static void tell_once(struct store *s, int err)
{
	if (s->told)
		return;
	s->told = true;
	store__complain(s, err);
	diag_hint("intervals that cannot be written are left out; the recording continues");
}

/* Commits everything added since the last end, or drops it. */
static int commit(struct store *s)
{
	int err = s->failed;

	if (!err && s->interval)
		err = close_interval(s) ?: room__check(s);
	if (!err)
		err = store__exec(s, "COMMIT");
	if (!err) {
		s->progress.intervals += s->interval != 0;
		s->told = false;
	} else if (is_for_now(err)) {
		s->progress.left_out++;
		tell_once(s, err);
		err = roll_back(s);
	}
	s->interval = 0;
	s->failed = 0;
	return err;
}

int store__end_interval(struct store *s)
{
	int err = commit(s), failed = err ? 0 : room__make(s);

	if (is_for_now(failed))
		tell_once(s, failed);
	else
		err = err ?: failed;
	if (!err)
		err = store__exec(s, "BEGIN IMMEDIATE");
	if (is_for_now(err)) {
		s->failed = err;        /* the next interval has no transaction */
		err = 0;
	}
	return err ? store__complain(s, err) : 0;
}

#endif /* HAVE_SQLITE */
