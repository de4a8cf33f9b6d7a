// SPDX-License-Identifier: BSD-2-Clause
/*
 * Heat maps as text: the picture of a whole run, and live lines during the run. A cell is one character: a shade or, on
 * a terminal, a colour.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers.h"
#include "report/escape.h"
#include "report/heat.h"
#include "report/terminal.h"
#include "report/text.h"

#define ROWS 28                 /* rows of a picture: cover 0 to one second in powers of two of ns */
#define LABEL 12                /* row label, with its unit */
#define TOTAL 14                /* after a row */
#define WIDEST 4                /* widest column */
#define LEAST_WIDTH 60
#define MOST_WIDTH 1000

/*
 * --- abilities of the terminal -----------------------------------------------------------------
 */

static u32 width_of(FILE *file)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	u64 width = 80;

	if (!ioctl(fileno(file), TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	else if (columns)
		parse_u64_between(columns, 1, UINT32_MAX, &width);
	if (width < LEAST_WIDTH)
		return LEAST_WIDTH;
	return width < MOST_WIDTH ? width : MOST_WIDTH;
}

static bool speaks_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
	}
	return false;
}

struct heat_style heat_style__of(FILE *file)
{
	const char *term = getenv("TERM");
	bool dumb = term && !strcmp(term, "dumb");

	return (struct heat_style){
		.width = width_of(file),
		.colour = terminal__has_colour(file),
		.utf8 = speaks_utf8() && !dumb,
	};
}

/*
 * --- cells -------------------------------------------------------------------------------------
 */

/* Purple to yellow: stronger shades are brighter, and all are visible on black and on white. */
static const unsigned char colours[HEAT_SHADES] = { 53, 90, 126, 162, 197, 203, 209, 215, 227 };
static const char ascii[HEAT_SHADES][2] = { ".", ":", "-", "=", "+", "*", "#", "%", "@" };
static const char *const blocks[] = { "░", "▒", "▓", "█" };

static u32 shades_of(const struct heat_style *s)
{
	return s->colour || !s->utf8 ? HEAT_SHADES : ARRAY_SIZE(blocks);
}

/* shade: as returned by heat_shade(). */
static void put_cell(FILE *f, const struct heat_style *style, const struct heat_shades *s,
		     int shade)
{
	u32 colour;

	if (shade < 0) {
		fputc(' ', f);
		return;
	}
	colour = heat_shade_colour(s, shade, shades_of(style));
	if (style->colour)
		fprintf(f, "\033[48;5;%dm \033[0m", colours[colour]);
	else
		fputs(style->utf8 ? blocks[colour] : ascii[colour], f);
}

static void repeat(FILE *f, char c, u32 n)
{
	while (n--)
		fputc(c, f);
}

/*
 * --- the picture -------------------------------------------------------------------------------
 */

struct picture {
	FILE *file;
	struct heat *heat;
	struct heat_grid grid;
	struct heat_shades shades;
	u32 wide;               /* characters per column: drawn wider if there are few columns */
	bool milliseconds;
};

static void put_row(const struct picture *p, size_t map, u32 row)
{
	const struct heat_grid *g = &p->grid;
	char text[HEAT_VALUE] = "below";
	u64 all = 0, count;
	u32 column, i;
	int shade;

	if (!g->map[0]->total.bound || g->first + row)
		heat_value(text, p->heat, &g->map[0]->total, heat_grid__low(g, row),
			   p->milliseconds);
	fprintf(p->file, "%*s |", LABEL, text);
	for (column = 0; column < g->columns; column++) {
		count = heat_grid__cell(g, map, column, row);
		all += count;
		shade = heat_shade(&p->shades, heat_grid__rate(g, map, column, row));
		for (i = 0; i < p->wide; i++)
			put_cell(p->file, &p->heat->style, &p->shades, shade);
	}
	fputc('|', p->file);
	if (all)
		fprintf(p->file, " %s", format_count(text, all));
	fputc('\n', p->file);
}

#define TICK 12                 /* characters between ticks */

/* Labels some columns with their start times. */
static void put_axis(const struct picture *p)
{
	const struct heat_grid *g = &p->grid;
	u32 column, i, at = 0, tick = TICK / p->wide;
	char text[UNITS_SPACE];

	fprintf(p->file, "%*s +", LABEL, "");
	for (i = 0; i < g->columns * p->wide; i++)
		fputc(i % (tick * p->wide) ? '-' : '\'', p->file);
	fprintf(p->file, "+\n%*s", LABEL + 2, "");
	for (column = 0; column < g->columns; column += tick) {
		repeat(p->file, ' ', column * p->wide - at);
		format_value(text, heat_grid__span(g, p->heat, column).start_ns, UNIT_NS, false);
		at = column * p->wide + fprintf(p->file, "%s", column ? text : "0 s");
	}
	fputc('\n', p->file);
}

static void put_map(const struct picture *p, struct writer *w, size_t map)
{
	const struct heat_grid *g = &p->grid;
	const struct heat_map *m = g->map[map];
	char text[HEAT_VALUE] = "or more";
	u64 high = heat_grid__high(g, g->rows - 1);
	bool open = m->total.bound && g->first + g->rows * g->step > m->total.nbounds;
	u32 row;

	fputc('\n', w->file);
	if (m->nkey)
		text_put_key(w, m->key, m->nkey);
	if (!open)
		heat_value(text, p->heat, &m->total, high == UINT64_MAX ? high : high + 1,
			   p->milliseconds);
	fprintf(w->file, "%*s +", LABEL, text);
	repeat(w->file, '-', g->columns * p->wide);
	fputs("+ events\n", w->file);
	for (row = g->rows; row--;)
		put_row(p, map, row);
	put_axis(p);
	text_put_figures(w, &p->heat->total, &m->total);
}

static void put_legend(const struct picture *p)
{
	char from[UNITS_SPACE], to[UNITS_SPACE];
	u64 last;
	u32 i;

	fprintf(p->file, "\nevents in a cell per %s: ", format_value(from, p->grid.column_ns, UNIT_NS, false));
	for (i = 0; i < p->shades.n; i++) {
		last = i + 1 < p->shades.n ? p->shades.from[i + 1] - 1 : p->grid.most;
		put_cell(p->file, &p->heat->style, &p->shades, i);
		fprintf(p->file, " %s", format_count(from, p->shades.from[i]));
		if (last > p->shades.from[i])
			fprintf(p->file, "-%s", format_count(to, last));
		fputs(i + 1 < p->shades.n ? "  " : "\n", p->file);
	}
}

/* Writes the duration of a column and the start of the first one. */
static void put_times(const struct picture *p)
{
	const struct heat *h = p->heat;
	u32 intervals = p->grid.per_column * h->per_span;
	time_t seconds = h->total.start_ns / NSEC_PER_SEC;
	char length[UNITS_SPACE], from[UNITS_SPACE], to[UNITS_SPACE], when[32] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	format_value(length, h->interval_ns, UNIT_NS, false);
	if (intervals > 1)
		fprintf(p->file, "a column is %u intervals of %s, the first starts at %s\n",
			intervals, length, when);
	else
		fprintf(p->file, "a column is %s, the first starts at %s\n", length, when);
	if (heat_grid__is_uneven(&p->grid))
		fprintf(p->file, "columns took %s to %s: shades show events per unit of time\n",
			format_value(from, p->grid.shortest_ns, UNIT_NS, false),
			format_value(to, p->grid.longest_ns, UNIT_NS, false));
}

int write_heat_text(struct writer *w, struct heat *h)
{
	struct picture p = { .file = w->file, .heat = h, .milliseconds = w->milliseconds };
	u32 room = h->style.width - LABEL - TOTAL;
	size_t i;
	int err;

	if (w->header)
		fputc('\n', w->file);
	w->header = false;      /* live lines had headers of their own */
	text_put_header(w, &h->total);
	err = heat_grid__make(&p.grid, h, ROWS, room);
	if (err) {
		heat_grid__free(&p.grid);
		return err;
	}
	heat_shades__make(&p.shades, p.grid.most, shades_of(&h->style));
	if (p.grid.nmaps)
		p.wide = room / p.grid.columns < WIDEST ? room / p.grid.columns : WIDEST;
	for (i = 0; i < p.grid.nmaps; i++)
		put_map(&p, w, i);
	if (p.grid.nmaps) {
		put_legend(&p);
		put_times(&p);
	}
	h->total.hidden = h->nmaps - p.grid.nmaps;
	fputc('\n', w->file);
	text_put_footer(w, &h->total);
	heat_grid__free(&p.grid);
	return 0;
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

#define TIME 12                 /* start of a line: 23:59:59.123 */
#define FIGURES 42              /* events, p50, p99, max */
#define LABEL_ROOM 8            /* cells between labels of the scale */
#define SCREENFUL 20            /* lines between repeated scales */

/* Thresholds of the shades, in 1/1000 of the line's events: each line has its own scale. */
static const u32 shares[HEAT_SHADES] = { 0, 10, 30, 60, 100, 200, 300, 500, 750 };
static const u32 few_shares[ARRAY_SIZE(blocks)] = { 0, 50, 200, 500 };

static const u32 *shares_of(const struct heat_style *s)
{
	return shades_of(s) == HEAT_SHADES ? shares : few_shares;
}

static u32 cells_of(const struct heat *h)
{
	return h->style.width - TIME - FIGURES - 3;
}

/* Widens the scale to cover the histogram, with a margin. Returns whether the scale changed. */
static bool widen(struct heat *h, const struct histogram *hist)
{
	struct heat_lines *l = &h->lines;
	u32 cells = cells_of(h), first, used;

	if (!hist->count)
		return false;
	first = hist->bucket[0].index;
	used = hist->bucket[hist->nbuckets - 1].index;
	if (l->step && first >= l->first && used < l->first + cells * l->step)
		return false;
	if (!l->step || first < l->lowest)
		l->lowest = first;
	if (!l->step || used > l->highest)
		l->highest = used;
	for (l->step = hist->bound ? 1 : 4;
	     l->highest / l->step - l->lowest / l->step + 1 > cells; l->step *= 2)
		;
	used = l->highest / l->step - l->lowest / l->step + 1;
	first = l->lowest / l->step;
	first -= first < (cells - used) / 3 ? first : (cells - used) / 3;
	l->first = first * l->step;
	return true;
}

static void put_scale(FILE *f, const struct writer *w, const struct heat *h,
		      const struct histogram *like)
{
	const struct heat_lines *l = &h->lines;
	u32 limit = like->bound ? like->nbounds : HIST_BUCKETS - 1;
	u32 cells = cells_of(h), cell, at = 0;
	char text[HEAT_VALUE];

	fprintf(f, "%*s", TIME + 2, "");
	/* There is no scale before the first value. */
	for (cell = 0; l->step && cell < cells; cell += LABEL_ROOM) {
		u32 index = l->first + cell * l->step;

		repeat(f, ' ', cell - at);
		at = cell;
		if (index > limit)
			break;
		if (like->bound && !index)
			at += fprintf(f, "below");
		else
			at += fprintf(f, "%.*s", LABEL_ROOM - 1,
				      heat_value(text, h, like, histogram__first(like, index),
						 w->milliseconds));
	}
	fprintf(f, "\n%-*s |", TIME, "time");
	for (cell = 0; cell < cells; cell++)
		fputc(cell % LABEL_ROOM ? ' ' : '\'', f);
	fprintf(f, "| %10s %9s %9s %9s\n", "events", "p50", "p99", "max");
}

static void put_line_legend(FILE *f, const struct heat *h)
{
	const u32 *from = shares_of(&h->style);
	struct heat_shades all = { .n = shades_of(&h->style) };
	u32 i;

	fputs("\nshare of a line's events: ", f);
	for (i = 0; i < all.n; i++) {
		put_cell(f, &h->style, &all, i);
		if (i)
			fprintf(f, " %u%%", from[i] / 10);
		else
			fputs(" any", f);
		fputs(i + 1 < all.n ? "  " : "\n", f);
	}
}

/* Writes the header of a report without its time, because each line has its own. */
static void put_line_header(struct writer *w, const struct heat *h, const struct report *r)
{
	char *what = NULL, *escaped, length[UNITS_SPACE];
	struct report rest = *r;

	format_value(length, h->interval_ns, UNIT_NS, false);
	if (asprintf(&what, "%s: %s, a line each %s", r->tool, r->value, length) < 0)
		return;
	escaped = escape_string(what);
	fprintf(w->file, "%s\n", escaped ?: "");
	free(escaped);
	free(what);
	rest.value = NULL;
	text_put_header(w, &rest);
}

static void put_time(FILE *f, u64 ns)
{
	time_t seconds = ns / NSEC_PER_SEC;
	char when[16] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	fprintf(f, "%s.%03llu |", when, ns % NSEC_PER_SEC / NSEC_PER_MSEC);
}

/* Returns the counts per cell, or NULL without memory. */
static u64 *cells_filled(const struct heat *h, const struct histogram *hist)
{
	u64 *count = calloc(cells_of(h), sizeof(*count));
	size_t i;

	for (i = 0; count && i < hist->nbuckets; i++)
		count[(hist->bucket[i].index - h->lines.first) / h->lines.step] +=
			hist->bucket[i].count;
	return count;
}

static void put_line_figures(FILE *f, const struct writer *w, const struct heat *h,
			     const struct histogram *hist)
{
	char text[HEAT_VALUE];

	fprintf(f, "| %10s", format_count(text, hist->count));
	if (hist->count && !hist->bound) {
		fprintf(f, " %9s", heat_value(text, h, hist, histogram__percentile(hist, 5000),
					      w->milliseconds));
		fprintf(f, " %9s", heat_value(text, h, hist, histogram__percentile(hist, 9900),
					      w->milliseconds));
	} else if (hist->count) {
		fprintf(f, "%20s", "");
	}
	if (hist->count)
		fprintf(f, " %9s", heat_value(text, h, hist, hist->max, w->milliseconds));
	fputc('\n', f);
}

static int put_line(FILE *f, const struct writer *w, struct heat *h, const struct report *r,
		    const struct histogram *hist)
{
	u64 *count = cells_filled(h, hist);
	struct heat_shades shades = { .n = shades_of(&h->style) };
	const u32 *share = shares_of(&h->style);
	u32 i;

	if (!count)
		return -ENOMEM;
	for (i = 0; i < shades.n; i++)
		shades.from[i] =
			((unsigned __int128)hist->count * share[i] + 999) / 1000 ?: 1;
	put_time(f, r->start_ns);
	for (i = 0; i < cells_of(h); i++)
		put_cell(f, &h->style, &shades, heat_shade(&shades, count[i]));
	put_line_figures(f, w, h, hist);
	free(count);
	return 0;
}

int write_heat_line(struct writer *w, struct heat *h, const struct report *r)
{
	static const struct histogram none;
	const struct histogram *hist = r->ngroups ? &r->group[0].hist : &none;
	struct writing writing;
	bool wider;
	int err = writer__begin(w, &writing);

	if (err)
		return writer__end(w, &writing, err);
	if (!w->header) {
		put_line_header(w, h, r);
		put_line_legend(w->file, h);
	}
	wider = widen(h, hist);
	if (wider || h->lines.lines % SCREENFUL == 0) {
		fputc('\n', w->file);
		put_scale(w->file, w, h, hist);
		h->lines.lines = 0;
	}
	h->lines.lines++;
	err = put_line(w->file, w, h, r, hist);
	return writer__end(w, &writing, err);
}
