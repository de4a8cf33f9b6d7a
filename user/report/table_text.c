// SPDX-License-Identifier: BSD-2-Clause
/*
 * Text tables. A pipe gets all columns and exact figures. A terminal gets the columns that fit: headings in words,
 * three digits with a unit, long texts cut. If this is not enough, the least informative columns are dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/report.h"
#include "report/role.h"
#include "report/terminal.h"
#include "report/text.h"

#define SIGNED_SPACE (UNITS_SPACE + 1)
#define GAP 2                   /* between columns */
#define CUT "..."
#define NARROW_TEXT 24          /* cut texts to this width before dropping columns */
#define LEAST_TEXT 10           /* cut texts to this width once no column can be dropped */
#define LEAST_FIGURES 2         /* number of figure columns that are never dropped */
#define AROUND 10               /* lines of a terminal that are not rows: header, titles, losses, prompt */
#define LEAST_ROWS 5

/*
 * --- cells -------------------------------------------------------------------------------------
 */

/* Formats ns as ms or us, with three decimals. A column has one unit, so that its numbers compare. */
static char *time_text(u64 ns, bool micro)
{
	u64 unit = micro ? NSEC_PER_USEC : NSEC_PER_MSEC;
	char number[UNITS_SPACE], *text;

	format_count(number, ns / unit);
	if (asprintf(&text, "%s.%03llu %s", number, ns % unit * 1000 / unit, micro ? "us" : "ms") <
	    0)
		return NULL;
	return text;
}

/* True if all times of a column are below a millisecond. */
static bool column_is_micro(const struct report *r, size_t k)
{
	u64 most = 0;
	size_t i;

	for (i = 0; i < r->nrows; i++)
		if (k < r->row[i].ncells && r->row[i].cell[k].kind == FIELD_TIME &&
		    r->row[i].cell[k].number > most)
			most = r->row[i].cell[k].number;
	return most && most < NSEC_PER_MSEC;
}

static char *signed_text(u64 number, enum unit unit)
{
	s64 value = number;
	char size[UNITS_SPACE], *text;

	format_value(size, value < 0 ? -(u64)value : (u64)value, unit, false);
	return asprintf(&text, "%s%s", value < 0 ? "-" : "", size) < 0 ? NULL : text;
}

/* Formats a cell with all digits. Returns an allocated string, or NULL without memory. */
static char *exact_text(const struct field *f, bool micro)
{
	char number[UNITS_SPACE], *text = NULL;

	switch (f->kind) {
	case FIELD_NONE:
		return strdup("");
	case FIELD_SIGNED:
		return signed_text(f->number, UNIT_COUNT);
	case FIELD_SIGNED_SIZE:
		return signed_text(f->number, UNIT_BYTES);
	case FIELD_ID:
		return asprintf(&text, "%llu", f->number) < 0 ? NULL : text;
	case FIELD_TIME:
		return time_text(f->number, micro);
	case FIELD_DURATION:
		return strdup(format_value(number, f->number, UNIT_NS, false));
	case FIELD_SIZE:
		return strdup(format_value(number, f->number, UNIT_BYTES, false));
	case FIELD_REAL:
		return strdup(field_real_text(number, f));
	default:
		return strdup(format_count(number, f->number));
	}
}

/* Formats a cell with three digits and a fitting unit. */
static char *short_text(const struct field *f, bool milliseconds)
{
	enum unit unit = field_unit(f);
	char number[UNITS_SPACE];

	if (unit == UNIT_COUNT || f->kind == FIELD_NONE || f->kind == FIELD_REAL || f->kind == FIELD_ID)
		return exact_text(f, false);
	if (field_is_signed(f->kind))
		return signed_text(f->number, unit);
	if (!f->number)
		return strdup("0");
	return strdup(format_value(number, f->number, unit, milliseconds));
}

char *text_heading(const char *name)
{
	static const char percent[] = "_percent";
	size_t n = strlen(name);
	char *text = strdup(name), *p;

	if (!text)
		return NULL;
	if (n > strlen(percent) && !strcmp(name + n - strlen(percent), percent))
		strcpy(text + n - strlen(percent), "%");
	else if (n > 3 && !strcmp(name + n - 3, "_ns"))
		text[n - 3] = 0;
	for (p = text; *p; p++)
		if (*p == '_')
			*p = ' ';
	return text;
}

/*
 * --- columns -----------------------------------------------------------------------------------
 */

struct column {
	const char *name;
	size_t width;
	size_t widest;          /* widest of its cells; width: columns granted to it */
	bool shown;
	bool right;             /* right-aligned: figures */
	bool text;              /* text, which may be cut */
	bool micro;             /* times are in us */
	bool of_key;
	bool is_key;            /* always shown, with all columns before it */
	bool says_something;    /* some value is nonzero */
	bool spare;             /* dropped first */
};

struct table {
	size_t rows, columns;
	size_t first;           /* index of the first row, after the titles */
	char **text;            /* rows * columns; NULL for a cell left out */
	struct column *column;
};

static void table__free(struct table *t)
{
	size_t i;

	for (i = 0; t->text && i < t->rows * t->columns; i++)
		free(t->text[i]);
	free(t->text);
	free(t->column);
}

static char **cell_at(const struct table *t, size_t row, size_t column)
{
	return &t->text[row * t->columns + column];
}

static bool is_something(const struct field *f)
{
	return f->text ? *f->text : f->kind == FIELD_REAL ? f->real != 0 : f->kind != FIELD_NONE && f->number;
}

static char *indented(const struct field *f)
{
	char *escaped = escape_string(f->text), *text;

	if (!f->indent || !escaped)
		return escaped;
	if (asprintf(&text, "%*s%s", f->indent, "", escaped) < 0)
		text = NULL;
	free(escaped);
	return text;
}

static int add_cell(struct table *t, const struct writer *w, size_t row, size_t k, const struct field *f)
{
	struct column *c = &t->column[k];
	char **text = cell_at(t, row, k);

	if (f->text)
		*text = indented(f);
	else
		*text = w->terminal.columns ? short_text(f, w->milliseconds) : exact_text(f, c->micro);
	if (!*text)
		return -ENOMEM;
	c->right |= !f->text && f->kind != FIELD_NONE;
	c->text |= f->text != NULL;
	c->says_something |= is_something(f);
	return 0;
}

static int add_title(struct table *t, const struct writer *w, size_t k)
{
	char **text = cell_at(t, 0, k);

	*text = w->terminal.columns ? text_heading(t->column[k].name) : strdup(t->column[k].name);
	return *text ? 0 : -ENOMEM;
}

static void measure(struct table *t)
{
	bool key = true;
	size_t i, k, n;

	for (k = 0; k < t->columns; k++) {
		struct column *c = &t->column[k];

		for (i = 0; c->shown && i < t->rows; i++) {
			const char *text = *cell_at(t, i, k);

			n = text ? terminal_columns(text) : 0;
			c->widest = c->width = n > c->width ? n : c->width;
		}
		key &= !c->shown || (c->of_key && !c->spare);
		c->is_key = key || !k;
	}
}

static int table__make(struct table *t, const struct writer *w, const struct report *r)
{
	size_t i, k;
	int err = 0;

	t->first = r->table;
	t->columns = r->row[0].ncells;
	t->rows = r->nrows + t->first;
	t->text = calloc(t->rows * t->columns ?: 1, sizeof(*t->text));
	t->column = calloc(t->columns ?: 1, sizeof(*t->column));
	if (!t->text || !t->column)
		return -ENOMEM;
	for (k = 0; k < t->columns && !err; k++) {
		t->column[k] = (struct column){
			.name = r->row[0].cell[k].name, .shown = !r->row[0].cell[k].machine,
			.micro = column_is_micro(r, k), .spare = r->row[0].cell[k].spare,
			.of_key = field_is_key(&r->row[0].cell[k]),
		};
		if (t->first && t->column[k].shown)
			err = add_title(t, w, k);
		for (i = 0; t->column[k].shown && i < r->nrows && !err; i++)
			if (k < r->row[i].ncells)
				err = add_cell(t, w, t->first + i, k, &r->row[i].cell[k]);
	}
	measure(t);
	return err;
}

/*
 * --- fitting to the terminal -------------------------------------------------------------------
 */

static size_t wide(const struct table *t)
{
	size_t all = 0, k;

	for (k = 0; k < t->columns; k++)
		if (t->column[k].shown)
			all += t->column[k].width + (all ? GAP : 0);
	return all;
}

/* Narrows the widest texts as needed, but none below least. */
static void narrow_texts(struct table *t, size_t columns, size_t least)
{
	struct column *widest;
	size_t k, over, spare;

	while (wide(t) > columns) {
		for (widest = NULL, k = 0; k < t->columns; k++)
			if (t->column[k].shown && t->column[k].text && !t->column[k].right &&
			    (!widest || t->column[k].width > widest->width))
				widest = &t->column[k];
		if (!widest || widest->width <= least)
			return;
		over = wide(t) - columns;
		spare = widest->width - least;
		widest->width -= over < spare ? over : spare;
	}
}

static bool is_figure(const struct column *c)
{
	return c->shown && (c->right || c->spare) && !c->is_key;
}

static bool says_nothing(const struct column *c)
{
	return !c->says_something;
}

static bool is_spare(const struct column *c)
{
	return c->spare;
}

/* Drops columns of a kind (NULL: any) from the right, because tools show the most important ones first. */
static void drop_figures(struct table *t, size_t columns, bool (*is_kind)(const struct column *c))
{
	size_t k = t->columns, left = 0, i;

	for (i = 0; i < t->columns; i++)
		left += is_figure(&t->column[i]);
	while (k-- && wide(t) > columns && left > LEAST_FIGURES) {
		struct column *c = &t->column[k];

		if (!is_figure(c) || (is_kind && !is_kind(c)))
			continue;
		c->shown = false;
		left--;
	}
}

/* Restores the full widths before texts are cut again to the remaining room. */
static void widen_texts(struct table *t)
{
	size_t k;

	for (k = 0; k < t->columns; k++)
		t->column[k].width = t->column[k].widest;
}

static void table__fit(struct table *t, size_t columns)
{
	drop_figures(t, columns, says_nothing);
	narrow_texts(t, columns, NARROW_TEXT);
	drop_figures(t, columns, is_spare);
	drop_figures(t, columns, NULL);
	widen_texts(t);
	narrow_texts(t, columns, NARROW_TEXT);
	narrow_texts(t, columns, LEAST_TEXT);
}

/* Returns the last part of a text, places columns wide. */
static const char *tail_of(const char *text, size_t places)
{
	const char *p = text + strlen(text);

	while (p > text && places)
		if ((*--p & 0xc0) != 0x80)
			places--;
	return p;
}

static size_t head_of(const char *text, size_t places)
{
	size_t n = 0;

	while (text[n] && (places || (text[n] & 0xc0) == 0x80))
		if ((text[n++] & 0xc0) != 0x80)
			places--;
	return n;
}

/* Writes a cell. Cuts paths at the front, because their end is more informative. Returns the columns used. */
static size_t put_cell(FILE *f, const char *text, size_t width)
{
	size_t places = terminal_columns(text), kept = width - strlen(CUT);

	if (places <= width) {
		fputs(text, f);
		return places;
	}
	if (*text == '/')
		fprintf(f, CUT "%s", tail_of(text, kept));
	else
		fprintf(f, "%.*s" CUT, (int)head_of(text, kept), text);
	return width;
}

/* Makes columns as wide as their widest cell, with numbers right-aligned and no trailing blanks. */
static void put_row(const struct writer *w, const struct table *t, size_t row)
{
	size_t k, gap = 0, pad, places;
	const char *text;

	for (k = 0; k < t->columns; k++) {
		const struct column *c = &t->column[k];

		if (!c->shown)
			continue;
		text = *cell_at(t, row, k);
		if (!text || !*text) {
			gap += c->width + GAP;
			continue;
		}
		places = terminal_columns(text);
		pad = places < c->width ? c->width - places : 0;
		fprintf(w->file, "%*s", (int)(gap + (c->right ? pad : 0)), "");
		put_cell(w->file, text, c->width);
		gap = GAP + (c->right ? 0 : pad);
	}
	fputc('\n', w->file);
}

/* Returns the number of rows that fit. */
static size_t rows_shown(const struct writer *w, const struct report *r)
{
	size_t room = w->terminal.rows > AROUND + LEAST_ROWS ? w->terminal.rows - AROUND : LEAST_ROWS;

	if (!w->terminal.rows || !(r->has_events || r->has_losses) || r->nrows <= room)
		return r->nrows;
	return room;
}

/* Reports the rows left out, here and earlier, and the hidden columns. */
static void put_left_out(const struct writer *w, const struct report *r, const struct table *t, size_t shown)
{
	const char *before = "not shown: ";
	char *text = NULL, *heading;
	size_t hidden = r->hidden, k, n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return;
	for (k = shown; k < r->nrows; k++)
		hidden += !r->row[k].is_total;
	if (hidden) {
		fprintf(f, "%s%zu rows (%s)", before, hidden, w->more ?: "--top N");
		before = ", ";
	}
	for (k = 0; k < t->columns; k++) {
		if (t->column[k].shown || r->row[0].cell[k].machine)
			continue;
		heading = text_heading(t->column[k].name);
		fprintf(f, "%s%s", before, heading ?: "?");
		free(heading);
		before = ", ";
	}
	if (r->no_table)
		fprintf(f, "%s%s shows histograms", *before == ',' ? "; " : "", r->no_table);
	if (*before == ',' || r->no_table)
		fputc('\n', f);
	if (!fclose(f) && *text) {
		fputs(terminal_style(&w->terminal, STYLE_DIM), w->file);
		terminal__put_paragraph(w->file, &w->terminal, text, 2);
		fputs(terminal_style(&w->terminal, STYLE_PLAIN), w->file);
	}
	free(text);
}

int text_put_table(struct writer *w, const struct report *r)
{
	struct table t = {};
	size_t shown = rows_shown(w, r), i;
	int err = table__make(&t, w, r);

	if (!err && w->terminal.columns)
		table__fit(&t, w->terminal.columns);
	if (!err && t.first) {
		fputs(terminal_style(&w->terminal, STYLE_HEADING), w->file);
		put_row(w, &t, 0);
		fputs(terminal_style(&w->terminal, STYLE_PLAIN), w->file);
	}
	for (i = 0; !err && i < r->nrows; i++)
		if (i < shown || r->row[i].is_total)
			put_row(w, &t, t.first + i);
	if (!err && w->terminal.columns)
		put_left_out(w, r, &t, shown);
	table__free(&t);
	return err;
}
