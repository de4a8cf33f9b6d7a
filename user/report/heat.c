// SPDX-License-Identifier: BSD-2-Clause
#include "report/heat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/role.h"

struct heat *heat__new(struct heat_style style, u64 interval_ns, bool live, size_t top, int sort)
{
	struct heat *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->style = style;
	h->live = live;
	h->interval_ns = interval_ns;
	h->top = top;
	h->sort = sort >= 0 ? sort : report_sort_column("sum");
	h->per_span = 1;
	return h;
}

static void heat_map__free(struct heat_map *m)
{
	size_t i;

	for (i = 0; i < m->nslices; i++)
		histogram__free(&m->slice[i].hist);
	for (i = 0; i < m->nkey; i++)
		free(m->key[i].text);
	histogram__free(&m->total);
	free(m->slice);
	free(m->key);
}

void heat__free(struct heat *h)
{
	size_t i;

	for (i = 0; h && i < h->nmaps; i++)
		heat_map__free(&h->map[i]);
	if (h)
		free(h->map);
	free(h);
}

/*
 * --- spans -------------------------------------------------------------------------------------
 */

/* Halves the number of spans by merging neighbours in pairs. */
static int halve(struct heat *h)
{
	struct heat_slice *to, *from;
	size_t i, k;
	int err;

	for (i = 0; i < h->nmaps; i++) {
		struct heat_map *m = &h->map[i];

		for (k = 0, to = m->slice; k < m->nslices; k++) {
			from = &m->slice[k];
			from->span /= 2;
			if (to > m->slice && to[-1].span == from->span) {
				err = histogram__add(&to[-1].hist, &from->hist);
				if (err)
					return err;
				histogram__free(&from->hist);
				from->hist = (struct histogram){};
			} else {
				*to++ = *from;
			}
		}
		m->nslices = to - m->slice;
	}
	for (i = 0; i < h->nspans; i++) {
		if (i % 2)
			h->span[i / 2].duration_ns += h->span[i].duration_ns;
		else
			h->span[i / 2] = h->span[i];
	}
	h->nspans = (h->nspans + 1) / 2;
	h->per_span *= 2;
	h->in_last = h->per_span;
	return 0;
}

/*
 * Extends the last span by a report of duration_ns, or begins a new span. The remainder after the last full interval, a
 * few microseconds, gets no column of its own.
 */
static int extend(struct heat *h, u64 duration_ns)
{
	bool rest = h->nspans && duration_ns < h->interval_ns / 10;
	int err;

	if (!rest && (!h->nspans || h->in_last == h->per_span)) {
		if (h->nspans == HEAT_SPANS) {
			err = halve(h);
			if (err)
				return err;
		}
		h->span[h->nspans++] = (struct heat_span){ h->total.duration_ns, 0 };
		h->in_last = 0;
	}
	h->span[h->nspans - 1].duration_ns += duration_ns;
	h->in_last += !rest;
	return 0;
}

/*
 * --- values ------------------------------------------------------------------------------------
 */

/* Compares keys, ignoring labels: a label (the name of a pid) may change. */
static int compare_keys(const struct field *a, size_t na, const struct field *b, size_t nb)
{
	size_t i;
	int d = 0;

	for (i = 0; i < na && i < nb && !d; i++) {
		if (a[i].role == ROLE_LABEL && b[i].role == ROLE_LABEL)
			continue;
		if (a[i].text && b[i].text)
			d = strcmp(a[i].text, b[i].text);
		else if (!a[i].text != !b[i].text)
			d = a[i].text ? 1 : -1;
		else if (a[i].number != b[i].number)
			d = a[i].number < b[i].number ? -1 : 1;
	}
	return d ?: (na > nb) - (na < nb);
}

/* Returns the index of the key's map, or its insertion point if no map has the key. The maps are sorted. */
static size_t place_of(const struct heat *h, const struct field *key, size_t nkey, bool *found)
{
	size_t low = 0, high = h->nmaps, middle;
	int d;

	*found = false;
	while (low < high) {
		middle = (low + high) / 2;
		d = compare_keys(h->map[middle].key, h->map[middle].nkey, key, nkey);
		if (!d) {
			*found = true;
			return middle;
		}
		if (d < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int copy_key(struct heat_map *m, const struct report_group *g)
{
	m->key = calloc(g->nkey ?: 1, sizeof(*m->key));
	if (!m->key)
		return -ENOMEM;
	for (; m->nkey < g->nkey; m->nkey++) {
		m->key[m->nkey] = g->key[m->nkey];
		if (!g->key[m->nkey].text)
			continue;
		m->key[m->nkey].text = strdup(g->key[m->nkey].text);
		if (!m->key[m->nkey].text)
			return -ENOMEM;
	}
	return 0;
}

/* Takes the newest labels, because a task may have changed its name. */
static int take_labels(struct heat_map *m, const struct report_group *g)
{
	struct report_row sum = { .cell = m->key, .ncells = m->nkey };
	const struct report_row row = { .cell = g->key, .ncells = g->nkey };

	return report_row__combine(&sum, &row);
}

static struct heat_map *map_of(struct heat *h, const struct report_group *g)
{
	struct heat_map new = {};
	bool found;
	size_t at = place_of(h, g->key, g->nkey, &found);

	if (found)
		return take_labels(&h->map[at], g) ? NULL : &h->map[at];
	if (ARRAY_ROOM(h->map, h->nmaps) || copy_key(&new, g)) {
		heat_map__free(&new);
		return NULL;
	}
	memmove(&h->map[at + 1], &h->map[at], (h->nmaps - at) * sizeof(*h->map));
	h->map[at] = new;
	h->nmaps++;
	return &h->map[at];
}

static int add_group(struct heat *h, const struct report_group *g)
{
	struct heat_map *m = map_of(h, g);
	struct heat_slice *last;
	u32 span = h->nspans - 1;
	int err;

	if (!m)
		return -ENOMEM;
	if (!m->nslices || m->slice[m->nslices - 1].span != span) {
		if (ARRAY_ROOM(m->slice, m->nslices))
			return -ENOMEM;
		m->slice[m->nslices++] = (struct heat_slice){ .span = span };
	}
	last = &m->slice[m->nslices - 1];
	err = histogram__add(&last->hist, &g->hist);
	return err ?: histogram__add(&m->total, &g->hist);
}

static void add_totals(struct heat *h, const struct report *r)
{
	struct report sum = *r;
	int i;

	sum.group = NULL;
	sum.row = NULL;
	sum.stacks = NULL;
	sum.ngroups = sum.nrows = sum.hidden = 0;
	if (h->total.tool) {
		sum.start_ns = h->total.start_ns;
		sum.duration_ns += h->total.duration_ns;
		sum.events += h->total.events;
		sum.counters.filtered += h->total.counters.filtered;
		sum.counters.unaccounted += h->total.counters.unaccounted;
		sum.counters.corrected += h->total.counters.corrected;
		sum.counters.begun_before += h->total.counters.begun_before;
		sum.counters.answered += h->total.counters.answered;
		for (i = 0; i < LOSS_REASONS; i++)
			sum.counters.lost[i] += h->total.counters.lost[i];
	}
	h->total = sum;
}

int heat__add(struct heat *h, const struct report *r)
{
	int err = r->table || r->stacks ? -EOPNOTSUPP : extend(h, r->duration_ns);
	size_t i;

	if (err)
		return err;
	add_totals(h, r);
	for (i = 0; i < r->ngroups && !err; i++)
		if (r->group[i].hist.count)
			err = add_group(h, &r->group[i]);
	return err;
}

/*
 * --- cells -------------------------------------------------------------------------------------
 */

/* Sorts the maps, largest first. Returns 0 or -ENOMEM. */
static int sort_maps(struct heat_grid *g, const struct heat *h)
{
	struct report all = {};
	bool found;
	size_t i;

	g->map = calloc(h->nmaps ?: 1, sizeof(*g->map));
	all.group = calloc(h->nmaps ?: 1, sizeof(*all.group));
	if (!g->map || !all.group) {
		free(all.group);
		return -ENOMEM;
	}
	for (i = 0; i < h->nmaps; i++)
		all.group[all.ngroups++] = (struct report_group){ h->map[i].key, h->map[i].nkey,
								  h->map[i].total };
	report__sort_groups(&all, h->sort, 0);
	for (i = 0; i < all.ngroups; i++)
		g->map[i] = &h->map[place_of(h, all.group[i].key, all.group[i].nkey, &found)];
	free(all.group);        /* the maps own its contents */
	return 0;
}

/* Chooses a row height so that the rows fit the limit: a power of two, or a fraction or multiple of it. */
static void fit_rows(struct heat_grid *g, u32 rows)
{
	u32 lowest = UINT32_MAX, highest = 0;
	size_t i;

	for (i = 0; i < g->nmaps; i++) {
		const struct histogram *t = &g->map[i]->total;

		if (t->bucket[0].index < lowest)
			lowest = t->bucket[0].index;
		if (t->bucket[t->nbuckets - 1].index > highest)
			highest = t->bucket[t->nbuckets - 1].index;
	}
	for (g->step = 1; highest / g->step - lowest / g->step + 1 > rows; g->step *= 2)
		;
	g->first = lowest / g->step * g->step;
	g->rows = (highest - g->first) / g->step + 1;
}

static void fill(struct heat_grid *g, size_t m)
{
	const struct heat_map *map = g->map[m];
	size_t i, k;

	for (i = 0; i < map->nslices; i++) {
		const struct histogram *hist = &map->slice[i].hist;
		u64 *column = g->cell +
			      (m * g->columns + map->slice[i].span / g->per_column) * g->rows;

		for (k = 0; k < hist->nbuckets; k++)
			column[(hist->bucket[k].index - g->first) / g->step] += hist->bucket[k].count;
	}
}

static u64 rate_of(u64 count, u64 per_ns, u64 duration_ns)
{
	unsigned __int128 rate;

	if (!count || !duration_ns)
		return count;
	rate = ((unsigned __int128)count * per_ns + duration_ns / 2) / duration_ns;
	return rate > UINT64_MAX ? UINT64_MAX : rate ?: 1;
}

static void fill_rates(struct heat_grid *g, const struct heat *h)
{
	size_t m;
	u32 c, row;

	for (c = 0; c < g->columns; c++) {
		u64 duration_ns = heat_grid__span(g, h, c).duration_ns;

		if (c + 1 < g->columns && (!c || duration_ns < g->shortest_ns))
			g->shortest_ns = duration_ns;
		if (c + 1 < g->columns && duration_ns > g->longest_ns)
			g->longest_ns = duration_ns;
		for (m = 0; m < g->nmaps; m++) {
			u64 *rate = g->rate + (m * g->columns + c) * g->rows;

			for (row = 0; row < g->rows; row++) {
				rate[row] = rate_of(heat_grid__cell(g, m, c, row), g->column_ns, duration_ns);
				if (rate[row] > g->most)
					g->most = rate[row];
			}
		}
	}
}

int heat_grid__make(struct heat_grid *g, const struct heat *h, u32 rows, u32 columns)
{
	size_t i;
	int err;

	*g = (struct heat_grid){
		.nmaps = h->top && h->top < h->nmaps ? h->top : h->nmaps,
		.per_column = (h->nspans + columns - 1) / columns,
	};
	err = sort_maps(g, h);
	if (err || !g->nmaps)
		return err;
	fit_rows(g, rows);
	g->columns = (h->nspans + g->per_column - 1) / g->per_column;
	g->column_ns = (h->interval_ns ?: h->span[0].duration_ns / h->per_span) * h->per_span * g->per_column;
	g->cell = calloc((size_t)g->rows * g->columns * g->nmaps, sizeof(*g->cell));
	g->rate = calloc((size_t)g->rows * g->columns * g->nmaps, sizeof(*g->rate));
	if (!g->cell || !g->rate)
		return -ENOMEM;
	for (i = 0; i < g->nmaps; i++)
		fill(g, i);
	fill_rates(g, h);
	return 0;
}

void heat_grid__free(struct heat_grid *g)
{
	free(g->map);
	free(g->cell);
	free(g->rate);
	*g = (struct heat_grid){};
}

u64 heat_grid__cell(const struct heat_grid *g, size_t map, u32 column, u32 row)
{
	return g->cell[(map * g->columns + column) * g->rows + row];
}

u64 heat_grid__rate(const struct heat_grid *g, size_t map, u32 column, u32 row)
{
	return g->rate[(map * g->columns + column) * g->rows + row];
}

bool heat_grid__is_uneven(const struct heat_grid *g)
{
	u64 tenth = g->column_ns / 10;

	return g->longest_ns > g->column_ns + tenth || (g->longest_ns && g->shortest_ns < g->column_ns - tenth);
}

u64 heat_grid__low(const struct heat_grid *g, u32 row)
{
	return histogram__first(&g->map[0]->total, g->first + row * g->step);
}

u64 heat_grid__high(const struct heat_grid *g, u32 row)
{
	const struct histogram *like = &g->map[0]->total;
	u32 last = like->bound ? like->nbounds : HIST_BUCKETS - 1;
	u32 index = g->first + (row + 1) * g->step - 1;

	return histogram__last(like, index < last ? index : last);
}

struct heat_span heat_grid__span(const struct heat_grid *g, const struct heat *h, u32 column)
{
	size_t i = (size_t)column * g->per_column, end = i + g->per_column;
	struct heat_span all = { h->span[i].start_ns, 0 };

	for (; i < end && i < h->nspans; i++)
		all.duration_ns += h->span[i].duration_ns;
	return all;
}

/*
 * --- shades ------------------------------------------------------------------------------------
 */

void heat_shades__make(struct heat_shades *s, u64 most, u32 n)
{
	u64 from;
	u32 i;

	*s = (struct heat_shades){};
	for (i = 0; i < n && most; i++) {
		double x = ceil(pow(most, (double)i / n));

		from = x < 1 ? 1 : x >= most ? most : (u64)x;
		if (!s->n || from > s->from[s->n - 1])
			s->from[s->n++] = from;
	}
}

int heat_shade(const struct heat_shades *s, u64 rate)
{
	int i = s->n;

	while (i-- && rate < s->from[i])
		;
	return i;
}

u32 heat_shade_colour(const struct heat_shades *s, u32 shade, u32 colours)
{
	return s->n < 2 ? colours - 1 : shade * (colours - 1) / (s->n - 1);
}

const char *heat_value(char *text, const struct heat *h, const struct histogram *like, u64 value,
		       bool milliseconds)
{
	bool negative = like->bound && (s64)value < 0;
	char size[UNITS_SPACE];

	format_value(size, negative ? -value : value, h->total.unit, milliseconds);
	snprintf(text, HEAT_VALUE, "%s%s", negative ? "-" : "", size);
	return text;
}
