// SPDX-License-Identifier: BSD-2-Clause
/* Rows to reports and single events. The file may be anybody's: what is not as save.c writes it is damage. */
#include "record/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"

#ifdef HAVE_SQLITE

#define MOST_FRAMES 3072        /* of a stack */

/* One reading: of the file's tables what is asked for, a report at a time. */
struct reading {
	struct store *s;
	const struct store_reader *reader;
	sqlite3_stmt **rows;    /* of each table, prepared when it is needed */
	s64 *position;          /* of each row of the report that is being read */
	size_t room;
};

/*
 * --- heads -------------------------------------------------------------------------------------
 */

/* Texts stand escaped in the head: as they were, from here on. */
static void undo_texts(json_t *o)
{
	const char *name;
	json_t *v;
	void *next;

	json_object_foreach_safe(o, next, name, v) {
		char *text;

		if (json_is_object(v))
			undo_texts(v);
		if (!json_is_string(v))
			continue;
		text = strdup(json_string_value(v));
		if (!text)
			continue;
		escape_undo(text);
		json_string_set_nocheck(v, text);
		free(text);
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

/* A copy of the store's, whose contents are there until that is closed. */
static int find_head(struct store *s, s64 id, struct store_head *head)
{
	sqlite3_stmt *find;
	struct store_head *larger;
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
	larger = json_is_object(json) ? realloc(s->head, (s->nheads + 1) * sizeof(*larger)) : NULL;
	if (!larger) {
		err = json_is_object(json) ? -ENOMEM : -EUCLEAN;
		json_decref(json);
		return err;
	}
	undo_texts(json);
	s->head = larger;
	s->head[s->nheads] = (struct store_head){ .id = id, .json = json };
	err = read_bounds(&s->head[s->nheads]);
	*head = s->head[s->nheads++];
	return err;
}

static const char *text_in(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static u64 number_in(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	return json_is_real(v) ? (u64)fmax(json_real_value(v), 0) : (u64)json_integer_value(v);
}

static bool flag_in(const json_t *o, const char *name)
{
	return json_is_true(json_object_get(o, name));
}

static enum unit unit_in(const json_t *o)
{
	const char *name = text_in(o, "unit");
	enum unit unit;

	for (unit = UNIT_COUNT; unit < UNIT_BYTES; unit++)
		if (name && !strcmp(name, unit_name(unit)))
			break;
	return name ? unit : UNIT_COUNT;
}

static void read_head(struct report *r, const json_t *head)
{
	r->source = text_in(head, "source");
	r->caveat = text_in(head, "caveat");
	r->value = text_in(head, "value");
	r->nothing = text_in(head, "nothing");
	r->left_out_by = text_in(head, "left_out_by");
	r->kernel = text_in(head, "kernel");
	r->cpus = number_in(head, "cpus");
	r->unit = unit_in(head);
	r->table = flag_in(head, "table");
	r->standing = flag_in(head, "standing");
	r->has_events = flag_in(head, "has_events");
	r->has_losses = flag_in(head, "has_losses");
	r->has_max_keys = flag_in(head, "has_max_keys");
	r->is_sampled = flag_in(head, "is_sampled");
}

static void read_counters(struct loss_counters *c, const json_t *o)
{
	size_t i;

	c->filtered = number_in(o, "filtered");
	c->unaccounted = number_in(o, "unaccounted");
	c->corrected = number_in(o, "corrected");
	c->begun_before = number_in(o, "begun_before");
	c->summed = number_in(o, "summed");
	for (i = 0; i < LOSS_REASONS; i++)
		c->lost[i] = number_in(o, loss_name(i));
}

static void read_figures(struct report *r, struct report_overhead *cost, const json_t *o)
{
	r->hidden = number_in(o, "hidden");
	r->throttled = number_in(o, "throttled");
	r->left_out = number_in(o, "left_out");
	r->chosen = number_in(o, "chosen");
	if (r->stacks)
		r->stacks->total = number_in(o, "total");
	if (!json_object_get(o, "map_bytes"))
		return;
	*cost = (struct report_overhead){
		.ns = number_in(o, "programs_ns"), .runs = number_in(o, "programs_runs"),
		.own_ns = number_in(o, "process_ns"), .map_bytes = number_in(o, "map_bytes"),
		.duration_ns = r->duration_ns, .cpus = r->cpus,
	};
	r->overhead = cost;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/* The rows of a report in a table: _n and what is behind it. Reset before it is used again. */
static sqlite3_stmt *rows_of(struct reading *reading, size_t table, s64 report, int *err)
{
	struct store *s = reading->s;
	char *text = NULL;

	if (!reading->rows[table]) {
		if (asprintf(&text, "SELECT * FROM %s WHERE _report = ? ORDER BY _n", s->shape[table].table) < 0) {
			*err = -ENOMEM;
			return NULL;
		}
		*err = store__prepare(s, &reading->rows[table], text);
		free(text);
	}
	if (!*err)
		s->sql->bind_int64(reading->rows[table], 1, report);
	return *err ? NULL : reading->rows[table];
}

/* Its text is new memory. */
static int read_field(struct store *s, sqlite3_stmt *row, int index, const struct shape_column *c, struct field *f)
{
	*f = (struct field){
		.name = c->name, .kind = c->kind == FIELD_NONE ? FIELD_NUMBER : c->kind, .decimals = c->decimals,
		.label = c->label, .machine = c->machine, .word = c->word, .adds_up = c->adds_up,
	};
	switch (s->sql->column_type(row, index)) {
	case SQLITE_TEXT:
		f->text = store__column_text(s, row, index);
		f->kind = FIELD_NUMBER;
		f->decimals = 0;
		return f->text ? 0 : -ENOMEM;
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		if (f->kind == FIELD_REAL)
			f->real = s->sql->column_double(row, index);
		else
			f->number = s->sql->column_int64(row, index);
		return 0;
	default:
		f->kind = FIELD_NONE;
		return 0;
	}
}

/* Cells from column first on. */
static int read_cells(struct store *s, const struct shape *shape, sqlite3_stmt *row, int first, struct report_row *out)
{
	struct field f;
	size_t i;
	int err = 0;

	for (i = 0; i < shape->n && !err; i++) {
		err = read_field(s, row, first + i, &shape->column[i], &f);
		if (!err)
			err = report_row__add_field(out, &f);
		if (err)
			free(f.text);
	}
	return err;
}

static int keep_position(struct reading *reading, size_t i, s64 position)
{
	s64 *larger;

	if (i >= reading->room) {
		larger = realloc(reading->position, 2 * (i + 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		reading->position = larger;
		reading->room = 2 * (i + 1);
	}
	reading->position[i] = position;
	return 0;
}

static int read_row(struct reading *reading, const struct shape *shape, sqlite3_stmt *row, struct report *r)
{
	struct store *s = reading->s;
	struct report_row out = {};
	int err = keep_position(reading, r->nrows, s->sql->column_int64(row, 1));

	if (!err)
		err = read_cells(s, shape, row, 2, &out);
	return report__end_row(r, &out, err);
}

struct placed_row {
	s64 position;
	struct report_row row;
};

static int by_position(const void *a, const void *b)
{
	s64 x = ((const struct placed_row *)a)->position, y = ((const struct placed_row *)b)->position;

	return x < y ? -1 : x > y;
}

/* The rows of several tables stand in the order they had. */
static int sort_rows(const struct reading *reading, struct report *r)
{
	struct placed_row *placed = calloc(r->nrows ?: 1, sizeof(*placed));
	size_t i;

	if (!placed)
		return -ENOMEM;
	for (i = 0; i < r->nrows; i++)
		placed[i] = (struct placed_row){ reading->position[i], r->row[i] };
	qsort(placed, r->nrows, sizeof(*placed), by_position);
	for (i = 0; i < r->nrows; i++)
		r->row[i] = placed[i].row;
	free(placed);
	return 0;
}

/*
 * --- histograms --------------------------------------------------------------------------------
 */

static int read_buckets(struct histogram *h, const char *text)
{
	json_t *list = text ? json_loads(text, 0, NULL) : NULL;
	size_t n = json_array_size(list), i;
	u64 count = 0;

	if (!json_is_array(list) || n > (1 << 20))
		goto damaged;
	h->bucket = calloc(n ?: 1, sizeof(*h->bucket));
	if (!h->bucket) {
		json_decref(list);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		const json_t *pair = json_array_get(list, i);
		s64 index = json_integer_value(json_array_get(pair, 0));
		u64 bucket = json_integer_value(json_array_get(pair, 1));

		if (json_array_size(pair) != 2 || index < 0 || index > UINT32_MAX || !bucket ||
		    (i && index <= h->bucket[i - 1].index) || (!h->bound && index >= HIST_BUCKETS) ||
		    (h->bound && index > (s64)h->nbounds))
			goto damaged;
		h->bucket[i] = (struct histogram_bucket){ index, bucket };
		count += bucket;
	}
	h->nbuckets = n;
	json_decref(list);
	return count == h->count ? 0 : -EUCLEAN;
damaged:
	json_decref(list);
	return -EUCLEAN;
}

static __int128 sum_of(struct store *s, sqlite3_stmt *row, int index)
{
	const char *p;
	__int128 sum = 0;
	bool negative;

	if (s->sql->column_type(row, index) != SQLITE_TEXT)
		return s->sql->column_int64(row, index);
	p = (const char *)s->sql->column_text(row, index);
	negative = *p == '-';
	for (p += negative; *p >= '0' && *p <= '9' && sum < (__int128)1 << 120; p++)
		sum = 10 * sum + (*p - '0');
	return negative ? -sum : sum;
}

static int read_group(struct store *s, const struct shape *shape, sqlite3_stmt *row, struct report *r,
		      const struct store_head *head)
{
	struct report_row key = {};
	struct report_group g = {
		.hist = {
			.count = s->sql->column_int64(row, 2), .sum = sum_of(s, row, 3),
			.min = s->sql->column_int64(row, 4), .max = s->sql->column_int64(row, 5),
			.min_exact = s->sql->column_int64(row, 6) & 1, .max_exact = s->sql->column_int64(row, 6) & 2,
			.bound = head->bound, .nbounds = head->nbounds,
		},
	};
	int err = read_cells(s, shape, row, 10, &key);

	g.key = key.cell;
	g.nkey = key.ncells;
	if (!err)
		err = read_buckets(&g.hist, (const char *)s->sql->column_text(row, 9));
	if (!err)
		return report__add_group(r, &g);
	report_group__free(&g);
	return err;
}

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

static bool same_frame(const void *array, u32 index, const void *key)
{
	return ((const struct store_frame *)array)[index].id == *(const s64 *)key;
}

static char *text_or_null(struct store *s, sqlite3_stmt *row, int index)
{
	char *text = store__column_text(s, row, index);

	if (text && *text)
		return text;
	free(text);
	return NULL;
}

static int load_frame(struct store *s, s64 id, struct store_frame *f)
{
	sqlite3_stmt *find;
	s64 kind;
	int err = store__prepare(s, &find, "SELECT name, module, offset, kind, file, line FROM frame WHERE id = ?");

	if (err)
		return err;
	s->sql->bind_int64(find, 1, id);
	err = s->sql->step(find) == SQLITE_ROW ? 0 : -EUCLEAN;
	kind = err ? 0 : s->sql->column_int64(find, 3);
	if (!err && (kind < 0 || kind >= FRAME_KINDS))
		err = -EUCLEAN;
	if (!err) {
		*f = (struct store_frame){
			.id = id, .name = text_or_null(s, find, 0), .module = text_or_null(s, find, 1),
			.file = text_or_null(s, find, 4),
		};
		f->frame = (struct report_frame){
			.name = f->name, .module = f->module, .file = f->file, .kind = kind,
			.offset = s->sql->column_int64(find, 2), .line = s->sql->column_int64(find, 5),
		};
	}
	s->sql->finalize(find);
	return err;
}

/* Its index in the store. */
static int find_frame(struct store *s, s64 id, u32 *index)
{
	u64 hash = table_hash(0, &id, sizeof(id));
	s64 there = table__find(&s->frames, hash, same_frame, s->frame, &id);
	struct store_frame *larger;
	int err;

	*index = there;
	if (there >= 0)
		return 0;
	if (!(s->nframes & (s->nframes - 1))) {
		larger = realloc(s->frame, (2 * s->nframes ?: 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		s->frame = larger;
	}
	err = load_frame(s, id, &s->frame[s->nframes]);
	if (!err)
		err = table__add(&s->frames, hash, s->nframes);
	*index = s->nframes;
	s->nframes += !err;
	return err;
}

/* Outermost first; the caller frees what is in out. */
static int load_stack(struct store *s, s64 id, struct report_stack *out)
{
	u32 frame[MOST_FRAMES], n = 0, i;
	sqlite3_stmt *find;
	const char *p = NULL;
	char *end;
	int err = store__prepare(s, &find, "SELECT frames FROM stack WHERE id = ?");

	if (err)
		return err;
	s->sql->bind_int64(find, 1, id);
	if (s->sql->step(find) == SQLITE_ROW)
		p = (const char *)s->sql->column_text(find, 0);
	if (!p)
		err = -EUCLEAN;
	while (!err && *p && n < MOST_FRAMES) {
		s64 number = strtoll(p, &end, 10);

		err = end == p ? -EUCLEAN : find_frame(s, number, &frame[n++]);
		p = *end ? end + 1 : end;
	}
	s->sql->finalize(find);
	if (err)
		return err;
	out->frame = calloc(n ?: 1, sizeof(*out->frame));
	out->place = calloc(n ?: 1, sizeof(*out->place));
	if (!out->frame || !out->place)
		return -ENOMEM;
	out->nframes = n;
	for (i = 0; i < n; i++) {
		out->frame[i] = frame[i];
		out->place[i] = (struct report_place){
			.address = FRAME_PLACES,
			.offset = s->frame[frame[i]].name ? FRAME_PLACES : s->frame[frame[i]].frame.offset,
		};
	}
	return 0;
}

static bool same_cells(const struct report_row *a, const struct report_row *b)
{
	size_t i;

	if (a->ncells != b->ncells)
		return false;
	for (i = 0; i < a->ncells; i++) {
		const struct field *x = &a->cell[i], *y = &b->cell[i];

		if (strcmp(x->name, y->name) || !x->text != !y->text || x->number != y->number ||
		    (x->text && strcmp(x->text, y->text)))
			return false;
	}
	return true;
}

/* Takes key over. Its index among those of the report. */
static int find_key(struct report_stacks *stacks, struct report_row *key, u32 *index)
{
	struct report_row *larger;

	for (*index = stacks->nkeys; *index; --*index)
		if (same_cells(&stacks->key[*index - 1], key)) {
			report_row__free(key);
			--*index;
			return 0;
		}
	larger = realloc(stacks->key, (stacks->nkeys + 1) * sizeof(*larger));
	if (!larger) {
		report_row__free(key);
		return -ENOMEM;
	}
	stacks->key = larger;
	stacks->key[stacks->nkeys] = *key;
	*index = stacks->nkeys++;
	return 0;
}

static int read_stack(struct store *s, const struct shape *shape, sqlite3_stmt *row, struct report_stacks *stacks)
{
	struct report_stack stack = { .value = s->sql->column_int64(row, 2) }, *larger;
	struct report_row key = {};
	int err = read_cells(s, shape, row, 4, &key);

	if (err)
		report_row__free(&key);
	else
		err = find_key(stacks, &key, &stack.key);
	if (!err)
		err = load_stack(s, s->sql->column_int64(row, 3), &stack);
	if (!err && !(stacks->n & (stacks->n - 1))) {
		larger = realloc(stacks->stack, (2 * stacks->n ?: 1) * sizeof(*larger));
		if (larger)
			stacks->stack = larger;
		else
			err = -ENOMEM;
	}
	if (err) {
		free(stack.frame);
		free(stack.place);
		return err;
	}
	stacks->stack[stacks->n++] = stack;
	return 0;
}

static int new_stacks(struct report *r, const json_t *head)
{
	const json_t *o = json_object_get(head, "stacks");

	if (!o)
		return 0;
	r->stacks = calloc(1, sizeof(*r->stacks));
	if (!r->stacks)
		return -ENOMEM;
	r->stacks->unit = text_in(o, "unit") ?: "";
	r->stacks->type = text_in(o, "type");
	r->stacks->period = number_in(o, "period");
	r->stacks->callee_first = flag_in(o, "callee_first");
	return 0;
}

/*
 * --- reports -----------------------------------------------------------------------------------
 */

static int read_table(struct reading *reading, size_t table, s64 id, struct report *r,
		      const struct store_head *head)
{
	struct store *s = reading->s;
	const struct shape *shape = &s->shape[table];
	int err = 0, result = SQLITE_ROW;
	sqlite3_stmt *row = rows_of(reading, table, id, &err);

	while (!err && (result = s->sql->step(row)) == SQLITE_ROW) {
		if (shape->kind == SHAPE_ROWS)
			err = read_row(reading, shape, row, r);
		else if (shape->kind == SHAPE_HISTOGRAMS)
			err = read_group(s, shape, row, r, head);
		else if (r->stacks)
			err = read_stack(s, shape, row, r->stacks);
	}
	if (row)
		s->sql->reset(row);
	return err ?: store__error(result);
}

static json_t *json_column(struct store *s, sqlite3_stmt *row, int index)
{
	const char *text = (const char *)s->sql->column_text(row, index);

	return text ? json_loads(text, 0, NULL) : NULL;
}

/* The columns of a report, as in the query of store__read(). */
enum { COLUMN_ID, COLUMN_MEASUREMENT, COLUMN_TOOL, COLUMN_LINE, COLUMN_HEAD, COLUMN_START, COLUMN_DURATION, COLUMN_EVENTS,
       COLUMN_COUNTERS, COLUMN_FIGURES, COLUMN_INTERVAL, COLUMN_INTERVAL_START, COLUMN_INTERVAL_DURATION, COLUMN_RECORDER };

static int read_report(struct reading *reading, sqlite3_stmt *row)
{
	struct store *s = reading->s;
	s64 measurement = s->sql->column_int64(row, COLUMN_MEASUREMENT);
	char *tool = store__column_text(s, row, COLUMN_TOOL), *line = store__column_text(s, row, COLUMN_LINE);
	json_t *counters = json_column(s, row, COLUMN_COUNTERS), *figures = json_column(s, row, COLUMN_FIGURES);
	struct report_overhead cost = {};
	struct report r = {
		.tool = tool, .command = line, .start_ns = s->sql->column_int64(row, COLUMN_START),
		.duration_ns = s->sql->column_int64(row, COLUMN_DURATION),
		.events = s->sql->column_int64(row, COLUMN_EVENTS),
	};
	struct store_head head = {};
	size_t i;
	int err = tool && line ? find_head(s, s->sql->column_int64(row, COLUMN_HEAD), &head) : -ENOMEM;

	if (!err)
		err = new_stacks(&r, head.json);
	if (!err) {
		read_head(&r, head.json);
		read_counters(&r.counters, counters);
		read_figures(&r, &cost, figures);
	}
	for (i = 0; i < s->nshapes && !err; i++)
		if (s->shape[i].measurement == measurement && s->shape[i].kind != SHAPE_LINES)
			err = read_table(reading, i, s->sql->column_int64(row, COLUMN_ID), &r, &head);
	if (!err)
		err = sort_rows(reading, &r);
	if (!err && r.stacks) {
		struct report_frame *frames = calloc(s->nframes ?: 1, sizeof(*frames));

		for (i = 0; frames && i < s->nframes; i++)
			frames[i] = s->frame[i].frame;
		r.stacks->frame = frames;
		r.stacks->nframes = s->nframes;
		err = frames ? 0 : -ENOMEM;
	}
	if (err)
		store__complain(s, err);
	else if (reading->reader->report)
		err = reading->reader->report(reading->reader->context, &r);
	if (r.stacks)
		free((void *)r.stacks->frame);
	report__free(&r);
	json_decref(counters);
	json_decref(figures);
	free(tool);
	free(line);
	return err;
}

/*
 * --- single events -----------------------------------------------------------------------------
 */

static int read_line(struct reading *reading, const struct shape *shape, sqlite3_stmt *row, const char *tool)
{
	struct store *s = reading->s;
	char *comm = store__column_text(s, row, 3), *event = store__column_text(s, row, 7);
	struct stream_field *field = calloc(shape->n ?: 1, sizeof(*field));
	struct stream_line line = {
		.time_ns = s->sql->column_int64(row, 2), .comm = comm ?: "", .pid = s->sql->column_int64(row, 4),
		.tid = s->sql->column_int64(row, 5), .cpu = s->sql->column_int64(row, 6), .event = event,
		.has_elapsed = s->sql->column_int64(row, 9) & LINE_HAS_ELAPSED,
		.elapsed_unknown = s->sql->column_type(row, 8) == SQLITE_NULL,
		.elapsed_ns = s->sql->column_int64(row, 8), .field = field, .n = shape->n,
	};
	size_t i;
	int err = field ? 0 : -ENOMEM;

	for (i = 0; i < shape->n && !err; i++) {
		err = read_field(s, row, 10 + i, &shape->column[i], &field[i].field);
		field[i].escaped = shape->column[i].escaped;
		field[i].seconds = shape->column[i].seconds;
	}
	if (!err)
		err = reading->reader->line(reading->reader->context, tool, &line);
	for (i = 0; field && i < shape->n; i++)
		free(field[i].field.text);
	free(field);
	free(comm);
	free(event);
	return err;
}

static int read_lines(struct reading *reading, sqlite3_stmt *row)
{
	struct store *s = reading->s;
	s64 measurement = s->sql->column_int64(row, COLUMN_MEASUREMENT), id = s->sql->column_int64(row, COLUMN_ID);
	char *tool = store__column_text(s, row, COLUMN_TOOL);
	int err = tool ? 0 : -ENOMEM, result;
	sqlite3_stmt *lines;
	size_t i;

	for (i = 0; i < s->nshapes && !err && reading->reader->line; i++) {
		if (s->shape[i].measurement != measurement || s->shape[i].kind != SHAPE_LINES)
			continue;
		lines = rows_of(reading, i, id, &err);
		result = SQLITE_ROW;
		while (!err && (result = s->sql->step(lines)) == SQLITE_ROW)
			err = read_line(reading, &s->shape[i], lines, tool);
		if (lines)
			s->sql->reset(lines);
		if (store__error(result))
			err = store__complain(s, store__error(result));
	}
	free(tool);
	return err;
}

/*
 * --- what is in it -----------------------------------------------------------------------------
 */

int store__extent(struct store *s, u64 *begin_ns, u64 *end_ns)
{
	s64 number;
	int err = store__number(s, "SELECT min(start_ns) FROM interval", &number);

	*begin_ns = number;
	if (!err)
		err = store__number(s, "SELECT max(start_ns + duration_ns) FROM interval", &number);
	*end_ns = number;
	return err ? store__complain(s, err) : 0;
}

static int count_lines(struct store *s, struct store_measurement *m)
{
	char *text;
	s64 n;
	size_t i;
	int err = 0;

	for (i = 0; i < s->nshapes && !err; i++) {
		if (s->shape[i].measurement != m->id || s->shape[i].kind != SHAPE_LINES)
			continue;
		if (asprintf(&text, "SELECT count(*) FROM %s", s->shape[i].table) < 0)
			return -ENOMEM;
		err = store__number(s, text, &n);
		m->lines += n;
		free(text);
	}
	return err;
}

/* Names stay in the store's heads, as texts of an object that nobody else has. */
static const char *keep_text(struct store *s, char *text)
{
	struct store_head *larger = text ? realloc(s->head, (s->nheads + 1) * sizeof(*larger)) : NULL;
	json_t *json = larger ? json_string_nocheck(text) : NULL;

	free(text);
	if (larger)
		s->head = larger;
	if (!json)
		return NULL;
	s->head[s->nheads++] = (struct store_head){ .id = -1, .json = json };
	return json_string_value(json);
}

int store__measurements(struct store *s, struct store_measurement **list, size_t *n)
{
	sqlite3_stmt *rows;
	struct store_measurement *larger, *m;
	int result = SQLITE_ROW;
	int err = store__prepare(s, &rows, "SELECT m.id, m.tool, m.line, count(r.head), min(r.start_ns), "
				 "max(r.start_ns + r.duration_ns), sum(r.duration_ns) FROM measurement m "
				 "LEFT JOIN report r ON r.measurement = m.id GROUP BY m.id ORDER BY m.id");

	*list = NULL;
	*n = 0;
	while (!err && (result = s->sql->step(rows)) == SQLITE_ROW) {
		larger = realloc(*list, (*n + 1) * sizeof(*larger));
		if (!larger) {
			err = -ENOMEM;
			break;
		}
		*list = larger;
		m = &larger[*n];
		*m = (struct store_measurement){
			.id = s->sql->column_int64(rows, 0), .tool = keep_text(s, store__column_text(s, rows, 1)),
			.command = keep_text(s, store__column_text(s, rows, 2)),
			.reports = s->sql->column_int64(rows, 3), .begin_ns = s->sql->column_int64(rows, 4),
			.end_ns = s->sql->column_int64(rows, 5), .duration_ns = s->sql->column_int64(rows, 6),
		};
		err = m->tool && m->command ? count_lines(s, m) : -ENOMEM;
		*n += !err;
	}
	s->sql->finalize(rows);
	err = err ?: store__error(result);
	return err ? store__complain(s, err) : 0;
}

u32 store__recorder(const struct store *s)
{
	return s->recorder;
}

static int end_of_interval(const struct reading *reading, u64 start_ns, u64 duration_ns)
{
	return reading->reader->end ? reading->reader->end(reading->reader->context, start_ns, duration_ns) : 0;
}

static int read_all(struct reading *reading, sqlite3_stmt *row)
{
	struct store *s = reading->s;
	s64 interval = 0;
	u64 start_ns = 0, duration_ns = 0;
	int err = 0, result = SQLITE_ROW;

	while (!err && (result = s->sql->step(row)) == SQLITE_ROW) {
		s64 here = s->sql->column_int64(row, COLUMN_INTERVAL);

		if (interval && here != interval)
			err = end_of_interval(reading, start_ns, duration_ns);
		interval = here;
		start_ns = s->sql->column_int64(row, COLUMN_INTERVAL_START);
		duration_ns = s->sql->column_int64(row, COLUMN_INTERVAL_DURATION);
		s->recorder = s->sql->column_int64(row, COLUMN_RECORDER);
		if (!err)
			err = s->sql->column_type(row, COLUMN_HEAD) == SQLITE_NULL ? read_lines(reading, row) :
										     read_report(reading, row);
	}
	if (!err && store__error(result))
		err = store__complain(s, store__error(result));
	if (!err && interval)
		err = end_of_interval(reading, start_ns, duration_ns);
	return err;
}

int store__read(struct store *s, const struct store_window *window, s64 measurement, const struct store_reader *reader)
{
	struct reading reading = { .s = s, .reader = reader, .rows = calloc(s->nshapes ?: 1, sizeof(*reading.rows)) };
	sqlite3_stmt *row = NULL;
	size_t i;
	int err;

	if (!reading.rows)
		return -ENOMEM;
	err = store__prepare(s, &row, "SELECT r.id, r.measurement, m.tool, m.line, r.head, r.start_ns, r.duration_ns, r.events, "
			     "r.counters, r.figures, i.id, i.start_ns, i.duration_ns, c.pid FROM interval i "
			     "JOIN report r ON r.interval = i.id JOIN measurement m ON m.id = r.measurement "
			     "LEFT JOIN recording c ON c.id = i.recording "
			     "WHERE i.start_ns + i.duration_ns / 2 >= ?1 AND i.start_ns + i.duration_ns / 2 < ?2 "
			     "AND (?3 = 0 OR m.id = ?3) ORDER BY i.id, r.id");
	if (err) {
		store__complain(s, err);
	} else {
		s->sql->bind_int64(row, 1, window->from_ns > INT64_MAX ? INT64_MAX : window->from_ns);
		s->sql->bind_int64(row, 2, window->to_ns > INT64_MAX ? INT64_MAX : window->to_ns);
		s->sql->bind_int64(row, 3, measurement);
		err = read_all(&reading, row);
	}
	s->sql->finalize(row);
	for (i = 0; i < s->nshapes; i++)
		s->sql->finalize(reading.rows[i]);
	free(reading.rows);
	free(reading.position);
	return err;
}

#endif /* HAVE_SQLITE */
