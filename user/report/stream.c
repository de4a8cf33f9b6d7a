// SPDX-License-Identifier: BSD-2-Clause
#include "report/stream.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/json_value.h"
#include "report/stream_columns.h"
#include "report/stream_value.h"

/*
 * --- text --------------------------------------------------------------------------------------
 */

static int put_plain(FILE *f, const struct writer *w, const struct stream_line *line)
{
	const char *gap = "  ";
	size_t width;
	int err;

	stream_put_time(f, line->time_ns);
	fputc(' ', f);
	if (w->tool)
		fprintf(f, "%-11s ", w->tool);
	err = stream_put_text(f, line->comm, false);
	for (width = strlen(line->comm); width < 15; width++)
		fputc(' ', f);
	fprintf(f, " %7u %3u", line->tid, line->cpu);
	if (line->event && !err) {
		fputc(' ', f);
		err = stream_put_text(f, line->event, false);
	}
	if (line->has_elapsed) {
		fputs("  elapsed=", f);
		stream_put_elapsed(f, line, w->milliseconds);
		gap = " ";
	}
	return err ?: stream_put_pairs(f, line, gap, w->milliseconds);
}

/* Writes the stack below the line. */
static int write_stack(struct writer *w, const struct stream_line *line)
{
	char text[] = "        ", *frame, *all;
	u32 i;

	for (i = 0; line->stack && i < line->stack->n && (!line->most_frames || i < line->most_frames); i++) {
		frame = call_stack__frame(line->stack, i, w->brief);
		if (!frame || asprintf(&all, "%s%s", text, frame) < 0)
			all = NULL;
		free(frame);
		if (!all)
			return -ENOMEM;
		if (w->terminal.columns)
			stream_columns__put_wrapped(w->file, &w->terminal, all);
		else
			fprintf(w->file, "%s\n", all);
		free(all);
	}
	return 0;
}

/*
 * --- templates ---------------------------------------------------------------------------------
 */

static const char *const fixed_names[STREAM_FIELD] = {
	[STREAM_TIME] = "time", [STREAM_EPOCH] = "epoch", [STREAM_COMM] = "comm", [STREAM_PID] = "pid",
	[STREAM_TID] = "tid", [STREAM_CPU] = "cpu", [STREAM_EVENT] = "event", [STREAM_ELAPSED] = "elapsed",
};

static int find_value(struct stream_piece *piece, const char *text, size_t len,
		      const char *const *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(name[i]) == len && !memcmp(name[i], text, len)) {
			piece->value = STREAM_FIELD;
			piece->field = i;
			return 0;
		}
	for (i = 0; i < STREAM_FIELD; i++)
		if (strlen(fixed_names[i]) == len && !memcmp(fixed_names[i], text, len)) {
			piece->value = i;
			return 0;
		}
	return -ENOENT;
}

static struct stream_piece *add_piece(struct stream_template *t, size_t room)
{
	if (ARRAY_ROOM(t->piece, t->n))
		return NULL;
	t->piece[t->n] = (struct stream_piece){ .text = malloc(room), .value = STREAM_NOTHING };
	return t->piece[t->n].text ? &t->piece[t->n++] : NULL;
}

/*
 * Copies text up to the next value or the end; doubled braces become one. Returns the length read, or -EINVAL with the
 * position in *bad.
 */
static ssize_t copy_text(char *to, const char *text, size_t *bad)
{
	size_t i;

	for (i = 0; text[i]; i++) {
		if (text[i] == '{' && text[i + 1] != '{')
			break;
		if (text[i] == '}' && text[i + 1] != '}') {
			*bad = i;
			return -EINVAL;
		}
		if (text[i] == '{' || text[i] == '}')
			i++;
		*to++ = text[i];
	}
	*to = 0;
	return i;
}

int stream_template__parse(struct stream_template *t, const char *text, const char *const *name,
			   size_t n, struct complaint *c)
{
	size_t at = 0, room = strlen(text) + 1, len, bad = 0;
	struct stream_piece *piece;
	ssize_t copied;

	*t = (struct stream_template){};
	do {
		piece = add_piece(t, room);
		if (!piece)
			return -ENOMEM;
		copied = copy_text(piece->text, text + at, &bad);
		if (copied < 0) {
			complain(c, 0, at + bad, 1, "a } without a {");
			return complain_hint(c, -EINVAL, "}} is a brace");
		}
		at += copied;
		if (!text[at])
			break;
		len = strcspn(text + at + 1, "{}");
		if (text[at + 1 + len] != '}') {
			complain(c, 0, at, 1, "a { without a }");
			return complain_hint(c, -EINVAL, "{{ is a brace");
		}
		if (find_value(piece, text + at + 1, len, name, n)) {
			complain(c, 0, at + 1, len, "unknown value");
			return complain_hint(c, -EINVAL,
					     "values are arguments, time, epoch, comm, pid, tid, cpu, event and "
					     "elapsed");
		}
		at += len + 2;
	} while (text[at]);
	return 0;
}

void stream_template__free(struct stream_template *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->piece[i].text);
	free(t->piece);
	*t = (struct stream_template){};
}

static int put_piece(FILE *f, const struct writer *w, const struct stream_piece *piece,
		     const struct stream_line *line)
{
	fputs(piece->text, f);          /* trusted: from the command line */
	switch (piece->value) {
	case STREAM_TIME:
		stream_put_time(f, line->time_ns);
		break;
	case STREAM_EPOCH:
		fprintf(f, "%llu.%06llu", line->time_ns / NSEC_PER_SEC, line->time_ns % NSEC_PER_SEC / 1000);
		break;
	case STREAM_COMM:
		return stream_put_text(f, line->comm, false);
	case STREAM_PID:
		fprintf(f, "%u", line->pid);
		break;
	case STREAM_TID:
		fprintf(f, "%u", line->tid);
		break;
	case STREAM_CPU:
		fprintf(f, "%u", line->cpu);
		break;
	case STREAM_EVENT:
		return stream_put_text(f, line->event ?: "", false);
	case STREAM_ELAPSED:
		if (line->has_elapsed)
			stream_put_elapsed(f, line, w->milliseconds);
		break;
	case STREAM_FIELD:
		if (piece->field < line->n)
			return stream_put_value(f, &line->field[piece->field], false, w->milliseconds);
		break;
	case STREAM_NOTHING:
		break;
	}
	return 0;
}

static int put_by_template(FILE *f, const struct writer *w, const struct stream_template *t,
			   const struct stream_line *line)
{
	size_t i;
	int err = 0;

	for (i = 0; i < t->n && !err; i++)
		err = put_piece(f, w, &t->piece[i], line);
	return err;
}

/* t: the template; NULL for the default layout. On a terminal, long lines are continued below. */
static int write_plain(struct writer *w, const struct stream_template *t, const struct stream_line *line)
{
	char *text = NULL;
	size_t n;
	FILE *f = w->terminal.columns ? open_memstream(&text, &n) : w->file;
	int err = !f ? -ENOMEM : t ? put_by_template(f, w, t, line) : put_plain(f, w, line);

	if (f == w->file) {
		fputc('\n', f);
		return err;
	}
	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (!err)
		stream_columns__put_wrapped(w->file, &w->terminal, text);
	free(text);
	return err;
}

/*
 * --- JSON --------------------------------------------------------------------------------------
 */

/* Returns a truncated text, marked as such. */
static json_t *json_cut_text(const char *s)
{
	char *text = escape_string(s), *all = NULL;
	json_t *value = NULL;

	if (text && asprintf(&all, "%s" STREAM_CUT, text) >= 0)
		value = json_string(all);
	free(all);
	free(text);
	return value;
}

static json_t *json_field(const struct stream_field *v)
{
	if (v->fault || v->field.kind == FIELD_NONE)
		return json_null();
	if (v->field.text && v->escaped)
		return json_string(v->field.text);
	return v->field.text && v->cut ? json_cut_text(v->field.text) : json_of_field(&v->field);
}

static json_t *json_frames(const struct stream_line *line)
{
	u32 n = line->stack ? line->stack->n : 0, i;
	json_t *frames = json_array();

	for (i = 0; i < n && (!line->most_frames || i < line->most_frames); i++) {
		const struct report_frame *f = &line->stack->frame[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", json_of_text(f->name));
		json_object_set_new(o, "module", json_of_text(f->module));
		json_object_set_new(o, "offset", f->name || !f->module ? json_null() :
									 json_of_number(f->offset));
		json_array_append_new(frames, o);
	}
	return frames;
}

static int write_object(struct writer *w, const struct stream_line *line)
{
	json_t *o = json_object(), *values = json_object();
	char *text, *name;
	size_t i;

	if (w->tool)
		json_object_set_new(o, "tool", json_string(w->tool));
	json_object_set_new(o, "time_ns", json_of_number(line->time_ns));
	json_object_set_new(o, "comm", json_of_text(line->comm));
	json_object_set_new(o, "pid", json_integer(line->pid));
	json_object_set_new(o, "tid", json_integer(line->tid));
	json_object_set_new(o, "cpu", json_integer(line->cpu));
	if (line->event)
		json_object_set_new(o, "event", json_of_text(line->event));
	if (line->has_elapsed)
		json_object_set_new(o, "elapsed_ns", line->elapsed_unknown ?
				    json_null() : json_of_number(line->elapsed_ns));
	for (i = 0; i < line->n; i++) {
		name = escape_string(line->field[i].field.name);
		if (name)
			json_object_set_new(values, name, json_field(&line->field[i]));
		free(name);
	}
	json_object_set_new(o, "values", values);
	if (line->has_stack)
		json_object_set_new(o, "frames", json_frames(line));
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (!text)
		return -ENOMEM;
	fprintf(w->file, "%s\n", text);
	free(text);
	return 0;
}

/*
 * --- CSV ---------------------------------------------------------------------------------------
 */

static void csv_put(struct writer *w, const char *text, bool first)
{
	if (!first)
		fputc(w->separator, w->file);
	csv_put_text(w, text);
}

static void csv_put_number(struct writer *w, u64 number, bool is_signed)
{
	char text[24];

	snprintf(text, sizeof(text), is_signed ? "%lld" : "%llu", number);
	csv_put(w, text, false);
}

static int csv_put_escaped(struct writer *w, const char *text, const char *more)
{
	char *line = escape_string(text), *all = NULL;
	int err = -ENOMEM;

	if (line && asprintf(&all, "%s%s", line, more) >= 0) {
		csv_put(w, all, false);
		err = 0;
	}
	free(all);
	free(line);
	return err;
}

const char *stream__column(const struct stream_line *line, size_t i)
{
	static const char *const names[] = { "time_ns", "comm", "pid", "tid", "cpu" };

	if (i < ARRAY_SIZE(names))
		return names[i];
	i -= ARRAY_SIZE(names);
	if (line->event && !i--)
		return "event";
	if (line->has_elapsed && !i--)
		return "elapsed_ns";
	if (i < line->n)
		return line->field[i].field.name;
	return line->has_stack && i == line->n ? "stack" : NULL;
}

static int csv_header(struct writer *w, const struct stream_line *line)
{
	const char *name = stream__column(line, 0);
	size_t i;
	int err = 0;

	csv_put(w, name, true);
	for (i = 1; (name = stream__column(line, i)) && !err; i++)
		err = csv_put_escaped(w, name, "");
	fputc('\n', w->file);
	w->header = true;
	return err;
}

int stream__end_lines(struct writer *w, const struct stream_line *like)
{
	struct writing writing;
	int err;

	if (w->sink)
		return w->sink->columns ? w->sink->columns(w->sink->context, w, like) : 0;
	if (w->format != FORMAT_CSV || w->header)
		return 0;
	err = writer__begin(w, &writing);
	return err ?: writer__end(w, &writing, csv_header(w, like));
}

static int csv_value(struct writer *w, const struct stream_field *v)
{
	if (v->fault || v->field.kind == FIELD_NONE)
		csv_put(w, "", false);
	else if (v->field.text && v->escaped)
		csv_put(w, v->field.text, false);
	else if (v->field.text)
		return csv_put_escaped(w, v->field.text, v->cut ? STREAM_CUT : "");
	else
		csv_put_number(w, v->field.number, field_is_signed(v->field.kind));
	return 0;
}

static int csv_stack(struct writer *w, const struct stream_line *line)
{
	char *text = line->stack ? call_stack__line(line->stack, line->most_frames) : NULL;

	if (line->stack && !text)
		return -ENOMEM;
	csv_put(w, text ?: "", false);
	free(text);
	return 0;
}

static int write_record(struct writer *w, const struct stream_line *line)
{
	int err = w->header ? 0 : csv_header(w, line);
	char text[24];
	size_t i;

	if (err)
		return err;
	snprintf(text, sizeof(text), "%llu", line->time_ns);
	csv_put(w, text, true);
	err = csv_put_escaped(w, line->comm, "");
	csv_put_number(w, line->pid, false);
	csv_put_number(w, line->tid, false);
	csv_put_number(w, line->cpu, false);
	if (line->event && !err)
		err = csv_put_escaped(w, line->event, "");
	if (line->has_elapsed && line->elapsed_unknown)
		csv_put(w, "", false);
	else if (line->has_elapsed)
		csv_put_number(w, line->elapsed_ns, false);
	for (i = 0; i < line->n && !err; i++)
		err = csv_value(w, &line->field[i]);
	if (line->has_stack && !err)
		err = csv_stack(w, line);
	fputc('\n', w->file);
	return err;
}

static int write_text_line(struct writer *w, const struct stream_template *t, const struct stream_line *line)
{
	return !t && stream_columns__fit(w, line) ? stream_columns__write(w, line) : write_plain(w, t, line);
}

int stream__write_line(struct writer *w, const struct stream_template *t,
		       const struct stream_line *line)
{
	if (w->sink)
		return w->sink->line(w->sink->context, w, line);
	if (w->format == FORMAT_HTML)
		return html__add_line(w, line);
	if (w->format == FORMAT_JSON)
		return write_object(w, line);
	if (w->format == FORMAT_CSV)
		return write_record(w, line);
	if (format_is_metrics(w->format))
		return 0;       /* the report counts the events */
	return write_text_line(w, t, line) ?: line->has_stack ? write_stack(w, line) : 0;
}
