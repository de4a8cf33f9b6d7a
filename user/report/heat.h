/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heat maps: how a distribution changes over time. Time goes across, a column for each interval;
 * values go up, a row for some neighbouring buckets of the histogram; a cell is how many values it
 * holds, shaded. Nothing is made of single events: columns are the reports of a run, so cells add
 * up to the histogram of the whole run exactly.
 *
 *   heat__init()
 *   heat__add()       a report each interval; as text, live, it writes a line
 *   heat__write()     the picture, at the end: text, or SVG
 *   heat__free()
 *
 * With keys there is a map for each of the largest ones, all to one scale.
 *
 * Memory is bounded: beyond HEAT_SPANS intervals, each two neighbours become one.
 */
#ifndef TALLY_OUT_HEAT_H
#define TALLY_OUT_HEAT_H

#include "report/report.h"
#include "base/types.h"

#define HEAT_SPANS 600

/* How text is drawn. */
struct heat_style {
	u32 width;              /* of a line */
	bool colour;            /* a background of 256 colours */
	bool utf8;              /* blocks, else ASCII */
};

/* What a file is good for: a terminal's width and colours, as NO_COLOR, TERM and COLUMNS say. */
struct heat_style heat_style__of(FILE *file);

/* A stretch of time: one interval, or some. */
struct heat_span {
	u64 start_ns, duration_ns;      /* since measuring began */
};

/* What came in one span; spans without values have none. */
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

/* The scale of lines that are written live: it widens when something is outside. */
struct heat_lines {
	u32 first, step;        /* bucket of the first cell; buckets in each */
	u32 lowest, highest;    /* buckets seen up to now */
	u32 lines;              /* since the scale was written */
};

struct heat {
	struct heat_style style;
	bool live;
	u64 interval_ns;        /* asked for: a much shorter last one joins its neighbour */
	size_t top;             /* maps drawn at most; 0: all */
	int sort;               /* report_sort_column() that the largest go by */
	struct heat_span span[HEAT_SPANS];
	size_t nspans;
	u32 per_span;           /* intervals in one */
	u32 in_last;            /* intervals in the last one */
	struct heat_map *map;   /* in the order of their keys */
	size_t nmaps;
	struct report total;    /* of the whole run, without groups */
	struct heat_lines lines;
};

/* Returns NULL without memory. sort: -1 for the sum. */
struct heat *heat__new(struct heat_style style, u64 interval_ns, bool live, size_t top, int sort);

/*
 * Adds a report: its texts must live as long as the heat map, its groups need not. A live one
 * writes a line, if there are no keys. Returns 0, -ENOMEM, -EIO and the like from writing, or
 * -EOPNOTSUPP if the report has no histograms.
 */
int heat__add(struct heat *h, struct writer *w, const struct report *r);

/* Draws what has been added. Returns as writer__write(). */
int heat__write(struct heat *h, struct writer *w);

void heat__free(struct heat *h);

/*
 * The cells. Row 0 is the lowest. All maps have one scale.
 */
struct heat_grid {
	const struct heat_map **map;
	size_t nmaps;
	u32 first, step;        /* bucket that row 0 begins with, buckets in a row */
	u32 rows, columns;
	u32 per_column;         /* spans in a column */
	u64 *cell;              /* of map m: cell[(m * columns + column) * rows + row] */
	u64 most;               /* in one cell */
};

/*
 * At most so many rows and columns. The maps are those of h, the largest first, no more than
 * h->top. Returns 0 or -ENOMEM; free it in both cases.
 */
int heat_grid__make(struct heat_grid *g, const struct heat *h, u32 rows, u32 columns);
void heat_grid__free(struct heat_grid *g);

u64 heat_grid__cell(const struct heat_grid *g, size_t map, u32 column, u32 row);

/* Smallest and largest value of a row, both inclusive, and the time that a column covers. */
u64 heat_grid__low(const struct heat_grid *g, u32 row);
u64 heat_grid__high(const struct heat_grid *g, u32 row);
struct heat_span heat_grid__span(const struct heat_grid *g, const struct heat *h, u32 column);

/*
 * Shades are about equal steps of the logarithm of the count. Shade k is of counts from from[k] to
 * below from[k + 1]; the first one begins at 1: what is there is seen.
 */
#define HEAT_SHADES 9

struct heat_shades {
	u64 from[HEAT_SHADES];
	u32 n;
};

/* n shades or, where there are fewer counts from 1 to most, as many. */
void heat_shades__make(struct heat_shades *s, u64 most, u32 n);
int heat_shade(const struct heat_shades *s, u64 count);        /* -1: none, the count is 0 */

/* Which of so many colours, pale to strong, a shade has: the strongest is always used. */
u32 heat_shade_colour(const struct heat_shades *s, u32 shade, u32 colours);

/* Text for people, with a sign where the values have one. text has room for HEAT_VALUE. */
#define HEAT_VALUE (UNITS_SPACE + 1)
const char *heat_value(char *text, const struct heat *h, const struct histogram *like, u64 value,
		       bool milliseconds);

/* The writers. */
int write_heat_text(struct writer *w, struct heat *h);
int write_heat_line(struct writer *w, struct heat *h, const struct report *r);
int write_heat_svg(struct writer *w, struct heat *h);

#endif /* TALLY_OUT_HEAT_H */
