// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/path_sides.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/why/path_rows.h"
#include "cli/order.h"

/*
 * --- the two sides -----------------------------------------------------------------------------
 */

static u64 length_of(const struct path_span *span)
{
	return span->ended - span->began;
}

static int compare_lengths(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/*
 * Finds the shortest length such that at most a tenth of the spans have this length or more; otherwise the greatest
 * length.
 */
static int find_limit(const struct path *p, u64 *limit_ns)
{
	u64 *length = calloc(p->nspans + 1, sizeof(*length));
	size_t i;

	if (!length)
		return -ENOMEM;
	for (i = 0; i < p->nspans; i++)
		length[i] = length_of(&p->span[i]);
	qsort(length, p->nspans, sizeof(*length), compare_lengths);
	*limit_ns = length[0];
	for (i = 0; i < p->nspans / 10; i++)
		if (length[i] != length[i + 1])
			*limit_ns = length[i];
	free(length);
	return 0;
}

int path_sides__divide(const struct path *p, struct span_sides *sides, u64 limit_ns)
{
	int err = limit_ns ? 0 : find_limit(p, &limit_ns);
	size_t i;

	*sides = (struct span_sides){ .limit_ns = limit_ns };
	for (i = 0; i < p->nspans; i++) {
		struct span_side *side = length_of(&p->span[i]) >= limit_ns ? &sides->slow : &sides->rest;

		side->calls++;
		side->ns += length_of(&p->span[i]);
	}
	return err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

struct path_row {
	struct path_key key;
	struct span_part side[2]; /* side[1] describes slow spans */
	size_t last;		  /* 1 + the last span that was counted here */
};

struct path_table {
	struct path_row *row;
	size_t n;
	struct table by_key;
};

static bool same_key(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct path_row *)array)[index].key, key, sizeof(struct path_key));
}

static struct path_row *row_of(struct path_table *t, const struct path_key *key)
{
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 at = table__find(&t->by_key, hash, same_key, t->row, key);

	if (at >= 0)
		return &t->row[at];
	if (ARRAY_APPEND(t->row, t->n, (struct path_row){ .key = *key }) || table__add(&t->by_key, hash, t->n - 1))
		return NULL;
	return &t->row[t->n - 1];
}

/* Adds the links of the walk through span i. */
static int add_walk(struct path_table *t, const struct path *p, size_t i, u32 side)
{
	struct path_row *row;
	struct path_key key;
	size_t l;

	for (l = 0; l < p->nlinks; l++) {
		key = path_key__of(&p->link[l]);
		row = row_of(t, &key);
		if (!row)
			return -ENOMEM;
		row->side[side].ns += p->link[l].until - p->link[l].from;
		row->side[side].calls += row->last != i + 1;
		row->last = i + 1;
	}
	return 0;
}

#define KEYS 4

static int add_row(struct report *r, const struct path *p, const struct span_sides *sides, const struct path_row *of)
{
	struct report_row row = {};
	int err = report_row__add_text(&row, "thread", of->key.is_other ? "other" : "own");

	if (!err)
		err = path_key__add_cells(&of->key, p, &row);
	if (!err)
		err = sides__add_figures(&row, sides, of->side);
	if (!err)
		err = path_key__add_next(&of->key, &row);
	return report__end_row(r, &row, err);
}

static int add_total(struct report *r, const struct span_sides *sides)
{
	struct report_row row;
	int err = report_row__begin_total(&row, r, KEYS);

	if (!err)
		err = sides__add_all_figures(&row, sides);
	if (!err)
		err = path_key__add_next(NULL, &row);
	return report__end_row(r, &row, err);
}

static int add_rows(struct report *r, const struct path *p, const struct span_sides *sides, const struct path_table *t,
		    const struct cli *cli)
{
	size_t i;
	int err = 0;

	for (i = 0; i < t->n && !err; i++)
		err = add_row(r, p, sides, &t->row[i]);
	report__sort_rows(r, cli->order ? "difference_percent" : NULL, KEYS, table_rows(cli));
	if (!err && t->n && cli->format == FORMAT_TEXT)
		err = add_total(r, sides);
	if (!err && !t->n)
		err = report__keep_columns(r, add_row(r, p, sides, &(struct path_row){}));
	return err;
}

int path_sides__add(struct path *p, const struct span_sides *sides, const struct cli *cli, struct report *r)
{
	struct path_table table = {};
	size_t i;
	int err = 0;

	for (i = 0; i < p->nspans && !err; i++) {
		err = path__walk_span(p, &p->span[i]);
		if (!err)
			err = add_walk(&table, p, i, length_of(&p->span[i]) >= sides->limit_ns);
	}
	if (!err)
		err = add_rows(r, p, sides, &table, cli);
	free(table.row);
	table__free(&table.by_key);
	return err;
}
