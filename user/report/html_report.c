// SPDX-License-Identifier: BSD-2-Clause
#include "report/html_report.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/flame.h"
#include "report/html.h"
#include "report/incomplete.h"
#include "report/text.h"
#include "report/xml.h"

#define LONGEST 300             /* text in a cell, in letters */
#define MOST_PRINTED 60000      /* tree or listing, in bytes */

/*
 * --- cells -------------------------------------------------------------------------------------
 */

static bool is_number(const struct field *f)
{
	return !f->text && f->kind != FIELD_NONE;
}

/* Formats a number as in JSON. */
static void exact(char text[UNITS_SPACE], const struct field *f)
{
	if (f->kind == FIELD_REAL)
		snprintf(text, UNITS_SPACE, "%.17g", f->real);
	else if (field_is_signed(f->kind))
		snprintf(text, UNITS_SPACE, "%lld", (s64)f->number);
	else
		snprintf(text, UNITS_SPACE, "%llu", f->number);
}

/* Formats a number as in text output. */
static void human(char text[UNITS_SPACE], const struct field *f)
{
	bool negative = field_is_signed(f->kind) && (s64)f->number < 0;
	char size[UNITS_SPACE];

	if (f->kind == FIELD_REAL && !isfinite(f->real))
		strcpy(text, "-");
	else if (f->kind == FIELD_REAL)
		field_real_text(text, f);
	else if (f->kind == FIELD_ID)
		snprintf(text, UNITS_SPACE, "%llu", f->number);
	else
		snprintf(text, UNITS_SPACE, "%s%.60s", negative ? "-" : "",
			 format_value(size, negative ? -f->number : f->number, field_unit(f), false));
}

static void put_number(FILE *f, const struct field *field, const char *element)
{
	char digits[UNITS_SPACE], text[UNITS_SPACE];

	exact(digits, field);
	human(text, field);
	fprintf(f, "<%s class=\"n\" data-v=\"%s\"", element, digits);
	if (strcmp(digits, text))
		fprintf(f, " title=\"%s%s%s\"", digits, field_unit(field) == UNIT_COUNT ? "" : " ",
			field_unit(field) == UNIT_COUNT ? "" : unit_name(field_unit(field)));
	fprintf(f, ">%s</%s>", text, strncmp(element, "th", 2) ? element : "th");
}

void html_put_cell(FILE *f, const struct field *field, bool heading)
{
	const char *element = heading ? "th scope=\"row\"" : "td";

	if (is_number(field)) {
		put_number(f, field, element);
		return;
	}
	fprintf(f, "<%s>", element);
	if (field->text)
		put_xml_head(f, field->text, LONGEST);
	fputs(heading ? "</th>" : "</td>", f);
}

/*
 * Writes a column heading: "wait_ns" becomes "wait", because cells show units; "waiting_percent" becomes "waiting %".
 */
static void put_column_name(FILE *f, const struct field *field)
{
	size_t n = strlen(field->name), i;
	char *name = strdup(field->name);
	const char *end = "";

	if (!name)
		return;
	if (n > 3 && !strcmp(name + n - 3, "_ns")) {
		name[n - 3] = 0;
	} else if (n > 8 && !strcmp(name + n - 8, "_percent")) {
		name[n - 8] = 0;
		end = " %";
	}
	for (i = 0; name[i]; i++)
		if (name[i] == '_')
			name[i] = ' ';
	put_xml_escaped(f, name);
	fputs(end, f);
	free(name);
}

static void put_column(FILE *f, const struct field *field, bool number)
{
	fprintf(f, "<th scope=\"col\"%s data-name=\"", number ? " class=\"n\"" : "");
	put_xml_escaped(f, field->name);
	fputs("\">", f);
	put_column_name(f, field);
	fputs("</th>", f);
}

/* Begins a table that scrolls on screen and prints only its first rows if it is long. */
#define LONG_ROWS 40            /* rows printed of a long table: html_style.h */

static void begin_long_table(FILE *f, size_t rows)
{
	fprintf(f,
		"<div class=\"scroll%s\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"data\">\n",
		rows > LONG_ROWS ? " long" : "");
}

static void end_table(FILE *f)
{
	fputs("</tbody></table></div>\n", f);
}

static void end_long_table(FILE *f, size_t rows)
{
	end_table(f);
	if (rows > LONG_ROWS)
		fprintf(f, "<p class=\"left paper\">on paper the first %d of %zu rows</p>\n", LONG_ROWS, rows);
}

static void begin_table(FILE *f, const char *class)
{
	fprintf(f, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"%s\">\n",
		class);
}

static void put_shown(FILE *f, size_t shown, size_t all, const char *what)
{
	char a[UNITS_SPACE], b[UNITS_SPACE];

	if (shown < all)
		fprintf(f, "<p class=\"left\">%s of %s %s are on this page; --json has all</p>\n",
			format_count(a, shown), format_count(b, all), what);
}

/*
 * --- tables ------------------------------------------------------------------------------------
 */

static bool column_is_number(const struct report *r, size_t k)
{
	size_t i;

	for (i = 0; i < r->nrows; i++)
		if (k < r->row[i].ncells && is_number(&r->row[i].cell[k]))
			return true;
	return false;
}

static void put_columns(FILE *f, const struct report *r)
{
	const struct report_row *first = &r->row[0];
	size_t k;

	fputs("<thead><tr>", f);
	for (k = 0; k < first->ncells; k++)
		if (!first->cell[k].machine)
			put_column(f, &first->cell[k], column_is_number(r, k));
	fputs("</tr></thead>\n", f);
}

static void put_row(FILE *f, const struct report_row *row, const struct report_row *first)
{
	bool heading = true;
	size_t k;

	fputs("<tr>", f);
	for (k = 0; k < row->ncells; k++) {
		if (k < first->ncells && first->cell[k].machine)
			continue;
		html_put_cell(f, &row->cell[k], heading);
		heading = false;
	}
	fputs("</tr>\n", f);
}

static void put_table(FILE *f, const struct report *r, size_t most)
{
	size_t n = r->nrows < most ? r->nrows : most, i;

	begin_long_table(f, n);
	if (r->table)
		put_columns(f, r);
	fputs("<tbody>\n", f);
	for (i = 0; i < n; i++)
		put_row(f, &r->row[i], &r->row[0]);
	end_long_table(f, n);
	put_shown(f, n, r->nrows, "rows");
}

/*
 * --- histograms --------------------------------------------------------------------------------
 */

/* A row of a histogram: values from first to last, both inclusive. */
struct bar {
	u64 first, last;
	bool no_first, no_last; /* open ends, of histograms with bounds */
	u64 count;
};

#define BY_VALUE 32             /* small counts get one row per value, as in text */

/* Returns the number of rows, from the first to the last nonempty one, or -ENOMEM. */
static ssize_t bars_of_bounds(struct bar **bars, const struct histogram *h)
{
	u32 first = h->bucket[0].index, last = h->bucket[h->nbuckets - 1].index, i;
	struct bar *b = calloc(last - first + 1, sizeof(*b));
	size_t k = 0;

	if (!b)
		return -ENOMEM;
	for (i = first; i <= last; i++) {
		b[i - first] = (struct bar){
			.first = i ? (u64)h->bound[i - 1] : 0, .last = i < h->nbounds ? (u64)h->bound[i] - 1 : 0,
			.no_first = !i, .no_last = i == h->nbounds,
		};
		if (h->bucket[k].index == i)
			b[i - first].count = h->bucket[k++].count;
	}
	*bars = b;
	return last - first + 1;
}

static ssize_t bars_of_values(struct bar **bars, const struct histogram *h)
{
	size_t n = h->max + 1, i;
	struct bar *b = calloc(n, sizeof(*b));

	if (!b)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		b[i].first = b[i].last = i;
	for (i = 0; i < h->nbuckets; i++)
		b[histogram_bucket_first(h->bucket[i].index)].count += h->bucket[i].count;
	*bars = b;
	return n;
}

static ssize_t bars_of_powers(struct bar **bars, const struct histogram *h)
{
	u64 rows[HISTOGRAM_POWER_ROWS];
	int lowest = HISTOGRAM_POWER_ROWS, highest = -1, i;
	struct bar *b;

	histogram__by_power(h, rows);
	for (i = 0; i < HISTOGRAM_POWER_ROWS; i++)
		if (rows[i]) {
			lowest = lowest > i ? i : lowest;
			highest = i;
		}
	b = calloc(highest - lowest + 1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	for (i = lowest; i <= highest; i++) {
		b[i - lowest].first = i ? 1ULL << (i - 1) : 0;
		b[i - lowest].last = i ? b[i - lowest].first + (b[i - lowest].first - 1) : 0;
		b[i - lowest].count = rows[i];
	}
	*bars = b;
	return highest - lowest + 1;
}

static const char *value_text(char text[UNITS_SPACE + 1], const struct histogram *h, u64 value, enum unit unit,
			      bool milliseconds)
{
	bool negative = h->bound && (s64)value < 0;
	char size[UNITS_SPACE];

	snprintf(text, UNITS_SPACE + 1, "%s%s", negative ? "-" : "",
		 format_value(size, negative ? -value : value, unit, milliseconds));
	return text;
}

static void put_range(FILE *f, const struct report *r, const struct histogram *h, const struct bar *b,
		      bool milliseconds)
{
	char from[UNITS_SPACE + 1], to[UNITS_SPACE + 1];

	value_text(from, h, b->first, r->unit, milliseconds);
	value_text(to, h, b->last == UINT64_MAX ? b->last : b->last + 1, r->unit, milliseconds);
	fputs("<th scope=\"row\" class=\"n\">", f);
	if (b->no_first)
		fprintf(f, "below %s", to);
	else if (b->no_last)
		fprintf(f, "%s or more", from);
	else if (b->first == b->last)
		fputs(from, f);
	else
		fprintf(f, "%s \xe2\x80\x93 %s", from, to);
	fputs("</th>", f);
}

static void put_marks(FILE *f, const struct histogram *h, const struct bar *b)
{
	const char *before = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(report_percentiles) && !h->bound; i++) {
		u64 value = histogram__percentile(h, report_percentiles[i].per_10k);

		if (value < b->first || value > b->last)
			continue;
		fprintf(f, "%s%s", before, report_percentiles[i].text);
		before = " ";
	}
}

static void put_bar(FILE *f, const struct histogram *h, const struct bar *b, u64 most)
{
	char n[UNITS_SPACE];

	fprintf(f, "<td class=\"n\" data-v=\"%llu\">%s</td><td class=\"n\">%.1f%%</td>", b->count,
		format_count(n, b->count), 100.0 * b->count / h->count);
	fputs("<td class=\"b\"><svg aria-hidden=\"true\">", f);
	if (b->count)
		fprintf(f, "<rect width=\"%.2f%%\" height=\"100%%\"/>", 100.0 * b->count / most);
	fputs("</svg></td><td class=\"m\">", f);
	put_marks(f, h, b);
	fputs("</td></tr>\n", f);
}

/* Writes a key as "pid 123 nginx, cpu 3". */
static void put_key(FILE *f, const struct field *key, size_t n)
{
	char text[UNITS_SPACE];
	size_t i;

	for (i = 0; i < n; i++) {
		if (key[i].machine)
			continue;
		fputs(!i ? "" : key[i].role == ROLE_LABEL ? " " : ", ", f);
		if (key[i].role != ROLE_LABEL) {
			put_xml_escaped(f, key[i].name);
			fputc(' ', f);
		}
		if (key[i].text) {
			put_xml_head(f, key[i].text, LONGEST);
		} else {
			exact(text, &key[i]);
			fputs(text, f);
		}
	}
}

static int put_histogram(FILE *f, const struct report *r, const struct report_group *g, bool milliseconds)
{
	const struct histogram *h = &g->hist;
	bool by_value = r->unit == UNIT_COUNT && h->max < BY_VALUE;
	struct bar *bar = NULL;
	ssize_t n = h->bound ? bars_of_bounds(&bar, h) : by_value ? bars_of_values(&bar, h) : bars_of_powers(&bar, h);
	ssize_t i, gap;
	u64 most = 0;

	if (n < 0)
		return n;
	for (i = 0; i < n; i++)
		if (bar[i].count > most)
			most = bar[i].count;
	begin_table(f, "hist");
	if (g->nkey) {
		fputs("<caption>", f);
		put_key(f, g->key, g->nkey);
		fputs("</caption>", f);
	}
	fputs("<thead><tr><th scope=\"col\" class=\"n\">", f);
	put_xml_escaped(f, r->value ?: "value");
	fputs("</th><th scope=\"col\" class=\"n\">count</th><th scope=\"col\" class=\"n\">share</th><th scope=\"col\" class=\"b\">"
	      "<span class=\"axis\"><span>0</span><span>",
	      f);
	fprintf(f, "%.1f%%</span></span></th><th scope=\"col\">percentiles</th></tr></thead><tbody>\n",
		100.0 * most / h->count);
	for (i = 0; i < n; i++) {
		for (gap = 0; i + gap < n && !bar[i + gap].count; gap++)
			;
		if (gap > 2 && !h->bound) {
			fputs("<tr><th scope=\"row\" class=\"n\">\xe2\x80\xa6</th><td colspan=\"4\"></td></tr>\n", f);
			i += gap;
		}
		fputs("<tr>", f);
		put_range(f, r, h, &bar[i], milliseconds);
		put_bar(f, h, &bar[i], most);
	}
	end_table(f);
	free(bar);
	return 0;
}

/* Names and values of a histogram's figures, as cells. */
#define FIGURES 9

static struct field figure(const struct report *r, const struct histogram *h, const char *name, u64 value)
{
	struct field f = { .name = name, .number = value, .kind = h->bound ? FIELD_SIGNED : FIELD_NUMBER };

	if (r->unit == UNIT_NS && !h->bound)
		f.kind = FIELD_DURATION;
	if (r->unit == UNIT_BYTES)
		f.kind = h->bound ? FIELD_SIGNED_SIZE : FIELD_SIZE;
	return f;
}

static size_t figures_of(struct field out[FIGURES], const struct report *r, const struct histogram *h)
{
	size_t n = 0, i;

	out[n++] = (struct field){ .name = "count", .number = h->count };
	out[n++] = figure(r, h, "min", h->min);
	if (r->unit == UNIT_COUNT)
		out[n++] = (struct field){ .name = "avg", .kind = FIELD_REAL, .decimals = 2,
			.real = h->count ? (double)h->sum / h->count : 0, .exact = h->sum, .exact_per = h->count };
	else
		out[n++] = figure(r, h, "avg", histogram__average(h));
	for (i = 0; i < ARRAY_SIZE(report_percentiles) && !h->bound; i++)
		out[n++] = figure(r, h, report_percentiles[i].text,
				  histogram__percentile(h, report_percentiles[i].per_10k));
	out[n++] = figure(r, h, "max", h->max);
	out[n] = figure(r, h, "total", h->sum);
	if (h->sum > INT64_MAX || h->sum < INT64_MIN)
		out[n] = (struct field){ .name = "total", .kind = FIELD_REAL, .real = (double)h->sum,
					   .exact = h->sum, .exact_per = 1 };
	return n + 1;
}

static void put_figure_names(FILE *f, const struct report *r, const struct report_group *g)
{
	struct field figures[FIGURES];
	size_t n = figures_of(figures, r, &g->hist), i;

	fputs("<thead><tr>", f);
	for (i = 0; i < g->nkey; i++)
		put_column(f, &g->key[i], is_number(&g->key[i]));
	for (i = 0; i < n; i++)
		put_column(f, &figures[i], true);
	fputs("</tr></thead>\n<tbody>\n", f);
}

static void put_figure_row(FILE *f, const struct report *r, const struct report_group *g)
{
	struct field figures[FIGURES];
	size_t n = figures_of(figures, r, &g->hist), i;

	fputs("<tr>", f);
	for (i = 0; i < g->nkey; i++) {
		struct field key = g->key[i];

		key.kind = key.kind == FIELD_NUMBER ? FIELD_ID : key.kind;
		html_put_cell(f, &key, !i);
	}
	for (i = 0; i < n; i++)
		html_put_cell(f, &figures[i], false);
	fputs("</tr>\n", f);
}

int html_put_groups(FILE *f, const struct report *r, const struct html_room *room, bool milliseconds)
{
	size_t rows = 0, drawn = 0, all = 0, i;
	int err = 0;

	for (i = 0; i < r->ngroups; i++)
		all += r->group[i].hist.count > 0;
	if (!all)
		return 0;
	begin_long_table(f, all < room->rows ? all : room->rows);
	for (i = 0; i < r->ngroups && rows < room->rows; i++) {
		if (!r->group[i].hist.count)
			continue;
		if (!rows++)
			put_figure_names(f, r, &r->group[i]);
		put_figure_row(f, r, &r->group[i]);
	}
	end_long_table(f, rows);
	put_shown(f, rows, all, "keys");
	for (i = 0; i < r->ngroups && drawn < room->histograms && !err; i++) {
		if (!r->group[i].hist.count)
			continue;
		err = put_histogram(f, r, &r->group[i], milliseconds);
		drawn++;
	}
	put_shown(f, drawn, all, "histograms");
	return err;
}

/*
 * --- parts in text form ------------------------------------------------------------------------
 */

/* Returns the length of the whole lines that fit within the limit. */
static size_t whole_lines(const char *text, size_t n)
{
	if (n <= MOST_PRINTED)
		return n;
	for (n = MOST_PRINTED; n && text[n - 1] != '\n'; n--)
		;
	return n;
}

/* Writes a part of the report in its text form. */
static int put_printed(FILE *f, const struct writer *w, const struct report *r,
		       void (*print)(struct writer *, const struct report *), const char *element, const char *class)
{
	struct writer text = { .format = FORMAT_TEXT, .milliseconds = w->milliseconds, .header = true };
	char *printed = NULL;
	size_t n = 0;
	int err = 0;

	text.file = open_memstream(&printed, &n);
	if (!text.file)
		return -ENOMEM;
	print(&text, r);
	if (fclose(text.file))
		err = -ENOMEM;
	if (!err && n) {
		size_t shown = whole_lines(printed, n);

		fprintf(f, "<%s class=\"%s\">", element, class);
		put_xml(f, printed, shown);
		fprintf(f, "</%s>\n", element);
		if (shown < n)
			fputs("<p class=\"left\">the rest is not on this page; --format text has all</p>\n", f);
	}
	free(printed);
	return err;
}

static void print_tree(struct writer *w, const struct report *r)
{
	if (write_tree(w, r))
		w->failed = -ENOMEM;
}

static void print_overhead(struct writer *w, const struct report *r)
{
	put_overhead(w->file, r->overhead);
}

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

/* Reports of several events show their completeness in the headings. */
static void put_completeness(FILE *f, const struct report_stacks *s)
{
	char number[UNITS_SPACE];

	if (s->nevents || !report_stacks__incomplete(s, 0).value)
		return;
	fprintf(f, "<p class=\"left\">%s ", format_count(number, s->total));
	put_xml_escaped(f, s->unit ?: "");
	put_incomplete(f, s, 0);
	fputs("</p>\n", f);
}

static int put_stacks(FILE *f, const struct writer *w, const struct report *r, const struct html_room *room)
{
	int err = 0;

	put_completeness(f, r->stacks);
	if (r->stacks->total && room->flame_bytes) {
		fputs("<div class=\"scroll flame\">\n", f);
		err = put_flame(f, r, room->flame_bytes);
		fputs("</div>\n", f);
	} else if (r->stacks->total) {
		fputs("<p class=\"left\">the page has no room for this flame graph; --format flame draws it</p>\n", f);
	}
	fputs("<details><summary>as a tree</summary>", f);
	if (!err)
		err = put_printed(f, w, r, print_tree, "pre", "tree");
	fputs("</details>\n", f);
	return err;
}

int html_put_report(FILE *f, const struct writer *w, const struct report *r, const struct html_room *room)
{
	int err = 0;

	if (r->ngroups)
		err = html_put_groups(f, r, room, w->milliseconds);
	if (r->nrows)
		put_table(f, r, room->rows);
	if (r->stacks && !err)
		err = put_stacks(f, w, r, room);
	if (r->listings && !err)
		err = put_printed(f, w, r, write_listings, "pre", "tree");
	if (!err && (r->has_events || r->has_losses || r->hidden))
		err = put_printed(f, w, r, text_put_footer, "p", "counted");
	if (!err && r->overhead) {
		fputs("<details><summary>cost of each program</summary>", f);
		err = put_printed(f, w, r, print_overhead, "pre", "tree");
		fputs("</details>\n", f);
	}
	return err;
}

/*
 * --- single events -----------------------------------------------------------------------------
 */

static void put_named(FILE *f, const char *name, bool number)
{
	const struct field field = { .name = name };

	put_column(f, &field, number);
}

void html_put_line_heading(FILE *f, const struct stream_line *line)
{
	size_t i;

	begin_long_table(f, SIZE_MAX);
	fputs("<thead><tr>", f);
	put_named(f, "time", true);
	put_named(f, "comm", false);
	put_named(f, "pid", true);
	put_named(f, "cpu", true);
	if (line->event)
		put_named(f, "event", false);
	if (line->has_elapsed)
		put_named(f, "elapsed_ns", true);
	for (i = 0; i < line->n; i++)
		put_column(f, &line->field[i].field, is_number(&line->field[i].field));
	if (line->has_stack)
		put_named(f, "stack", false);
	fputs("</tr></thead>\n<tbody>\n", f);
}

void html_end_lines(FILE *f, size_t rows)
{
	end_long_table(f, rows);
}

static void put_clock(FILE *f, u64 time_ns)
{
	time_t seconds = time_ns / NSEC_PER_SEC;
	char clock[16] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(f, "<th scope=\"row\" class=\"n\" data-v=\"%llu\" title=\"%llu ns\">%s.%06llu</th>", time_ns, time_ns,
		clock, time_ns % NSEC_PER_SEC / 1000);
}

static void put_field(FILE *f, const struct stream_field *v)
{
	struct field field = v->field;

	if (v->seconds)
		field.kind = FIELD_DURATION;
	if (v->fault || !field.text || !(v->escaped || v->cut)) {
		if (v->fault)
			fputs("<td>(fault)</td>", f);
		else
			html_put_cell(f, &field, false);
		return;
	}
	fputs("<td>", f);
	if (v->escaped)
		put_xml(f, field.text, SIZE_MAX);
	else
		put_xml_head(f, field.text, LONGEST);
	fputs(v->cut ? "..</td>" : "</td>", f);
}

/* Writes the fields with their names, for an event whose fields differ from the table's. */
static void put_fields_by_name(FILE *f, const struct stream_line *line, size_t columns)
{
	size_t i;

	fprintf(f, "<td colspan=\"%zu\">", columns ?: 1);
	for (i = 0; i < line->n; i++) {
		const struct stream_field *v = &line->field[i];
		char text[UNITS_SPACE];

		fputs(i ? ", " : "", f);
		put_xml_escaped(f, v->field.name);
		fputc('=', f);
		if (v->field.text && v->escaped) {
			put_xml(f, v->field.text, SIZE_MAX);
		} else if (v->field.text) {
			put_xml_head(f, v->field.text, LONGEST);
		} else if (is_number(&v->field)) {
			exact(text, &v->field);
			fputs(v->fault ? "(fault)" : text, f);
		}
	}
	fputs("</td>", f);
}

static void put_known_fields(FILE *f, const struct stream_line *line, size_t columns)
{
	size_t i;

	if (columns != line->n) {
		put_fields_by_name(f, line, columns);
		return;
	}
	for (i = 0; i < line->n; i++)
		put_field(f, &line->field[i]);
}

int html_put_line(FILE *f, const struct stream_line *line, size_t columns)
{
	const struct field elapsed = { .number = line->elapsed_ns,
				       .kind = line->elapsed_unknown ? FIELD_NONE : FIELD_DURATION,
				       .name = "elapsed_ns" };
	char *stack = line->has_stack && line->stack ? call_stack__line(line->stack, line->most_frames) : NULL;

	if (line->has_stack && line->stack && !stack)
		return -ENOMEM;
	fputs("<tr>", f);
	put_clock(f, line->time_ns);
	fputs("<td>", f);
	put_xml_escaped(f, line->comm ?: "");
	fprintf(f, "</td><td class=\"n\" data-v=\"%u\">%u</td><td class=\"n\" data-v=\"%u\">%u</td>", line->pid,
		line->pid, line->cpu, line->cpu);
	if (line->event) {
		fputs("<td>", f);
		put_xml_escaped(f, line->event);
		fputs("</td>", f);
	}
	if (line->has_elapsed)
		html_put_cell(f, &elapsed, false);
	put_known_fields(f, line, columns);
	if (line->has_stack) {
		fputs("<td>", f);
		put_xml(f, stack ?: "", SIZE_MAX);
		fputs("</td>", f);
	}
	fputs("</tr>\n", f);
	free(stack);
	return 0;
}
