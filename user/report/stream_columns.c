// SPDX-License-Identifier: BSD-2-Clause
#include "report/stream_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/escape.h"
#include "report/stream_value.h"
#include "report/terminal.h"
#include "report/text.h"

#define GAP 2                   /* between columns */
#define INDENT 4                /* indentation of continuation lines */
#define LEAST_TEXT 8            /* least room for a text at the end; longer texts continue below */
#define USUAL_TEXT 32           /* room for that text that takes precedence over spare columns */
#define MOST_WIDTH 40           /* a wider value shifts the rest of its line */
#define WORD 16                 /* do not break shorter words */
#define WIDE 120                /* times have microseconds if the terminal is at least this wide */
#define MILLISECONDS 12         /* "12:34:56.123" */
#define UNKNOWN_SCREEN 48       /* assumed lines */

enum { TIME, COMM, TID, CPU, FIXED };   /* followed by the event and its duration, if lines have them */

struct column {
	char *name, *heading;
	size_t width;
	bool left;              /* left-aligned text */
	bool word;              /* a short word */
	bool rest;              /* the last column, which gets the rest of the line */
	bool seen;              /* some line had a value; hidden otherwise */
	bool spare;             /* all its values so far were spare */
	bool left_out;          /* left out of this screen for lack of room */
};

/* A measurement whose lines have the same fields. */
struct source {
	char *name, *command;   /* tool; command line, which distinguishes sources; "" if not given */
	struct column *column;
	size_t n, fields_at;    /* fields_at: index of the first field */
	bool event, elapsed;
	bool mixed;             /* lines have different fields */
	size_t shown;           /* number of columns in the first line; the others follow on the next one */
	u64 heading_at;         /* number of lines before the heading */
	bool heading_due;
	size_t name_width;      /* width of the tool column; 0 without one */
};

struct stream_columns {
	struct source **source;
	size_t n;
	struct source *present; /* source of the line that is being written */
	u64 lines;              /* written so far, of all sources */
};

/*
 * --- the set of columns ------------------------------------------------------------------------
 */

static size_t fixed_columns(const struct stream_line *line)
{
	return FIXED + !!line->event + line->has_elapsed;
}

static const char *name_of(const struct stream_line *line, size_t i)
{
	static const char *const names[] = { [TIME] = "time", [COMM] = "comm", [TID] = "tid", [CPU] = "cpu" };

	if (i < FIXED)
		return names[i];
	if (i >= fixed_columns(line))
		return line->field[i - fixed_columns(line)].field.name;
	return line->event && i == FIXED ? "event" : "elapsed";
}

static bool has_same_fields(const struct source *c, const struct stream_line *line)
{
	size_t i;

	if (c->event != !!line->event || c->elapsed != line->has_elapsed || c->n - c->fields_at != line->n)
		return false;
	for (i = 0; i < line->n; i++)
		if (strcmp(c->column[c->fields_at + i].name, line->field[i].field.name))
			return false;
	return true;
}

/* Returns the typical width of a kind of value. */
static size_t usual_width(const struct field *f)
{
	switch (f->kind) {
	case FIELD_TIME:
	case FIELD_SIZE:
		return 8;
	case FIELD_ID:
		return 6;
	default:
		return f->text && !f->word ? 12 : 4;
	}
}

static char *escaped_heading(const char *name)
{
	char *heading = text_heading(name), *text = NULL;
	size_t n;
	FILE *f = heading ? open_memstream(&text, &n) : NULL;
	int err = f ? stream_put_text(f, heading, false) : -ENOMEM;

	if (f && fclose(f))
		err = -ENOMEM;
	free(heading);
	if (!err)
		return text;
	free(text);
	return NULL;
}

static int init_column(struct column *c, const struct stream_line *line, size_t i)
{
	size_t fixed = fixed_columns(line), width = i == COMM ? 8 : i == TID ? 5 : 0;
	const struct field *f = i >= fixed ? &line->field[i - fixed].field : NULL;

	c->name = strdup(name_of(line, i));
	c->heading = escaped_heading(name_of(line, i));
	if (!c->name || !c->heading)
		return -ENOMEM;
	if (f)
		width = usual_width(f);
	c->spare = i >= fixed && line->field[i - fixed].field.spare;
	c->left = i == TIME || i == COMM || (i == FIXED && line->event);
	c->width = terminal_columns(c->heading);
	if (c->width < width)
		c->width = width;
	return 0;
}

static void source__free(struct source *c)
{
	size_t i;

	for (i = 0; c->column && i < c->n; i++) {
		free(c->column[i].name);
		free(c->column[i].heading);
	}
	free(c->column);
	free(c->name);
	free(c->command);
	free(c);
}

static struct source *new_source(const struct writer *w, const struct stream_line *line)
{
	struct source *c = calloc(1, sizeof(*c));
	size_t i;

	if (!c)
		return NULL;
	c->heading_due = true;
	c->name = escape_string(w->tool ?: "");
	c->command = strdup(w->of_command ?: "");
	c->event = line->event;
	c->elapsed = line->has_elapsed;
	c->fields_at = fixed_columns(line);
	c->n = c->fields_at + line->n;
	c->column = calloc(c->n, sizeof(*c->column));
	for (i = 0; i < c->n; i++)
		if (!c->name || !c->command || !c->column || init_column(&c->column[i], line, i)) {
			source__free(c);
			return NULL;
		}
	return c;
}

void stream_columns__free(struct stream_columns *c)
{
	size_t i;

	for (i = 0; c && i < c->n; i++)
		source__free(c->source[i]);
	if (c)
		free(c->source);
	free(c);
}

/* Begins each line with the name of its tool, from the second source onwards. */
static void name_sources(struct stream_columns *c)
{
	size_t width = 0, i;

	for (i = 0; i < c->n; i++)
		if (terminal_columns(c->source[i]->name) > width)
			width = terminal_columns(c->source[i]->name);
	for (i = 0; i < c->n; i++) {
		c->source[i]->heading_due |= c->source[i]->name_width != width;
		c->source[i]->name_width = width;
	}
}

static struct source *add_source(struct stream_columns *c, const struct writer *w, const struct stream_line *line)
{
	struct source *added = ARRAY_ROOM(c->source, c->n) ? NULL : new_source(w, line);

	if (!added)
		return NULL;
	c->source[c->n++] = added;
	if (c->n > 1)
		name_sources(c);
	return added;
}

static struct source *find_source(const struct stream_columns *c, const struct writer *w)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (!strcmp(c->source[i]->command, w->of_command ?: ""))
			return c->source[i];
	return NULL;
}

bool stream_columns__fit(struct writer *w, const struct stream_line *line)
{
	struct stream_columns *c;

	if (!w->terminal.columns)
		return false;
	if (!w->columns)
		w->columns = calloc(1, sizeof(*w->columns));
	c = w->columns;
	if (!c)
		return false;
	c->present = find_source(c, w) ?: add_source(c, w, line);
	if (c->present && !has_same_fields(c->present, line))
		c->present->mixed = true;
	return c->present && !c->present->mixed;
}

void stream_columns__interrupt(struct stream_columns *c)
{
	size_t i;

	for (i = 0; c && i < c->n; i++)
		c->source[i]->heading_due = true;
}

/*
 * --- the values of a line ----------------------------------------------------------------------
 */

/* The cells of a line, one string after the other; at: their offsets. */
struct cells {
	char *text;
	size_t n, *at;
};

static int put_field(FILE *f, const struct stream_field *v, bool milliseconds)
{
	char size[UNITS_SPACE];

	if (!stream_field__is_there(v))
		return 0;
	if (!v->fault && !v->field.text && v->field.kind == FIELD_SIZE) {
		fputs(format_value(size, v->field.number, UNIT_BYTES, false), f);
		return 0;
	}
	return stream_put_value(f, v, false, milliseconds);
}

static int put_cell(FILE *f, const struct stream_line *line, size_t i, bool milliseconds)
{
	size_t fixed = fixed_columns(line);

	switch (i) {
	case TIME:
		stream_put_time(f, line->time_ns);
		return 0;
	case COMM:
		return stream_put_text(f, line->comm, false);
	case TID:
		fprintf(f, "%u", line->tid);
		return 0;
	case CPU:
		fprintf(f, "%u", line->cpu);
		return 0;
	}
	if (i >= fixed)
		return put_field(f, &line->field[i - fixed], milliseconds);
	if (line->event && i == FIXED)
		return stream_put_text(f, line->event, false);
	stream_put_elapsed(f, line, milliseconds);
	return 0;
}

static void free_cells(struct cells *cells)
{
	free(cells->text);
	free(cells->at);
	*cells = (struct cells){};
}

static int make_cells(struct cells *cells, const struct stream_line *line, size_t n, bool milliseconds)
{
	FILE *f;
	size_t i;
	int err = 0;

	*cells = (struct cells){ .at = calloc(n, sizeof(*cells->at)) };
	f = cells->at ? open_memstream(&cells->text, &cells->n) : NULL;
	if (!f) {
		free_cells(cells);
		return -ENOMEM;
	}
	for (i = 0; i < n && !err; i++) {
		cells->at[i] = ftell(f);
		err = put_cell(f, line, i, milliseconds);
		fputc(0, f);
	}
	if (fclose(f) || err) {
		free_cells(cells);
		return -ENOMEM;
	}
	return 0;
}

/* True if a text comes last. Its column gets the rest of the line. */
static bool ends_with_text(const struct source *c)
{
	const struct column *last = &c->column[c->n - 1];

	return c->n > c->fields_at && last->left && (last->rest || !last->word);
}

static void see(struct source *c, const struct stream_line *line, const struct cells *cells)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct field *f = i >= c->fields_at ? &line->field[i - c->fields_at].field : NULL;

		if (f && f->text) {
			c->column[i].left = true;
			c->column[i].word = f->word;
			c->column[i].rest = line->field[i - c->fields_at].rest;
		}
		if (!cells->text[cells->at[i]])
			continue;
		if (f && !line->field[i - c->fields_at].field.spare)
			c->column[i].spare = false;
		if (!c->column[i].seen) {
			c->column[i].seen = true;
			c->heading_due = true;
		}
	}
}

static void widen(struct source *c, const struct cells *cells)
{
	size_t i, width;

	for (i = 0; i < c->n; i++) {
		width = terminal_columns(cells->text + cells->at[i]);
		if (width > MOST_WIDTH && c->column[i].left)
			width = MOST_WIDTH;
		if (width > c->column[i].width && !(i == c->n - 1 && ends_with_text(c)))
			c->column[i].width = width;
	}
}

/*
 * --- the screen --------------------------------------------------------------------------------
 */

static bool is_shown(const struct source *c, size_t i)
{
	return i < c->shown && c->column[i].seen && !c->column[i].left_out;
}

static size_t width_of(const struct source *c, size_t i, size_t text)
{
	return i == c->n - 1 && ends_with_text(c) ? text : c->column[i].width;
}

/* Returns the index of the last column shown. */
static size_t last_shown(const struct source *c)
{
	size_t i = c->shown - 1;

	while (!is_shown(c, i))         /* the time is always shown */
		i--;
	return i;
}

/* text: width granted to a text at the end. */
static size_t line_width(const struct source *c, size_t text)
{
	size_t sum = c->name_width, i;

	for (i = 0; i < c->n; i++)
		if (is_shown(c, i))
			sum += width_of(c, i, text) + (sum ? GAP : 0);
	return sum;
}

/* True if columns have become too wide, but fit again without the optional ones. */
static bool needs_fewer(const struct source *c, const struct terminal *t)
{
	size_t width = line_width(c, LEAST_TEXT), least = width, i;

	for (i = 0; i < c->n; i++)
		if (is_shown(c, i) && (i == CPU || c->column[i].spare))
			least -= width_of(c, i, LEAST_TEXT) + GAP;
	return width > t->columns && least <= t->columns;
}

static bool has_spare(const struct source *c)
{
	size_t i;

	for (i = c->fields_at; i < c->n; i++)
		if (c->column[i].spare && c->column[i].seen)
			return true;
	return false;
}

/* Chooses the columns that fit at their current widths. */
static void choose_columns(struct source *c, const struct terminal *t)
{
	size_t text = has_spare(c) ? USUAL_TEXT : LEAST_TEXT, i;

	c->shown = c->n;
	for (i = 0; i < c->n; i++)
		c->column[i].left_out = false;
	c->column[CPU].left_out = line_width(c, text) > t->columns;
	for (i = c->n; i-- > c->fields_at && line_width(c, text) > t->columns;)
		c->column[i].left_out = c->column[i].spare && c->column[i].seen;
	while (c->shown > c->fields_at && line_width(c, LEAST_TEXT) > t->columns)
		c->shown--;
}

/* Returns the number of bytes of text that fit into a line. Words after the first least bytes are kept whole. */
static size_t first_line_of(const char *text, size_t columns, size_t least)
{
	size_t n = terminal_fitting(text, columns), i;

	if (!text[n] || text[n] == ' ')
		return n;
	for (i = n; i > least && n - i < WORD; i--)
		if (text[i - 1] == ' ')
			return i - 1;
	return n;
}

/*
 * Writes text, beginning at column at; further lines are indented. Does not break the first line within its first least
 * bytes.
 */
static void put_wrapped(FILE *f, const struct terminal *t, const char *text, size_t at, size_t indent, size_t least)
{
	size_t n = first_line_of(text, t->columns - at, least);

	while (1) {
		fwrite(text, 1, n, f);
		text += n + strspn(text + n, " ");
		if (!*text)
			break;
		fprintf(f, "\n%*s", (int)indent, "");
		n = first_line_of(text, t->columns - indent, 0);
	}
	fputc('\n', f);
}

void stream_columns__put_wrapped(FILE *f, const struct terminal *t, const char *line)
{
	put_wrapped(f, t, line, 0, INDENT, 0);
}

/* Pads a cell to its column's width. The last column gets no trailing blanks. */
static void put_padded(FILE *f, const struct column *c, const char *text, bool is_first, bool is_last)
{
	size_t places = terminal_columns(text), blanks = c->width > places ? c->width - places : 0;

	if (!is_first)
		fprintf(f, "%*s", GAP, "");
	if (!c->left)
		fprintf(f, "%*s", (int)blanks, "");
	fputs(text, f);
	if (c->left && !is_last)
		fprintf(f, "%*s", (int)blanks, "");
}

/* Writes the name of the tool, so that readers can match lines with headings. */
static void put_name(FILE *f, const struct source *c)
{
	if (c->name_width)
		fprintf(f, "%-*s%*s", (int)c->name_width, c->name, GAP, "");
}

static void put_left_out(struct writer *w, const struct source *c)
{
	const char *before = "not shown: ";
	size_t i;

	fputs(terminal_style(&w->terminal, STYLE_DIM), w->file);
	for (i = 0; i < c->n; i++) {
		if (!c->column[i].left_out)
			continue;
		fprintf(w->file, "%s%s", before, c->column[i].heading);
		before = ", ";
	}
	fprintf(w->file, "%s%s", terminal_style(&w->terminal, STYLE_PLAIN), *before == ',' ? "\n" : "");
}

static void put_heading(struct writer *w, const struct source *c)
{
	const struct terminal *t = &w->terminal;
	size_t last = last_shown(c), i;

	fputs(terminal_style(t, STYLE_HEADING), w->file);
	put_name(w->file, c);
	for (i = 0; i <= last; i++)
		if (is_shown(c, i))
			put_padded(w->file, &c->column[i], c->column[i].heading, !i, i == last);
	fprintf(w->file, "%s\n", terminal_style(t, STYLE_PLAIN));
	put_left_out(w, c);
}

/* lines: number of lines written before, of all sources. */
static void begin_screen(struct writer *w, struct source *c, u64 lines)
{
	u32 screen = w->terminal.rows > 8 ? w->terminal.rows - 3 : UNKNOWN_SCREEN - 1;

	if (!c->heading_due && lines - c->heading_at < screen)
		return;
	choose_columns(c, &w->terminal);
	put_heading(w, c);
	c->heading_due = false;
	c->heading_at = lines;
}

static void trim(char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == ' ')
		text[--n] = 0;
}

/*
 * Writes a line that ends with a text. A text that does not fit continues below its beginning, or moves to the next
 * line if little room is left.
 */
static int put_line_and_text(FILE *f, const struct terminal *t, char *line, const char *text)
{
	size_t places = terminal_columns(line), least = strlen(line), indent = INDENT;
	bool fits = places + terminal_columns(text) <= t->columns;
	char *all = NULL;

	if (!*text || (!fits && places > t->columns / 2)) {
		trim(line);
		put_wrapped(f, t, line, 0, INDENT, 0);
		if (!*text)
			return 0;
		fprintf(f, "%*s", INDENT, "");
		put_wrapped(f, t, text, INDENT, INDENT, 0);
		return 0;
	}
	if (!fits)
		indent = places;
	if (asprintf(&all, "%s%s", line, text) < 0)
		return -ENOMEM;
	trim(all);
	put_wrapped(f, t, all, 0, indent, least);
	free(all);
	return 0;
}

static int put_columns(struct writer *w, const struct source *c, const struct cells *cells)
{
	bool is_text = c->shown == c->n && ends_with_text(c);
	size_t last = is_text ? c->n - 1 : last_shown(c), n, i;
	char *line = NULL;
	FILE *f = open_memstream(&line, &n);
	int err;

	if (!f)
		return -ENOMEM;
	put_name(f, c);
	for (i = 0; i < last + !is_text; i++)
		if (is_shown(c, i))
			put_padded(f, &c->column[i], cells->text + cells->at[i], !i, !is_text && i == last);
	if (is_text)
		fprintf(f, "%*s", GAP, "");
	err = fclose(f) ? -ENOMEM : 0;
	if (!err)
		err = put_line_and_text(w->file, &w->terminal, line, is_text ? cells->text + cells->at[last] : "");
	free(line);
	return err;
}

static bool is_left_over(const struct source *c, const struct stream_line *line, size_t field)
{
	const struct stream_field *v = &line->field[field];
	size_t i = c->fields_at + field;

	return stream_field__is_there(v) && (i >= c->shown || c->column[i].left_out) &&
	       !(c->column[i].left_out && v->field.spare);
}

/* Writes the values that did not fit into the line. */
static int put_rest(struct writer *w, const struct source *c, const struct stream_line *line)
{
	const char *gap = "";
	char *text = NULL;
	size_t n, i;
	FILE *f = open_memstream(&text, &n);
	int err = 0;

	if (!f)
		return -ENOMEM;
	for (i = 0; i < line->n && !err; i++) {
		if (!is_left_over(c, line, i))
			continue;
		err = stream_put_pair(f, &line->field[i], gap, w->milliseconds);
		gap = " ";
	}
	if (fclose(f))
		err = -ENOMEM;
	if (!err && n) {
		fprintf(w->file, "%*s", INDENT, "");
		put_wrapped(w->file, &w->terminal, text, INDENT, INDENT, 0);
	}
	free(text);
	return err;
}

int stream_columns__write(struct writer *w, const struct stream_line *line)
{
	struct source *c = w->columns->present;
	struct cells cells;
	int err = make_cells(&cells, line, c->n, w->milliseconds);

	if (err)
		return err;
	if (w->terminal.columns < WIDE && strlen(cells.text) > MILLISECONDS)
		cells.text[MILLISECONDS] = 0;
	see(c, line, &cells);
	widen(c, &cells);
	c->heading_due |= needs_fewer(c, &w->terminal);
	begin_screen(w, c, w->columns->lines);
	err = put_columns(w, c, &cells);
	if (!err)
		err = put_rest(w, c, line);
	w->columns->lines++;
	free_cells(&cells);
	return err;
}
