// SPDX-License-Identifier: BSD-2-Clause
#include "machine/diff/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/whole_file.h"
#include "report/diag.h"
#include "report/escape.h"
#include "report/role.h"

/*
 * --- values ------------------------------------------------------------------------------------
 */

int saved_number(const json_t *v, u64 *out)
{
	double x;

	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		*out = json_integer_value(v);
		return 0;
	}
	/* 2^64 - 1 written as a real is read as 2^64. */
	x = json_real_value(v);
	if (!json_is_real(v) || x < 0 || x > 0x1p64 || x != floor(x))
		return -EINVAL;
	*out = x < 0x1p64 ? (u64)x : UINT64_MAX;
	return 0;
}

int saved_member(const json_t *object, const char *name, u64 *out)
{
	return saved_number(json_object_get(object, name), out);
}

char *saved_text(const json_t *v)
{
	char *text = json_is_string(v) ? strdup(json_string_value(v)) : NULL;

	if (text)
		escape_undo(text);
	return text;
}

/* A name that needs escaping is never one of ours. */
static bool is_plain(const char *name)
{
	char *escaped = escape_string(name);
	bool same = escaped && !strcmp(escaped, name);

	free(escaped);
	return same;
}

static int read_field(struct field *f, const char *name, const json_t *v)
{
	*f = (struct field){ .name = name, .kind = FIELD_ID };
	if (!is_plain(name))
		return -EINVAL;
	switch (json_typeof(v)) {
	case JSON_STRING:
		f->text = saved_text(v);
		return f->text ? 0 : -ENOMEM;
	case JSON_INTEGER:
		f->number = json_integer_value(v);
		if (json_integer_value(v) < 0)
			f->kind = FIELD_SIGNED;
		return 0;
	case JSON_REAL:
		f->real = json_real_value(v);
		f->kind = FIELD_REAL;
		f->decimals = 2;
		return 0;
	case JSON_NULL:
		f->kind = FIELD_NONE;
		return 0;
	default:
		return -EINVAL;
	}
}

static bool is_label(const struct report_row *row, const char *name)
{
	const char *before = row->ncells ? row->cell[row->ncells - 1].name : "";

	return (!strcmp(name, "comm") && (!strcmp(before, "pid") || !strcmp(before, "tid"))) ||
	       (!strcmp(name, "user") && !strcmp(before, "uid")) ||
	       (!strcmp(name, "container_id") && !strcmp(before, "container"));
}

/* In runs of earlier versions, names distinguish labels from keys. */
static void read_role(const struct report_row *row, struct field *f, const json_t *columns)
{
	const json_t *column = json_object_get(columns, f->name);

	f->role = field_role_named(json_string_value(json_object_get(column, "role")));
	f->of = json_string_value(json_object_get(column, "of"));
	f->per = json_string_value(json_object_get(column, "per"));
	if (!f->role && is_label(row, f->name))
		f->role = ROLE_LABEL;
}

/* Leaves out the last field if it is a key with "of", which is valid only within its own run. */
static void keep_if_lasting(struct report_row *row)
{
	struct field *f = &row->cell[row->ncells - 1];

	if (f->role != ROLE_KEY || !f->of)
		return;
	free(f->text);
	*f = (struct field){};
	row->ncells--;
}

int saved_fields(struct report_row *row, const json_t *object, const json_t *columns)
{
	const char *name;
	json_t *v;
	int err = json_is_object(object) ? 0 : -EINVAL;

	*row = (struct report_row){ .cell = calloc(json_object_size(object) ?: 1, sizeof(*row->cell)) };
	if (!row->cell)
		return -ENOMEM;
	json_object_foreach((json_t *)object, name, v) {
		if (err)
			break;
		err = read_field(&row->cell[row->ncells], name, v);
		if (err)
			break;
		read_role(row, &row->cell[row->ncells], columns);
		row->cell[row->ncells++].machine = !strcmp(name, "container_id");
		keep_if_lasting(row);
	}
	if (err) {
		report_row__free(row);
		*row = (struct report_row){};
	}
	return err;
}

/*
 * --- the file ----------------------------------------------------------------------------------
 */

int saved__wrong(const struct saved *s, size_t i, const char *why)
{
	diag_error("%s:%u: %s", s->path, i < s->n ? s->line[i] : 0, why);
	return -EINVAL;
}

/* Compares two texts, either of which may be NULL. */
static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int read_kind(const json_t *o, enum saved_kind *kind)
{
	static const char *const names[] = { "groups", "rows", "stacks" };
	int i, found = 0;

	for (i = 0; i < (int)ARRAY_SIZE(names); i++) {
		if (!json_is_array(json_object_get(o, names[i])))
			continue;
		*kind = i;
		found++;
	}
	return found == 1 ? 0 : -EINVAL;
}

const json_t *saved__list(const struct saved *s, size_t i)
{
	static const char *const names[] = { "groups", "rows", "stacks" };

	return json_object_get(s->report[i], names[s->kind]);
}

/* A missing member counts as 0. */
static int add_number(const json_t *o, const char *name, u64 *sum)
{
	u64 n = 0;

	if (json_object_get(o, name) && saved_member(o, name, &n))
		return -EINVAL;
	return __builtin_add_overflow(*sum, n, sum) ? -EINVAL : 0;
}

/* Adds all reasons of a kind. Reports of earlier versions count all reasons as lost. */
static int add_reasons(const json_t *o, enum loss_kind kind, u64 *sum)
{
	const json_t *of_kind = json_object_get(o, loss_kind_name(kind));
	const char *reason;
	int err = 0;
	json_t *n;

	json_object_foreach((json_t *)of_kind, reason, n)
		if (!err)
			err = add_number(of_kind, reason, sum);
	return err;
}

static int read_totals(struct saved *s, const json_t *o)
{
	int err = add_number(o, "duration_ns", &s->duration_ns);

	if (!err)
		err = add_number(o, "events", &s->events);
	if (!err)
		err = add_number(o, "hidden", &s->hidden);
	if (!err)
		err = add_reasons(o, LOSS_LOST, &s->lost);
	return err ?: add_reasons(o, LOSS_INEXACT, &s->inexact);
}

static int read_header(struct saved *s, const json_t *o)
{
	char *tool = saved_text(json_object_get(o, "tool"));
	char *value = saved_text(json_object_get(o, "value"));
	char *unit = saved_text(json_object_get(o, "unit"));
	enum saved_kind kind = SAVED_GROUPS;
	int err = 0;

	if (!tool || read_kind(o, &kind))
		err = saved__wrong(s, s->n - 1, "not a report written by tally");
	else if (json_object_get(o, "event_totals"))
		err = saved__wrong(s, s->n - 1, "stacks of several events cannot be compared: use one event");
	else if (s->n > 1 && (kind != s->kind || !same_text(tool, s->tool) ||
			      !same_text(value, s->value) || !same_text(unit, s->unit)))
		err = saved__wrong(s, s->n - 1, "not a report of the same measurement as the first");
	else if (read_totals(s, o))
		err = saved__wrong(s, s->n - 1, "a number in its header is invalid");
	if (!err && s->n == 1) {
		s->tool = tool;
		s->value = value;
		s->unit = unit;
		s->kind = kind;
		return 0;
	}
	free(tool);
	free(value);
	free(unit);
	return err;
}

static int add_report(struct saved *s, json_t *o, u32 line)
{
	if (ARRAY_ROOM(s->report, s->n) || ARRAY_ROOM(s->line, s->n)) {
		json_decref(o);
		return -ENOMEM;
	}
	s->line[s->n] = line;
	s->report[s->n++] = o;
	return read_header(s, o);
}

static int read_line(struct saved *s, const char *text, size_t n, u32 line)
{
	json_error_t error;
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);

	if (!json_is_object(o)) {
		diag_error("%s:%u: not a report written by tally: %s", s->path, line,
			   o ? "no object" : error.text);
		diag_hint("runs are saved with --json -o FILE");
		json_decref(o);
		return -EINVAL;
	}
	/* This is a single event of a stream. Only the reports that follow the events are compared. */
	if (json_object_get(o, "time_ns") && !json_object_get(o, "tool")) {
		json_decref(o);
		return 0;
	}
	return add_report(s, o, line);
}

static int read_lines(struct saved *s, const char *text, size_t size)
{
	const char *end = text + size, *next;
	u32 line = 1;
	int err = 0;

	for (; text < end && !err; text = next + 1, line++) {
		next = memchr(text, '\n', end - text) ?: end;
		if (next > text)
			err = read_line(s, text, next - text, line);
	}
	if (!err && !s->n) {
		diag_error("%s: no report found", s->path);
		err = -EINVAL;
	}
	return err;
}

int saved__read_text(struct saved *s, const char *path, const char *text, size_t size)
{
	*s = (struct saved){ .path = path };
	return read_lines(s, text, size);
}

int saved__read(struct saved *s, const char *path)
{
	char *text = NULL;
	size_t size = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*s = (struct saved){ .path = path };
	err = fd < 0 ? -errno : whole_file__read(fd, SAVED_MOST_BYTES, &text, &size);
	if (err == -EFBIG)
		diag_error("%s: larger than %llu MiB", path, SAVED_MOST_BYTES >> 20);
	else if (err)
		diag_error("%s: %s", path, strerror(-err));
	else
		err = read_lines(s, text, size);
	if (fd >= 0)
		close(fd);
	free(text);
	return err;
}

void saved__free(struct saved *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		json_decref(s->report[i]);
	free(s->report);
	free(s->line);
	free(s->tool);
	free(s->value);
	free(s->unit);
	*s = (struct saved){};
}
