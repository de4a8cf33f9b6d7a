/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heat maps show how a distribution changes over time. The x axis is time, one column per interval. The y axis is the
 * value, one row per few neighbouring buckets. The shade of a cell is its rate of values, since intervals may differ in
 * length. Columns are made from the reports of a run, not from single events, so the cells add up exactly to the
 * histogram of the whole run.
 *
 *   heat__new()
 *   heat__add()       for the report of each interval
 *   heat__write_line()  its line, in live text
 *   heat__write()     the picture, at the end: text or SVG
 *   heat__free()
 *
 * With keys, each of the largest keys has a map, and all maps share one scale. Memory is bounded: beyond HEAT_SPANS
 * intervals, neighbours are merged in pairs.
 */
#ifndef TALLY_OUT_HEAT_H
#define TALLY_OUT_HEAT_H

#include "report/report.h"
#include "base/types.h"

#define HEAT_SPANS 600

/* Style of text output. */
struct heat_style {
	u32 width;              /* of a line */
	bool colour;            /* 256-colour backgrounds */
	bool utf8;              /* block characters; otherwise ASCII */
};

/* Returns the style for a file, from the width and colours of its terminal, NO_COLOR, TERM and COLUMNS. */
struct heat_style heat_style__of(FILE *file);

/* A time span: one or more intervals. */
struct heat_span {
	u64 start_ns, duration_ns;      /* since measuring began */
};

/* The values of one span; spans without values have no slice. */
struct heat_slice {
	u32 span;
	struct histogram hist;
};

struct heat_map {
	struct field *key;
	size_t nkey;
	struct histogram total;
	struct heat_slice *slice;       /* by span, rising */
	size_t nslices;
};

/* The scale of live lines. It widens when a value is outside of it. */
struct heat_lines {
	u32 first, step;        /* bucket of the first cell; buckets per cell */
	u32 lowest, highest;    /* buckets seen so far */
	u32 lines;              /* lines since the scale was last written */
};

struct heat {
	struct heat_style style;
	bool live;
	u64 interval_ns;        /* as requested; a much shorter last interval is merged into the previous one */
	size_t top;             /* most maps drawn; 0: all */
	int sort;               /* report_sort_column() that ranks the maps */
	struct heat_span span[HEAT_SPANS];
	size_t nspans;
	u32 per_span;           /* intervals per span */
	u32 in_last;            /* intervals in the last span so far */
	struct heat_map *map;   /* sorted by key */
	size_t nmaps;
	struct report total;    /* of the whole run, without groups */
	struct heat_lines lines;
};

/* Returns NULL without memory. sort: -1 for the sum. */
struct heat *heat__new(struct heat_style style, u64 interval_ns, bool live, size_t top, int sort);

/*
 * Adds a report. Its texts must outlive the heat map, its groups need not. Returns 0, -ENOMEM, or
 * -EOPNOTSUPP if the report has no histograms.
 */
int heat__add(struct heat *h, const struct report *r);

/* Writes the line of an added report, if the heat map is live text without keys. Returns like writer__write(). */
int heat__write_line(struct heat *h, struct writer *w, const struct report *r);

/* Draws all reports added so far. Returns like writer__write(). */
int heat__write(struct heat *h, struct writer *w);

void heat__free(struct heat *h);

/* The cells. Row 0 is the lowest. All maps share one scale. */
struct heat_grid {
	const struct heat_map **map;
	size_t nmaps;
	u32 first, step;        /* first bucket of row 0, buckets per row */
	u32 rows, columns;
	u32 per_column;         /* spans per column */
	u64 *cell;              /* of map m: cell[(m * columns + column) * rows + row] */
	u64 column_ns;          /* length of a column, as requested */
	u64 *rate;              /* indexed like cell: values per column_ns; at least 1 if the cell is not 0 */
	u64 most;               /* largest rate of a cell */
	u64 shortest_ns, longest_ns;    /* of all columns but the last, which may be cut short by the end of the run */
};

/*
 * Makes a grid of at most rows rows and columns columns, from the largest h->top maps, largest
 * first. Returns 0 or -ENOMEM. Free the grid in either case.
 */
int heat_grid__make(struct heat_grid *g, const struct heat *h, u32 rows, u32 columns);
void heat_grid__free(struct heat_grid *g);

u64 heat_grid__cell(const struct heat_grid *g, size_t map, u32 column, u32 row);
u64 heat_grid__rate(const struct heat_grid *g, size_t map, u32 column, u32 row);

/* Whether the length of a column differs by more than a tenth from the requested one. */
bool heat_grid__is_uneven(const struct heat_grid *g);

/* Smallest and largest value of a row, both inclusive, and the time span of a column. */
u64 heat_grid__low(const struct heat_grid *g, u32 row);
u64 heat_grid__high(const struct heat_grid *g, u32 row);
struct heat_span heat_grid__span(const struct heat_grid *g, const struct heat *h, u32 column);

/*
 * Shades are about equal steps of the logarithm of the rate. Shade k covers rates in [from[k],
 * from[k + 1]). The first begins at 1, so every value is visible.
 */
#define HEAT_SHADES 9

struct heat_shades {
	u64 from[HEAT_SHADES];
	u32 n;
};

/* Makes n shades, or fewer if there are fewer counts from 1 to most. */
void heat_shades__make(struct heat_shades *s, u64 most, u32 n);
int heat_shade(const struct heat_shades *s, u64 rate);         /* -1: 0 */

/* Maps a shade to one of colours colours, pale to strong. The strongest is always used. */
u32 heat_shade_colour(const struct heat_shades *s, u32 shade, u32 colours);

/* Formats a value, with a sign if the values are signed. text has room for HEAT_VALUE. */
#define HEAT_VALUE (UNITS_SPACE + 1)
const char *heat_value(char *text, const struct heat *h, const struct histogram *like, u64 value,
		       bool milliseconds);

/* The writers. */
int write_heat_text(struct writer *w, struct heat *h);
int write_heat_line(struct writer *w, struct heat *h, const struct report *r);
int write_heat_svg(struct writer *w, struct heat *h);

/*
 * Writes an svg element of at most about most_cells cells, as part of a page. heat_style_rules: its
 * CSS rules, without nesting, once per page. Returns 0 or -ENOMEM.
 */
int put_heat_svg(FILE *f, const struct heat *h, bool milliseconds, size_t most_cells);
extern const char heat_style_rules[];

#endif /* TALLY_OUT_HEAT_H */
