// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/path_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/why/cause.h"
#include "cli/order.h"
#include "report/column.h"

/* The sums of a row, laid out like an element of a map. */
struct sums {
	u64 ns, links;
};

static const struct column columns[] = {
	COUNTER("time", SUM(struct sums, ns), FIELD_TIME),
	COUNTER("links", SUM(struct sums, links), FIELD_NUMBER),
	{},
};

struct sum {
	struct path_key key;
	struct sums sums;
};

/*
 * --- words -------------------------------------------------------------------------------------
 */

static enum why_cause cause_of(const struct path_link *l)
{
	const struct why_key key = {
		.slot = l->what == PATH_WAIT ? l->slot : WHY_ANYWHERE,
		.phase = l->what == PATH_HOLE ? WHY_UNKNOWN : l->phase,
		.kind = l->file,
	};

	return why_cause_of(&key);
}

static const char *cause_name(const struct path_key *key)
{
	return key->on_cpu ? "on CPU" : why_causes[key->cause].name;
}

/* The waker that ended the wait. Names in brackets do not belong to tasks. */
static const char *waker_of(const struct path *p, u32 by, u32 waker_name)
{
	switch (by) {
	case WHYPATH_BY_OUTSIDE:
		return path__name(p, waker_name);
	case WHYPATH_BY_INTERRUPT:
		return "[interrupt]";
	case WHYPATH_BY_SOFTIRQ:
		return "[softirq]";
	default:
		return NULL;
	}
}

struct path_key path_key__of(const struct path_link *l)
{
	return (struct path_key){
		.name = l->name,
		.on_cpu = l->what == PATH_ON_CPU,
		.cause = l->what == PATH_ON_CPU ? 0 : cause_of(l),
		.by = l->what == PATH_WAIT ? l->by : WHYPATH_BY_NOBODY,
		.waker_name = l->what == PATH_WAIT ? l->waker_name : 0,
		.is_other = l->is_other,
	};
}

int path_key__add_cells(const struct path_key *key, const struct path *p, struct report_row *row)
{
	int err = report_row__add_text(row, "comm", path__name(p, key->name));

	if (!err)
		err = report_row__add_text(row, "cause", cause_name(key));
	return err ?: report_row__add_text(row, "waker", waker_of(p, key->by, key->waker_name));
}

int path_key__add_next(const struct path_key *key, struct report_row *row)
{
	return why_add_next(row, !key ? NULL : key->on_cpu ? "profile" : why_causes[key->cause].next);
}

/*
 * --- by program and cause ----------------------------------------------------------------------
 */

static bool same_sum(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct sum *)array)[index].key, key, sizeof(struct path_key));
}

static int add_up(struct sum **sums, size_t *n, struct table *table, const struct path_key *key, u64 ns)
{
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 at = table__find(table, hash, same_sum, *sums, key);
	int err = 0;

	if (at < 0) {
		err = ARRAY_APPEND(*sums, *n, (struct sum){ .key = *key }) ?: table__add(table, hash, *n - 1);
		at = *n - 1;
	}
	if (err)
		return err;
	(*sums)[at].sums.ns += ns;
	(*sums)[at].sums.links++;
	return 0;
}

static int add_shares(struct report_row *row, u64 ns, u64 elapsed)
{
	const struct field cells[] = {
		{ .name = "elapsed",
		  .number = elapsed,
		  .kind = FIELD_TIME,
		  .role = ROLE_COUNTER,
		  .machine = true,
		  .no_metric = true },
		{ .name = "share_percent",
		  .kind = FIELD_REAL,
		  .decimals = 1,
		  .role = ROLE_PERCENT,
		  .of = "time",
		  .per = "elapsed",
		  .real = elapsed ? 100.0 * ns / elapsed : 0 },
	};

	return report_row__add_fields(row, cells, ARRAY_SIZE(cells));
}

static int add_figures(struct report_row *row, const struct sums *sums, u64 elapsed)
{
	static const struct column_source source;
	int err = report_row__add_columns(row, columns, (const u64 *)sums, &source);

	return err ?: add_shares(row, sums->ns, elapsed);
}

static int add_sum(struct report *r, const struct path *p, const struct sum *sum, u64 elapsed)
{
	struct report_row row = {};
	int err = path_key__add_cells(&sum->key, p, &row);

	if (!err)
		err = add_figures(&row, &sum->sums, elapsed);
	if (!err)
		err = path_key__add_next(&sum->key, &row);
	return report__end_row(r, &row, err);
}

#define KEYS 3

static int add_total(struct report *r, const struct sums *total)
{
	struct report_row row;
	int err = report_row__begin_total(&row, r, KEYS);

	if (!err)
		err = add_figures(&row, total, total->ns);
	if (!err)
		err = path_key__add_next(NULL, &row);
	return report__end_row(r, &row, err);
}

static int add_rows(struct report *r, const struct path *p, const struct cli *cli, const struct sum *sum, size_t n)
{
	struct sums total = {};
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++) {
		total.ns += sum[i].sums.ns;
		total.links += sum[i].sums.links;
	}
	for (i = 0; i < n && !err; i++)
		err = add_sum(r, p, &sum[i], total.ns);
	r->events = total.links;
	report__sort_rows(r, cli->order, KEYS, table_rows(cli));
	if (!err && n && cli->format == FORMAT_TEXT)
		err = add_total(r, &total);
	if (!err && !n)
		err = report__keep_columns(r, add_sum(r, p, &(struct sum){}, 0));
	return err;
}

int path_rows__sum(const struct path *p, const struct cli *cli, struct report *r)
{
	struct table table = {};
	struct sum *sums = NULL;
	struct path_key key;
	size_t n = 0, i;
	int err = 0;

	for (i = 0; i < p->nlinks && !err; i++) {
		key = path_key__of(&p->link[i]);
		err = add_up(&sums, &n, &table, &key, p->link[i].until - p->link[i].from);
	}
	if (!err)
		err = add_rows(r, p, cli, sums, n);
	free(sums);
	table__free(&table);
	return err;
}

/*
 * --- in the order of time ----------------------------------------------------------------------
 */

static int add_call(struct report_row *row, const struct path_link *l)
{
	const struct why_key key = { .slot = l->what == PATH_WAIT ? l->slot : WHY_ANYWHERE };
	char text[64];
	int err = report_row__add_text(row, "call", why_call_name(text, &key));

	if (!err)
		err = report_row__add_text(row, "kind", why_kind_name(l->file));
	if (!err)
		row->cell[row->ncells - 1].spare = true;
	return err;
}

static int add_link(struct report *r, const struct path *p, const struct path_link *l, u64 began_ns)
{
	const struct path_key key = path_key__of(l);
	const struct field start[] = {
		{ .name = "start", .number = l->from - began_ns, .kind = FIELD_TIME, .role = ROLE_KEY },
		{ .name = "tid", .number = l->tid, .kind = FIELD_ID, .role = ROLE_KEY },
	};
	struct report_row row = {};
	int err = report_row__add_fields(&row, start, ARRAY_SIZE(start));

	if (!err)
		err = report_row__add_text(&row, "comm", path__name(p, l->name));
	if (!err)
		err = report_row__add_text(&row, "cause", cause_name(&key));
	if (!err)
		err = add_call(&row, l);
	if (!err)
		err = report_row__add_text(&row, "waker", waker_of(p, key.by, key.waker_name));
	if (!err)
		err = report_row__add_sum(&row, "time", l->until - l->from, FIELD_TIME);
	return report__end_row(r, &row, err);
}

int path_rows__each(const struct path *p, const struct cli *cli, u64 began_ns, struct report *r)
{
	size_t shown = cli->top && cli->top < p->nlinks ? cli->top : p->nlinks, i;
	int err = 0;

	for (i = 0; i < shown && !err; i++)
		err = add_link(r, p, &p->link[p->nlinks - 1 - i], began_ns);
	r->events = p->nlinks;
	r->hidden = p->nlinks - shown;
	if (!err && !p->nlinks)
		err = report__keep_columns(r, add_link(r, p, &(struct path_link){ .from = began_ns }, began_ns));
	return err;
}
