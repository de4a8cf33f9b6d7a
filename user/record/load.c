// SPDX-License-Identifier: BSD-2-Clause
/*
 * Converts rows to reports and single events. The file is untrusted: anything that save.c would not write is damage.
 */
#include "record/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/diag.h"

#ifdef HAVE_SQLITE

/* Number of single events that are read at once. */
#define LINES_AT_ONCE 1024

/*
 * State of one read. A transaction ends before its report or events go to the reader: the reader may wait for a
 * terminal, and an open transaction would keep the recorder from emptying its log. Intervals written since
 * store__open() are left out. Ids of heads, frames and stacks therefore remain valid: they are reused only when no
 * interval refers to them.
 */
struct reading {
	struct store *s;
	const struct store_reader *reader;
	sqlite3_stmt **rows;    /* statement per table, prepared on first use */
	s64 *position;          /* position per row of the current report */
	size_t room;
	struct table keys;      /* keys of the current report's stacks */
};

/* A row of the query of store__read(). */
struct read_head {
	s64 report, measurement, interval;
	u64 start_ns, duration_ns;      /* of the interval */
	u32 recorder;
	bool is_lines;
	char *tool;
};

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/*
 * Selects rows of a report from a table, in the order of _n, after a position. most: maximum number of rows; -1 for
 * all. The caller resets the statement before its next use.
 */
static sqlite3_stmt *rows_of(struct reading *reading, size_t table, s64 report, s64 behind, s64 most, int *err)
{
	struct store *s = reading->s;
	char *text = NULL;

	if (!reading->rows[table]) {
		if (asprintf(&text, "SELECT * FROM %s WHERE _report = ? AND _n > ? ORDER BY _n LIMIT ?",
			     s->shape[table].table) < 0) {
			*err = -ENOMEM;
			return NULL;
		}
		*err = store__prepare(s, &reading->rows[table], text);
		free(text);
	}
	if (!*err) {
		s->sql->bind_int64(reading->rows[table], 1, report);
		s->sql->bind_int64(reading->rows[table], 2, behind);
		s->sql->bind_int64(reading->rows[table], 3, most);
	}
	return *err ? NULL : reading->rows[table];
}

static int keep_position(struct reading *reading, size_t i, s64 position)
{
	if (ARRAY_RESERVE(reading->position, reading->room, i + 1))
		return -ENOMEM;
	reading->position[i] = position;
	return 0;
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

/* Restores the order of rows from several tables. */
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

/* Reads the histogram in the columns from the third to the tenth. The caller frees the histogram, also on errors. */
static int read_histogram(struct store *s, sqlite3_stmt *row, const struct store_head *head, struct histogram *h)
{
	*h = (struct histogram){
		.count = s->sql->column_int64(row, 2), .sum = sum_of(s, row, 3),
		.min = s->sql->column_int64(row, 4), .max = s->sql->column_int64(row, 5),
		.min_exact = s->sql->column_int64(row, 6) & 1, .max_exact = s->sql->column_int64(row, 6) & 2,
		.bound = head ? head->bound : NULL, .nbounds = head ? head->nbounds : 0,
	};
	return read_buckets(h, (const char *)s->sql->column_text(row, 9));
}

static int read_row(struct reading *reading, const struct shape *shape, sqlite3_stmt *row, struct report *r)
{
	struct store *s = reading->s;
	bool of_histogram = shape->kind == SHAPE_TABLES;
	struct report_row out = {};
	int err = keep_position(reading, r->nrows, s->sql->column_int64(row, 1));

	if (!err)
		err = load__cells(s, shape, row, of_histogram ? 10 : 2, &out);
	if (!err && of_histogram) {
		out.hist = malloc(sizeof(*out.hist));
		err = out.hist ? read_histogram(s, row, NULL, out.hist) : -ENOMEM;
	}
	return report__end_row(r, &out, err);
}

static int read_group(struct store *s, const struct shape *shape, sqlite3_stmt *row, struct report *r,
		      const struct store_head *head)
{
	struct report_row key = {};
	struct report_group g = {};
	int err = load__cells(s, shape, row, 10, &key);

	g.key = key.cell;
	g.nkey = key.ncells;
	if (!err)
		err = read_histogram(s, row, head, &g.hist);
	if (!err)
		return report__add_group(r, &g);
	report_group__free(&g);
	return err;
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
	sqlite3_stmt *row = rows_of(reading, table, id, INT64_MIN, -1, &err);

	while (!err && (result = s->sql->step(row)) == SQLITE_ROW) {
		if (shape->kind == SHAPE_ROWS || shape->kind == SHAPE_TABLES)
			err = read_row(reading, shape, row, r);
		else if (shape->kind == SHAPE_HISTOGRAMS)
			err = read_group(s, shape, row, r, head);
		else if (r->stacks)
			err = load__stack(s, shape, row, r->stacks, &reading->keys);
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

/* Columns of a report, as in the query of store__read(). */
enum { COLUMN_ID, COLUMN_MEASUREMENT, COLUMN_TOOL, COLUMN_LINE, COLUMN_HEAD, COLUMN_START, COLUMN_DURATION,
       COLUMN_EVENTS, COLUMN_COUNTERS, COLUMN_FIGURES, COLUMN_INTERVAL, COLUMN_INTERVAL_START,
       COLUMN_INTERVAL_DURATION, COLUMN_RECORDER };

/*
 * Reports err and ends the transaction of a statement. Returns err, or the error of ending the transaction, which is
 * also reported.
 */
static int end_transaction(struct store *s, sqlite3_stmt *statement, int err)
{
	int end;

	if (err)
		store__complain(s, err);
	if (statement)
		s->sql->reset(statement);
	end = s->sql->get_autocommit(s->db) ? 0 : store__exec(s, "END");
	if (end && !err)
		store__complain(s, end);
	return err ?: end;
}

static int load_report(struct reading *reading, sqlite3_stmt *row, struct report *r, struct report_overhead *cost)
{
	struct store *s = reading->s;
	s64 measurement = s->sql->column_int64(row, COLUMN_MEASUREMENT);
	json_t *counters = json_column(s, row, COLUMN_COUNTERS), *figures = json_column(s, row, COLUMN_FIGURES);
	struct store_head head = {};
	size_t i;
	int err = load__head(s, s->sql->column_int64(row, COLUMN_HEAD), &head);

	r->start_ns = s->sql->column_int64(row, COLUMN_START);
	r->duration_ns = s->sql->column_int64(row, COLUMN_DURATION);
	r->events = s->sql->column_int64(row, COLUMN_EVENTS);
	if (!err)
		err = load__new_stacks(r, head.json);
	if (!err) {
		err = load__use_head(r, head.json);
		load__counters(&r->counters, counters);
		load__figures(r, cost, figures);
	}
	for (i = 0; i < s->nshapes && !err; i++)
		if (s->shape[i].measurement == measurement && s->shape[i].kind != SHAPE_LINES)
			err = read_table(reading, i, s->sql->column_int64(row, COLUMN_ID), r, &head);
	table__free(&reading->keys);
	json_decref(counters);
	json_decref(figures);
	return err ?: sort_rows(reading, r);
}

/* Gives the report all frames of the store, so that reports can be added up. */
static int set_frames(const struct store *s, struct report_stacks *stacks)
{
	struct report_frame *frames = calloc(s->nframes ?: 1, sizeof(*frames));
	size_t i;

	if (!frames)
		return -ENOMEM;
	for (i = 0; i < s->nframes; i++)
		frames[i] = s->frame[i].frame;
	stacks->frame = frames;
	stacks->nframes = s->nframes;
	return 0;
}

/* Ends the transaction, then passes the report on. */
static int read_report(struct reading *reading, sqlite3_stmt *row, const char *tool)
{
	struct store *s = reading->s;
	char *line = store__column_text(s, row, COLUMN_LINE);
	struct report_overhead cost = {};
	struct report r = { .tool = tool, .command = line };
	int err = line ? load_report(reading, row, &r, &cost) : -ENOMEM;

	if (!err && r.stacks)
		err = set_frames(s, r.stacks);
	err = end_transaction(s, row, err);
	if (!err && reading->reader->report)
		err = reading->reader->report(reading->reader->context, &r);
	if (r.stacks) {
		free((void *)r.stacks->frame);
		free(r.stacks->event);
	}
	report__free(&r);
	free(line);
	return err;
}

/*
 * --- single events -----------------------------------------------------------------------------
 */

static void free_lines(struct stream_line line[LINES_AT_ONCE])
{
	size_t i, k;

	for (i = 0; i < LINES_AT_ONCE; i++) {
		for (k = 0; k < line[i].n; k++)
			free(line[i].field[k].field.text);
		free((void *)line[i].field);
		free((void *)line[i].comm);
		free((void *)line[i].event);
	}
	memset(line, 0, LINES_AT_ONCE * sizeof(*line));
}

static int load_line(struct reading *reading, const struct shape *shape, sqlite3_stmt *row, struct stream_line *line)
{
	struct store *s = reading->s;
	struct stream_field *field = calloc(shape->n ?: 1, sizeof(*field));
	size_t i;
	int err = field ? 0 : -ENOMEM;

	*line = (struct stream_line){
		.time_ns = s->sql->column_int64(row, 2), .comm = store__column_text(s, row, 3) ?: strdup(""),
		.pid = s->sql->column_int64(row, 4),
		.tid = s->sql->column_int64(row, 5), .cpu = s->sql->column_int64(row, 6),
		.event = store__column_text(s, row, 7),
		.has_elapsed = s->sql->column_int64(row, 9) & LINE_HAS_ELAPSED,
		.elapsed_unknown = s->sql->column_type(row, 8) == SQLITE_NULL,
		.elapsed_ns = s->sql->column_int64(row, 8), .field = field, .n = field ? shape->n : 0,
	};
	if (!line->comm)
		err = -ENOMEM;
	for (i = 0; i < shape->n && !err; i++) {
		err = load__field(s, row, 10 + i, &shape->column[i], &field[i].field);
		field[i].escaped = shape->column[i].escaped;
		field[i].seconds = shape->column[i].seconds;
	}
	return err;
}

/* Loads the next events of a table, in a separate transaction. *behind: position of the last event loaded. */
static int load_lines(struct reading *reading, size_t table, s64 report, s64 *behind, struct stream_line *line,
		      size_t *n)
{
	struct store *s = reading->s;
	int err = store__exec(s, "BEGIN"), result = SQLITE_ROW;
	sqlite3_stmt *rows = err ? NULL : rows_of(reading, table, report, *behind, LINES_AT_ONCE, &err);

	for (*n = 0; !err && (result = s->sql->step(rows)) == SQLITE_ROW; ++*n) {
		*behind = s->sql->column_int64(rows, 1);
		err = load_line(reading, &s->shape[table], rows, &line[*n]);
	}
	return end_transaction(s, rows, err ?: store__error(result));
}

static int read_lines_of(struct reading *reading, size_t table, const struct read_head *head)
{
	struct stream_line *line = calloc(LINES_AT_ONCE, sizeof(*line));
	s64 behind = INT64_MIN;
	size_t n = LINES_AT_ONCE, i;
	int err = line ? 0 : -ENOMEM;

	while (!err && n == LINES_AT_ONCE) {
		err = load_lines(reading, table, head->report, &behind, line, &n);
		for (i = 0; i < n && !err; i++)
			err = reading->reader->line(reading->reader->context, head->tool, &line[i]);
		free_lines(line);
	}
	free(line);
	return err;
}

static int read_lines(struct reading *reading, const struct read_head *head)
{
	const struct store *s = reading->s;
	size_t i;
	int err = 0;

	for (i = 0; i < s->nshapes && !err && reading->reader->line; i++)
		if (s->shape[i].measurement == head->measurement && s->shape[i].kind == SHAPE_LINES)
			err = read_lines_of(reading, i, head);
	return err;
}

/*
 * --- contents of the recording -----------------------------------------------------------------
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

/* Takes ownership of text and keeps it, as an extra head, until the store is closed. */
static const char *keep_text(struct store *s, char *text)
{
	json_t *json = text && !ARRAY_ROOM(s->head, s->nheads) ? json_string_nocheck(text) : NULL;

	free(text);
	if (!json)
		return NULL;
	s->head[s->nheads++] = (struct store_head){ .id = -1, .json = json };
	return json_string_value(json);
}

int store__measurements(struct store *s, struct store_measurement **list, size_t *n)
{
	sqlite3_stmt *rows;
	struct store_measurement *m;
	int result = SQLITE_ROW;
	int err = store__prepare(s, &rows, "SELECT m.id, m.tool, m.line, count(r.head), min(r.start_ns), "
				 "max(r.start_ns + r.duration_ns), sum(r.duration_ns), "
				 "sum(r.events) FILTER (WHERE CASE WHEN json_valid(h.text) "
				 "THEN json_extract(h.text, '$.has_events') END) FROM measurement m "
				 "LEFT JOIN report r ON r.measurement = m.id LEFT JOIN head h ON h.id = r.head "
				 "GROUP BY m.id ORDER BY m.id");

	*list = NULL;
	*n = 0;
	while (!err && (result = s->sql->step(rows)) == SQLITE_ROW) {
		err = ARRAY_ROOM(*list, *n);
		if (err)
			break;
		m = &(*list)[*n];
		*m = (struct store_measurement){
			.id = s->sql->column_int64(rows, 0), .tool = keep_text(s, store__column_text(s, rows, 1)),
			.command = keep_text(s, store__column_text(s, rows, 2)),
			.reports = s->sql->column_int64(rows, 3), .begin_ns = s->sql->column_int64(rows, 4),
			.end_ns = s->sql->column_int64(rows, 5), .duration_ns = s->sql->column_int64(rows, 6),
			.events = s->sql->column_type(rows, 7) == SQLITE_NULL ? UINT64_MAX :
										 (u64)s->sql->column_int64(rows, 7),
		};
		err = m->tool && m->command ? 0 : -ENOMEM;
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

const char *store__host(struct store *s)
{
	sqlite3_stmt *row = NULL;

	if (store__prepare(s, &row, "SELECT group_concat(DISTINCT host) FROM recording"))
		return NULL;
	free(s->host);
	s->host = s->sql->step(row) == SQLITE_ROW ? store__column_text(s, row, 0) : NULL;
	s->sql->finalize(row);
	return s->host;
}

static int end_of_interval(const struct reading *reading, u64 start_ns, u64 duration_ns)
{
	return reading->reader->end ? reading->reader->end(reading->reader->context, start_ns, duration_ns) : 0;
}

static int next_head(struct reading *reading, sqlite3_stmt *row, s64 behind, struct read_head *head)
{
	struct store *s = reading->s;
	int err = store__exec(s, "BEGIN"), result;

	*head = (struct read_head){};
	if (err)
		return store__complain(s, err);
	s->sql->bind_int64(row, 5, behind);
	result = s->sql->step(row);
	if (result != SQLITE_ROW)
		return end_transaction(s, row, store__error(result));
	*head = (struct read_head){
		.report = s->sql->column_int64(row, COLUMN_ID),
		.measurement = s->sql->column_int64(row, COLUMN_MEASUREMENT),
		.interval = s->sql->column_int64(row, COLUMN_INTERVAL),
		.start_ns = s->sql->column_int64(row, COLUMN_INTERVAL_START),
		.duration_ns = s->sql->column_int64(row, COLUMN_INTERVAL_DURATION),
		.recorder = s->sql->column_int64(row, COLUMN_RECORDER),
		.is_lines = s->sql->column_type(row, COLUMN_HEAD) == SQLITE_NULL,
		.tool = store__column_text(s, row, COLUMN_TOOL),
	};
	return head->tool ? 0 : end_transaction(s, row, -ENOMEM);
}

/* Reads one report, or its single events, and ends the transaction of row. head: head of that row. */
static int read_one(struct reading *reading, sqlite3_stmt *row, const struct read_head *head)
{
	if (!head->is_lines)
		return read_report(reading, row, head->tool);
	return end_transaction(reading->s, row, 0) ?: read_lines(reading, head);
}

static int read_all(struct reading *reading, sqlite3_stmt *row)
{
	struct read_head head = {}, last = {};
	bool more;
	int err;

	do {
		err = next_head(reading, row, last.report, &head);
		if (!err && last.interval && head.interval != last.interval) {
			err = end_transaction(reading->s, row, 0);
			if (!err)
				err = end_of_interval(reading, last.start_ns, last.duration_ns);
			last.interval = 0;
		} else if (!err && head.tool) {
			last = head;
			reading->s->recorder = head.recorder;
			err = read_one(reading, row, &head);
		}
		more = head.tool;
		free(head.tool);
	} while (!err && more);
	return err;
}

/* Counts and reports intervals of the window that were dropped before they were read. */
static int tell_dropped(struct store *s, const struct store_window *window)
{
	s64 first = 0, start_ns = 0;
	int err = store__number(s, "SELECT min(id) FROM interval", &first);

	if (!err)
		err = store__number(s, "SELECT min(start_ns) FROM interval", &start_ns);
	if (err)
		return store__complain(s, err);
	if (first <= s->first || (u64)start_ns <= window->from_ns)
		return 0;
	diag_warn("the recorder dropped %lld of the oldest intervals while they were read",
		  (long long)(first - s->first));
	s->first = first;
	return 0;
}

int store__read(struct store *s, const struct store_window *window, s64 measurement, const struct store_reader *reader)
{
	struct reading reading = { .s = s, .reader = reader, .rows = calloc(s->nshapes ?: 1, sizeof(*reading.rows)) };
	sqlite3_stmt *row = NULL;
	size_t i;
	int err;

	if (!reading.rows)
		return -ENOMEM;
	/* Ids of reports ascend with the ids of intervals. */
	err = store__prepare(s, &row,
			     "SELECT r.id, r.measurement, m.tool, m.line, r.head, r.start_ns, r.duration_ns, r.events, "
			     "r.counters, r.figures, i.id, i.start_ns, i.duration_ns, c.pid FROM report r "
			     "CROSS JOIN interval i ON i.id = r.interval "
			     "CROSS JOIN measurement m ON m.id = r.measurement "
			     "LEFT JOIN recording c ON c.id = i.recording "
			     "WHERE i.start_ns + i.duration_ns / 2 >= ?1 AND i.start_ns + i.duration_ns / 2 < ?2 "
			     "AND (?3 = 0 OR m.id = ?3) AND i.id <= ?4 AND r.id > ?5 ORDER BY r.id LIMIT 1");
	if (err) {
		store__complain(s, err);
	} else {
		s->sql->bind_int64(row, 1, window->from_ns > INT64_MAX ? INT64_MAX : window->from_ns);
		s->sql->bind_int64(row, 2, window->to_ns > INT64_MAX ? INT64_MAX : window->to_ns);
		s->sql->bind_int64(row, 3, measurement);
		s->sql->bind_int64(row, 4, s->last);
		err = read_all(&reading, row);
	}
	if (!err)
		err = tell_dropped(s, window);
	s->sql->finalize(row);
	for (i = 0; i < s->nshapes; i++)
		s->sql->finalize(reading.rows[i]);
	free(reading.rows);
	free(reading.position);
	return err;
}

#endif /* HAVE_SQLITE */
