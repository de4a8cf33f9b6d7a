// SPDX-License-Identifier: BSD-2-Clause
/* Tables of rows: one for each set of cells in the rows of a measurement. */
#include "record/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/escape.h"
#include "report/json_value.h"
#include "report/role.h"

#ifdef HAVE_SQLITE

const char *const shape_kind_names[SHAPE_KINDS] = {
	[SHAPE_ROWS] = "rows",	   [SHAPE_TABLES] = "tables", [SHAPE_HISTOGRAMS] = "histograms",
	[SHAPE_STACKS] = "stacks", [SHAPE_LINES] = "lines",
};

#define OF_HISTOGRAM ", _count, _sum, _min, _max, _exact, _p50, _p99, _buckets"

/* Columns in addition to _report and _n, which all tables have. */
const char *const shape_own_columns[SHAPE_KINDS] = {
	[SHAPE_ROWS] = "",
	[SHAPE_TABLES] = OF_HISTOGRAM,
	[SHAPE_HISTOGRAMS] = OF_HISTOGRAM,
	[SHAPE_STACKS] = ", _value, _stack",
	[SHAPE_LINES] = ", _time_ns, _comm, _pid, _tid, _cpu, _event, _elapsed_ns, _flags",
};

static const int own_columns[SHAPE_KINDS] = {
	[SHAPE_TABLES] = 8, [SHAPE_HISTOGRAMS] = 8, [SHAPE_STACKS] = 2, [SHAPE_LINES] = 8,
};

static const char *const kind_names[] = {
	[FIELD_NUMBER] = "number", [FIELD_ID] = "id", [FIELD_SIGNED] = "signed", [FIELD_TIME] = "time_ns",
	[FIELD_DURATION] = "duration_ns", [FIELD_SIZE] = "bytes", [FIELD_SIGNED_SIZE] = "signed_bytes",
	[FIELD_REAL] = "real", [FIELD_NONE] = "none",
};

static void free_columns(struct shape_column *column, size_t n)
{
	size_t i;

	for (i = 0; column && i < n; i++) {
		free(column[i].name);
		free(column[i].of);
		free(column[i].per);
	}
	free(column);
}

void shapes__free(struct store *s)
{
	size_t i;

	for (i = 0; i < s->nshapes; i++) {
		s->sql->finalize(s->shape[i].add);
		free_columns(s->shape[i].column, s->shape[i].n);
		free(s->shape[i].table);
	}
	free(s->shape);
	s->shape = NULL;
	s->nshapes = 0;
}

/*
 * --- as text -----------------------------------------------------------------------------------
 */

static char *columns_text(const struct shape *shape)
{
	json_t *list = json_array();
	char *text;
	size_t i;

	for (i = 0; i < shape->n; i++) {
		const struct shape_column *c = &shape->column[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", json_string(c->name));
		json_object_set_new(o, "kind", json_string(kind_names[c->kind]));
		if (c->decimals)
			json_object_set_new(o, "decimals", json_integer(c->decimals));
		json_put_role(o, c->role, c->of, c->per);
		json_put_flag(o, "machine", c->machine);
		json_put_flag(o, "word", c->word);
		json_put_flag(o, "escaped", c->escaped);
		json_put_flag(o, "seconds", c->seconds);
		json_array_append_new(list, o);
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static bool flag(const json_t *o, const char *name)
{
	return json_is_true(json_object_get(o, name));
}

/* Copies a string; NULL remains NULL. */
static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

static int read_role(struct shape_column *c, const json_t *o)
{
	const char *role = json_string_value(json_object_get(o, "role"));

	c->role = role ? field_role_named(role) : ROLE_UNSAID;
	if (role && !c->role)
		return -EUCLEAN;
	return copy_text(&c->of, json_string_value(json_object_get(o, "of"))) ?:
	       copy_text(&c->per, json_string_value(json_object_get(o, "per")));
}

static int read_column(struct shape_column *c, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const char *kind = json_string_value(json_object_get(o, "kind"));
	s64 decimals = json_integer_value(json_object_get(o, "decimals"));
	size_t i;

	if (!name || !*name || strpbrk(name, "\"") || !escape_is_idle(name) || !kind || decimals < 0 || decimals > 18)
		return -EUCLEAN;
	for (i = 0; i < ARRAY_SIZE(kind_names) && strcmp(kind_names[i], kind); i++)
		;
	if (i == ARRAY_SIZE(kind_names))
		return -EUCLEAN;
	*c = (struct shape_column){
		.name = strdup(name), .kind = i, .decimals = decimals,
		.machine = flag(o, "machine"), .word = flag(o, "word"),
		.escaped = flag(o, "escaped"), .seconds = flag(o, "seconds"),
	};
	return c->name ? read_role(c, o) : -ENOMEM;
}

static int read_columns(struct shape *shape, const char *text)
{
	json_t *list = text ? json_loads(text, 0, NULL) : NULL;
	int err = json_is_array(list) ? 0 : -EUCLEAN;

	if (!err) {
		shape->column = calloc(json_array_size(list) ?: 1, sizeof(*shape->column));
		err = shape->column ? 0 : -ENOMEM;
	}
	while (!err && shape->n < json_array_size(list)) {
		err = read_column(&shape->column[shape->n], json_array_get(list, shape->n));
		shape->n++;
	}
	json_decref(list);
	return err;
}

/*
 * --- existing tables ---------------------------------------------------------------------------
 */

static struct shape *new_shape(struct store *s)
{
	return ARRAY_ADD(s->shape, s->nshapes);
}

/* Quotes an SQL name. Tools use plain letters, but the file is untrusted. */
static char *quoted(const char *name)
{
	char *text = NULL;

	if (!name || !*name || strpbrk(name, "\"") || asprintf(&text, "\"%s\"", name) < 0)
		return NULL;
	return text;
}

static int load_shape(struct store *s, sqlite3_stmt *row)
{
	const char *kind = (const char *)s->sql->column_text(row, 2);
	struct shape *shape = new_shape(s);
	size_t i;

	if (!shape)
		return -ENOMEM;
	shape->id = s->sql->column_int64(row, 0);
	shape->measurement = s->sql->column_int64(row, 1);
	for (i = 0; i < SHAPE_KINDS && (!kind || strcmp(kind, shape_kind_names[i])); i++)
		;
	shape->table = quoted((const char *)s->sql->column_text(row, 3));
	if (i == SHAPE_KINDS || !shape->table)
		return -EUCLEAN;
	shape->kind = i;
	return read_columns(shape, (const char *)s->sql->column_text(row, 4));
}

int shapes__load(struct store *s)
{
	sqlite3_stmt *rows;
	int err = store__prepare(s, &rows, "SELECT id, measurement, kind, name, columns FROM shape ORDER BY id"),
	    result;

	while (!err) {
		result = s->sql->step(rows);
		err = result == SQLITE_ROW ? load_shape(s, rows) : store__error(result);
		if (result != SQLITE_ROW)
			break;
	}
	s->sql->finalize(rows);
	return err;
}

/*
 * --- new tables --------------------------------------------------------------------------------
 */

static int copy_columns(struct shape *shape, const struct shape_column *column, size_t n)
{
	int err = 0;

	shape->column = calloc(n ?: 1, sizeof(*shape->column));
	if (!shape->column)
		return -ENOMEM;
	for (; shape->n < n && !err; shape->n++) {
		struct shape_column *c = &shape->column[shape->n];

		*c = column[shape->n];
		err = copy_text(&c->name, column[shape->n].name);
		err |= copy_text(&c->of, column[shape->n].of);
		err |= copy_text(&c->per, column[shape->n].per);
	}
	return err;
}

static int create_table(struct store *s, const struct shape *shape)
{
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -ENOMEM;
	fprintf(f, "CREATE TABLE %s (_report INTEGER, _n INTEGER%s", shape->table, shape_own_columns[shape->kind]);
	for (i = 0; i < shape->n; i++)
		fprintf(f, ", \"%s\"", shape->column[i].name);
	fputs(", PRIMARY KEY (_report, _n)) WITHOUT ROWID", f);
	err = fclose(f) ? -ENOMEM : store__exec(s, text);
	free(text);
	return err;
}

static int prepare_adding(struct store *s, struct shape *shape)
{
	size_t n = 2 + own_columns[shape->kind] + shape->n, size, i;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -ENOMEM;
	fprintf(f, "INSERT INTO %s VALUES (", shape->table);
	for (i = 0; i < n; i++)
		fputs(i ? ", ?" : "?", f);
	fputc(')', f);
	err = fclose(f) ? -ENOMEM : store__prepare(s, &shape->add, text);
	free(text);
	return err;
}

/* Stores the columns and the table name. */
static int write_shape(struct store *s, const struct shape *shape)
{
	char *columns = columns_text(shape), *name = shape->table ? strdup(shape->table + 1) : NULL;
	int err = columns && name ? 0 : -ENOMEM;
	sqlite3_stmt *change = err ? NULL : store__statement(s, CHANGE_SHAPE, &err);

	if (!err) {
		name[strlen(name) - 1] = 0;
		s->sql->bind_text(change, 1, columns, -1, SQLITE_TRANSIENT);
		s->sql->bind_text(change, 2, name, -1, SQLITE_TRANSIENT);
		s->sql->bind_int64(change, 3, shape->id);
		err = store__run(s, change);
	}
	free(columns);
	free(name);
	return err;
}

static int name_of_tool(struct store *s, const struct shape *shape, char **tool)
{
	sqlite3_stmt *find;
	int err = store__prepare(s, &find, "SELECT tool FROM measurement WHERE id = ?");

	*tool = NULL;
	if (err)
		return err;
	s->sql->bind_int64(find, 1, shape->measurement);
	if (s->sql->step(find) == SQLITE_ROW)
		*tool = store__column_text(s, find, 0);
	s->sql->finalize(find);
	return *tool ? 0 : -ENOMEM;
}

static int add_shape(struct store *s, struct shape *shape)
{
	int err = 0;
	sqlite3_stmt *add = store__statement(s, ADD_SHAPE, &err);
	char *tool = NULL;

	if (err)
		return err;
	s->sql->bind_int64(add, 1, shape->measurement);
	s->sql->bind_text(add, 2, shape_kind_names[shape->kind], -1, SQLITE_STATIC);
	s->sql->bind_null(add, 3);
	err = store__run(s, add);
	shape->id = s->sql->last_insert_rowid(s->db);
	if (!err)
		err = name_of_tool(s, shape, &tool);
	if (!err && asprintf(&shape->table, "\"%s_%lld\"", tool, (long long)shape->id) < 0) {
		shape->table = NULL;
		err = -ENOMEM;
	}
	free(tool);
	if (!err)
		err = write_shape(s, shape);
	return err ?: create_table(s, shape);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* True if the columns fit: kinds are equal, or one is not known yet. */
static bool fits(const struct shape_column *a, const struct shape_column *b)
{
	return (a->kind == b->kind || a->kind == FIELD_NONE || b->kind == FIELD_NONE) &&
	       (a->decimals == b->decimals || a->kind == FIELD_NONE || b->kind == FIELD_NONE) &&
	       a->machine == b->machine && a->word == b->word && a->role == b->role && same_text(a->of, b->of) &&
	       same_text(a->per, b->per) &&
	       a->escaped == b->escaped && a->seconds == b->seconds && !strcmp(a->name, b->name);
}

static bool fit(const struct shape *shape, const struct shape_column *column, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!fits(&shape->column[i], &column[i]))
			return false;
	return true;
}

static int learn_kinds(struct store *s, struct shape *shape, const struct shape_column *column)
{
	bool learnt = false;
	size_t i;

	for (i = 0; i < shape->n; i++)
		if (shape->column[i].kind == FIELD_NONE && column[i].kind != FIELD_NONE) {
			shape->column[i].kind = column[i].kind;
			shape->column[i].decimals = column[i].decimals;
			learnt = true;
		}
	return learnt ? write_shape(s, shape) : 0;
}

struct shape *shapes__find(struct store *s, s64 measurement, enum shape_kind kind, const struct shape_column *column,
			   size_t n, int *err)
{
	struct shape *shape;
	size_t i;

	for (i = 0; i < s->nshapes; i++) {
		shape = &s->shape[i];
		if (shape->measurement == measurement && shape->kind == kind && shape->n == n &&
		    fit(shape, column, n))
			break;
	}
	if (i == s->nshapes) {
		shape = new_shape(s);
		*err = shape ? 0 : -ENOMEM;
		if (*err)
			return NULL;
		shape->measurement = measurement;
		shape->kind = kind;
		*err = copy_columns(shape, column, n);
		if (!*err)
			*err = add_shape(s, shape);
	} else {
		*err = learn_kinds(s, shape, column);
	}
	if (!*err && !shape->add)
		*err = prepare_adding(s, shape);
	return *err ? NULL : shape;
}

#endif /* HAVE_SQLITE */
