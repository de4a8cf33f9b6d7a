// SPDX-License-Identifier: BSD-2-Clause
/*
 * Heat maps as a standalone SVG file without script, or as part of a page. Each cell has a tooltip with its time,
 * values and count. The width of a column is proportional to its duration.
 */
#include <string.h>
#include <time.h>

#include "report/heat.h"
#include "report/imprint.h"
#include "report/text.h"
#include "report/units.h"
#include "report/xml.h"

#define WIDE 1200
#define LEFT 92                 /* value labels */
#define RIGHT 30
#define PLOT (WIDE - LEFT - RIGHT)
#define ABOVE 112               /* titles and shades */
#define TITLES 82               /* titles, within ABOVE */
#define KEY 24                  /* key, above its map */
#define AXIS 44                 /* times, below a map */
#define HIGHEST 520             /* height of a single map; several maps are half as high */
#define ROWS 61                 /* for the whole range, 16 buckets each */
#define MOST_CELLS 14000        /* per file, 150 bytes each */
#define LETTER 7.3              /* approximate letter width at 12 px */
#define TITLE 108               /* letters in a line at 16 px */
#define LINE 145                /* letters in a line at 12 px */

const char heat_style_rules[] =
	"svg{background:#fff;font:12px ui-monospace,Menlo,Consolas,monospace}"
	"text{fill:#222}.h{font-size:16px;font-weight:600}.q{fill:#555}"
	".k{font-size:13px;font-weight:600}"
	".e{text-anchor:end}.m{text-anchor:middle}"
	".p{fill:#f7f7f9;stroke:#b8b8c2}.g{stroke:#e2e2e8;shape-rendering:crispEdges}"
	".t{stroke:#8a8a96;shape-rendering:crispEdges}"
	".c rect{shape-rendering:crispEdges}.c rect:hover{stroke:#000;stroke-width:1.5}"
	".s0{fill:#fddcab}.s1{fill:#fec287}.s2{fill:#fb9f68}.s3{fill:#f1785a}.s4{fill:#de5464}"
	".s5{fill:#b93b74}.s6{fill:#8c2a7c}.s7{fill:#5c1d78}.s8{fill:#2c1157}";

struct picture {
	FILE *file;
	const char *host;       /* NULL if unknown */
	const struct report *report;
	const struct heat *heat;
	struct heat_grid grid;
	struct heat_shades shades;
	bool milliseconds;
	double row;             /* height of a row */
	u64 duration_ns;
	bool within;            /* part of a page, which provides the style and the heading */
	size_t most_cells;
};

static u32 above(const struct picture *p)
{
	return p->within ? ABOVE - TITLES : ABOVE;
}

static double x_of(const struct picture *p, u64 ns)
{
	return LEFT + (p->duration_ns ? (double)PLOT * ns / p->duration_ns : 0);
}

/* Returns the position of a row's lower edge, from the top of its map. */
static double y_of(const struct picture *p, u32 row)
{
	return (p->grid.rows - row) * p->row;
}

static void put_edge(const struct picture *p, char text[HEAT_VALUE], u32 row)
{
	const struct heat_grid *g = &p->grid;
	const struct histogram *like = &g->map[0]->total;
	u64 value = row < g->rows ? heat_grid__low(g, row) : heat_grid__high(g, g->rows - 1);

	if (like->bound && !row && !g->first)
		strcpy(text, "below");
	else if (like->bound && row == g->rows && g->first + row * g->step > like->nbounds)
		strcpy(text, "or more");
	else
		heat_value(text, p->heat, like,
			   row < g->rows || value == UINT64_MAX ? value : value + 1,
			   p->milliseconds);
}

/* Draws horizontal lines, and value labels at the left as space allows. */
static void put_values(const struct picture *p, double top)
{
	u32 each = 1, row;
	char text[HEAT_VALUE];

	while (each * p->row < 18)
		each *= 2;
	for (row = 0; row <= p->grid.rows; row++) {
		double y = top + y_of(p, row);

		/* Label the lowest edge, then even steps, then the highest edge if it fits. */
		if (row % each && (row < p->grid.rows || row % each * p->row < 16))
			continue;
		put_edge(p, text, row);
		fprintf(p->file,
			"<path class=\"g\" d=\"M%d %.1fH%d\"/><path class=\"t\" d=\"M%d %.1fH%d\"/>"
			"<text class=\"e\" x=\"%d\" y=\"%.1f\">%s</text>\n",
			LEFT, y, LEFT + PLOT, LEFT - 5, y, LEFT, LEFT - 9, y + 4, text);
	}
}

static void put_axis(const struct picture *p, double bottom)
{
	u64 tick = tick_of_time(p->duration_ns), t;
	char text[UNITS_SPACE];

	for (t = 0; t <= p->duration_ns; t += tick) {
		double x = x_of(p, t);

		fprintf(p->file,
			"<path class=\"t\" d=\"M%.1f %.1fv5\"/>"
			"<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			x, bottom, x, bottom + 19,
			t ? format_value(text, t, UNIT_NS, false) : "0 s");
	}
}

static void put_range(const struct picture *p, u32 row)
{
	const struct heat_grid *g = &p->grid;
	char from[HEAT_VALUE], to[HEAT_VALUE];

	put_edge(p, from, row);
	put_edge(p, to, row + 1);
	/* Label a row of a single value with that value. */
	if (heat_grid__low(g, row) == heat_grid__high(g, row))
		fprintf(p->file, "%s", from);
	else
		fprintf(p->file, "%s - %s", from, to);
}

static void put_cell(const struct picture *p, double top, u32 column, u32 row, u64 count, u64 rate)
{
	struct heat_span span = heat_grid__span(&p->grid, p->heat, column);
	u64 end = span.start_ns + span.duration_ns;
	double x = x_of(p, span.start_ns), w = x_of(p, end) - x;
	char from[UNITS_SPACE], to[UNITS_SPACE], n[UNITS_SPACE];
	int shade = heat_shade(&p->shades, rate);

	fprintf(p->file,
		"<rect class=\"s%u\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>",
		heat_shade_colour(&p->shades, shade, HEAT_SHADES), x, top + y_of(p, row + 1), w,
		p->row);
	put_range(p, row);
	fprintf(p->file, "\n%s - %s\n%s %s",
		span.start_ns ? format_value(from, span.start_ns, UNIT_NS, false) : "0 s",
		format_value(to, end, UNIT_NS, false), format_count(n, count),
		count == 1 ? "event" : "events");
	if (rate != count)
		fprintf(p->file, ", %s per %s", format_count(n, rate),
			format_value(to, p->grid.column_ns, UNIT_NS, false));
	fputs("</title></rect>\n", p->file);
}

static void put_cells(const struct picture *p, double top, size_t map)
{
	u32 column, row;
	u64 count;

	fputs("<g class=\"c\">\n", p->file);
	for (column = 0; column < p->grid.columns; column++) {
		for (row = 0; row < p->grid.rows; row++) {
			count = heat_grid__cell(&p->grid, map, column, row);
			if (count)
				put_cell(p, top, column, row, count, heat_grid__rate(&p->grid, map, column, row));
		}
	}
	fputs("</g>\n", p->file);
}

static void put_key(const struct picture *p, const struct heat_map *m, double y)
{
	char n[UNITS_SPACE];
	size_t i;

	fprintf(p->file, "<text class=\"k\" x=\"%d\" y=\"%.1f\">", LEFT, y);
	for (i = 0; i < m->nkey; i++) {
		const struct field *f = &m->key[i];

		if (f->machine)
			continue;
		if (f->role == ROLE_LABEL)
			fputc(' ', p->file);
		else
			fputs(i ? ", " : "", p->file);
		if (f->role != ROLE_LABEL) {
			put_xml_escaped(p->file, f->name);
			fputc(' ', p->file);
		}
		if (f->text)
			put_xml_escaped(p->file, f->text);
		else
			fprintf(p->file, field_is_signed(f->kind) ? "%lld" : "%llu", f->number);
	}
	fprintf(p->file, ": %s events</text>\n", format_count(n, m->total.count));
}

static double map_height(const struct picture *p)
{
	return (p->grid.map[0]->nkey ? KEY : 0) + p->grid.rows * p->row + AXIS;
}

static void put_map(const struct picture *p, size_t map)
{
	const struct heat_map *m = p->grid.map[map];
	double top = above(p) + map * map_height(p), bottom;

	if (m->nkey) {
		put_key(p, m, top + 14);
		top += KEY;
	}
	bottom = top + p->grid.rows * p->row;
	fprintf(p->file,
		"<rect class=\"p\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n", LEFT, top,
		PLOT, bottom - top);
	put_values(p, top);
	put_cells(p, top, map);
	put_axis(p, bottom);
}

/* Draws the swatches with their counts. */
static void put_legend(const struct picture *p)
{
	char from[UNITS_SPACE], to[UNITS_SPACE], text[2 * UNITS_SPACE];
	double x;
	u32 i;

	snprintf(text, sizeof(text), "events in a cell per %s",
		 format_value(from, p->grid.column_ns, UNIT_NS, false));
	fprintf(p->file, "<text x=\"%d\" y=\"%u\">%s</text>\n", LEFT, above(p) - 14, text);
	x = LEFT + LETTER * strlen(text);
	for (i = 0; i < p->shades.n; i++) {
		u64 last = i + 1 < p->shades.n ? p->shades.from[i + 1] - 1 : p->grid.most;

		format_count(from, p->shades.from[i]);
		format_count(to, last);
		snprintf(text, sizeof(text), last > p->shades.from[i] ? "%s-%s" : "%s", from, to);
		fprintf(p->file,
			"<rect class=\"s%u\" x=\"%.1f\" y=\"%u\" width=\"14\" height=\"14\"/>"
			"<text x=\"%.1f\" y=\"%u\">%s</text>\n",
			heat_shade_colour(&p->shades, i, HEAT_SHADES), x + 10, above(p) - 25, x + 29, above(p) - 14,
			text);
		x += 34 + LETTER * strlen(text);
	}
}

/* Writes the resolution: "60 columns of 1.00 s" or "38 columns, each 16 intervals of 1.00 s". */
static void put_columns(const struct picture *p)
{
	u32 intervals = p->grid.per_column * p->heat->per_span;
	char length[UNITS_SPACE], to[UNITS_SPACE];

	format_value(length, p->heat->interval_ns, UNIT_NS, false);
	if (intervals > 1)
		fprintf(p->file, "%u columns, each %u intervals of %s", p->grid.columns, intervals,
			length);
	else
		fprintf(p->file, "%u column%s of %s", p->grid.columns,
			p->grid.columns == 1 ? "" : "s", length);
	if (heat_grid__is_uneven(&p->grid))
		fprintf(p->file, " that took %s to %s", format_value(length, p->grid.shortest_ns, UNIT_NS, false),
			format_value(to, p->grid.longest_ns, UNIT_NS, false));
}

static void put_summary(const struct picture *p)
{
	const struct report *r = p->report;
	time_t seconds = r->start_ns / NSEC_PER_SEC;
	char text[UNITS_SPACE], when[32] = "";
	size_t hidden = p->heat->nmaps - p->grid.nmaps;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	put_xml_escaped(p->file, r->value);
	fprintf(p->file, " during %s from %s, ", format_value(text, r->duration_ns, UNIT_NS, false),
		when);
	put_columns(p);
	fprintf(p->file, ", %s events", format_count(text, r->events));
	fputs(", ", p->file);
	text_put_lost(p->file, &r->counters);
	if (hidden)
		fprintf(p->file, ", %zu more not shown (--top)", hidden);
}

static void put_file_head(const struct picture *p, double high)
{
	const struct report *r = p->report;
	FILE *f = p->file;

	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		"viewBox=\"0 0 %d %.0f\">\n<title>",
		WIDE, high, WIDE, high);
	put_xml_escaped(f, r->tool);
	fputs(": ", f);
	put_summary(p);
	fprintf(f, "</title>\n<style>%s</style>\n<text class=\"h\" x=\"%d\" y=\"24\">", heat_style_rules,
		LEFT);
	put_xml_head(f, r->command ?: r->tool, TITLE);
	fprintf(f, "</text>\n<text x=\"%d\" y=\"43\">", LEFT);
	put_summary(p);
	fprintf(f, "</text>\n<text class=\"q e\" x=\"%d\" y=\"43\">", WIDE - RIGHT);
	put_place(f, p->host, r);
	fprintf(f, "</text>\n<text class=\"q\" x=\"%d\" y=\"60\">", LEFT);
	put_xml_head(f, r->source ?: "", LINE);
	fprintf(f, "</text>\n<text class=\"q\" x=\"%d\" y=\"76\">", LEFT);
	put_xml_head(f, r->caveat ?: "", LINE);
	fputs("</text>\n", f);
}

static void put_head(const struct picture *p)
{
	double high = above(p) + (p->grid.nmaps ? p->grid.nmaps * map_height(p) : 40);

	if (!p->within) {
		put_file_head(p, high);
		return;
	}
	fprintf(p->file,
		"<svg width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"heat map of ",
		WIDE, high, WIDE, high);
	put_xml_escaped(p->file, p->report->tool);
	fputs(": ", p->file);
	put_summary(p);
	fputs("\">\n", p->file);
}

static size_t cells_filled(const struct heat_grid *g)
{
	size_t n = g->nmaps * g->columns * g->rows, used = 0;

	while (n--)
		used += g->cell[n] != 0;
	return used;
}

/* Makes the finest grid within the cell limit. */
static int make_grid(struct picture *p, const struct heat *h)
{
	u32 columns = HEAT_SPANS, rows;
	int err;

	for (;; columns /= 2) {
		rows = h->nmaps > 1 && h->top != 1 ? ROWS / 2 : ROWS;
		err = heat_grid__make(&p->grid, h, rows, columns);
		if (err || columns < 40 || cells_filled(&p->grid) <= p->most_cells)
			return err;
		heat_grid__free(&p->grid);
	}
}

static int draw(struct picture *p)
{
	int err = make_grid(p, p->heat);
	size_t i;

	if (err) {
		heat_grid__free(&p->grid);
		return err;
	}
	heat_shades__make(&p->shades, p->grid.most, HEAT_SHADES);
	if (p->grid.rows) {
		p->row = HIGHEST / (p->grid.nmaps > 1 ? 2.0 : 1.0) / p->grid.rows;
		if (p->row > 26)
			p->row = 26;
	}
	put_head(p);
	if (p->grid.nmaps)
		put_legend(p);
	else
		fprintf(p->file, "<text x=\"%d\" y=\"%u\">no event happened in that time</text>\n",
			LEFT, above(p) - 6);
	for (i = 0; i < p->grid.nmaps; i++)
		put_map(p, i);
	fputs("</svg>\n", p->file);
	heat_grid__free(&p->grid);
	return 0;
}

int write_heat_svg(struct writer *w, struct heat *h)
{
	struct picture p = {
		.file = w->file, .host = w->host, .report = &h->total, .heat = h, .milliseconds = w->milliseconds,
		.duration_ns = h->total.duration_ns, .most_cells = MOST_CELLS,
	};

	return draw(&p);
}

int put_heat_svg(FILE *f, const struct heat *h, bool milliseconds, size_t most_cells)
{
	struct picture p = {
		.file = f, .report = &h->total, .heat = h, .milliseconds = milliseconds,
		.duration_ns = h->total.duration_ns, .within = true, .most_cells = most_cells,
	};

	return draw(&p);
}
