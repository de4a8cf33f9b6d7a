// SPDX-License-Identifier: BSD-2-Clause
#include "run/tabulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static enum field_kind value_kind(enum unit unit, const struct cli *cli)
{
	switch (unit) {
	case UNIT_NS:
		return cli->milliseconds ? FIELD_TIME : FIELD_DURATION;
	case UNIT_BYTES:
		return FIELD_SIZE;
	default:
		return FIELD_NUMBER;
	}
}

static int add_share(struct report_row *row, const char *name, u64 total, u64 duration_ns)
{
	const struct field f = {
		.name = name, .kind = duration_ns ? FIELD_REAL : FIELD_NONE, .decimals = 2,
		.real = duration_ns ? 100.0 * total / duration_ns : 0, .role = ROLE_PERCENT, .of = "total",
	};

	return report_row__add_field(row, &f);
}

/* Averages of counts keep decimals. */
static struct field average(const struct histogram *h, enum field_kind kind)
{
	struct field f = {
		.name = "avg", .number = histogram__average(h), .kind = kind,
		.role = ROLE_MEAN, .of = "total", .per = "count",
	};

	if (kind == FIELD_NUMBER) {
		f.kind = FIELD_REAL;
		f.decimals = 2;
		f.real = (double)h->sum / h->count;
		f.exact = h->sum;
		f.exact_per = h->count;
	}
	return f;
}

static bool is_sorted_by(const struct cli *cli, const char *column)
{
	return cli->sort >= 0 && cli->sort == report_sort_column(column);
}

/* Adds average, percentiles and extremes. On a narrow terminal, inner percentiles are left out first. */
static int add_spread(struct report_row *row, const struct tabulation *t, const struct histogram *h,
		      enum field_kind kind, const struct cli *cli)
{
	const struct {
		bool wanted;
		struct field field;
	} spread[] = {
		{ t->full && is_sorted_by(cli, "min"), { .name = "min", .number = h->min, .role = ROLE_MINIMUM } },
		{ true, average(h, kind) },
		{ true, { .name = "p50", .number = histogram__percentile(h, 5000), .spare = true } },
		{ t->full, { .name = "p90", .number = histogram__percentile(h, 9000), .spare = true } },
		{ true, { .name = "p99", .number = histogram__percentile(h, 9900) } },
		{ t->full && is_sorted_by(cli, "p999"), { .name = "p999", .number = histogram__percentile(h, 9990) } },
		{ true, { .name = "max", .number = h->max, .role = ROLE_MAXIMUM } },
	};
	struct field f;
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spread) && !err; i++) {
		f = spread[i].field;
		f.role = f.role ?: ROLE_GAUGE;
		f.kind = f.kind ?: kind;
		if (spread[i].wanted)
			err = report_row__add_field(row, &f);
	}
	return err;
}

static int add_figures(struct report_row *row, const struct report *r, const struct tabulation *t,
		       const struct histogram *h, const struct cli *cli)
{
	enum field_kind kind = value_kind(r->unit, cli), known = h->count ? kind : FIELD_NONE;
	int err = report_row__add_sum(row, "count", h->count, FIELD_NUMBER);

	if (!err)
		err = report_row__add_sum(row, "total", h->sum, kind);
	if (!err && t->share)
		err = add_share(row, t->share, h->sum, r->duration_ns);
	return err ?: add_spread(row, t, h, known, cli);
}

/* Moves the histogram to the row, too: merging several reports computes percentiles from it (record/merge.h). */
static int move_histogram(struct report_row *row, struct report_group *g)
{
	if (g->hist.bound)
		return 0;       /* the report owns the bounds */
	row->hist = malloc(sizeof(*row->hist));
	if (!row->hist)
		return -ENOMEM;
	*row->hist = g->hist;
	g->hist = (struct histogram){};
	return 0;
}

/* Moves the key from the group to the row. */
static int add_row(struct report *r, const struct tabulation *t, struct report_group *g,
		   const struct cli *cli)
{
	struct report_row row = {};
	int err = 0;
	size_t i;

	for (i = 0; i < g->nkey && !err; i++) {
		err = report_row__add_field(&row, &g->key[i]);
		if (!err)
			g->key[i].text = NULL;
	}
	if (!err)
		err = add_figures(&row, r, t, &g->hist, cli);
	if (!err)
		err = move_histogram(&row, g);
	return report__end_row(r, &row, err);
}

/*
 * For text only; machine formats would have to skip this row when adding up. of: the first key part
 * to cover; NULL: all.
 */
static int add_total(struct report *r, const struct tabulation *t, const struct histogram *total,
		     const char *of, size_t nkeys, const struct cli *cli)
{
	const char *texts[] = { of ?: "total", of ? "total" : NULL };
	struct report_row row = { .is_total = true };
	int err = 0;
	size_t i;

	for (i = 0; i < nkeys && !err; i++)
		err = report_row__add_text(&row, r->row[0].cell[i].name,
					   i < ARRAY_SIZE(texts) ? texts[i] : NULL);
	if (!err)
		err = add_figures(&row, r, t, total, cli);
	return report__end_row(r, &row, err);
}

/* The sum of all groups whose first key part is `of`. */
struct subtotal {
	char *of;
	struct histogram hist;
	size_t ngroups;
};

struct subtotals {
	struct subtotal *subtotal;
	size_t n;
};

static int compare_subtotals(const void *a, const void *b)
{
	const struct subtotal *x = a, *y = b;

	return strcmp(x->of, y->of);
}

static struct subtotal *subtotal_of(struct subtotals *s, const char *text)
{
	struct subtotal *more;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->subtotal[i].of, text))
			return &s->subtotal[i];
	if (ARRAY_ROOM(s->subtotal, s->n))
		return NULL;
	more = &s->subtotal[s->n];
	*more = (struct subtotal){ .of = strdup(text) };
	if (!more->of)
		return NULL;
	s->n++;
	return more;
}

static int add_up_parts(struct subtotals *s, const struct report *r)
{
	struct subtotal *part;
	int err = 0;
	size_t i;

	for (i = 0; i < r->ngroups && !err; i++) {
		part = subtotal_of(s, r->group[i].key[0].text);
		err = part ? histogram__add(&part->hist, &r->group[i].hist) : -ENOMEM;
		if (!err)
			part->ngroups++;
	}
	if (s->n)
		qsort(s->subtotal, s->n, sizeof(*s->subtotal), compare_subtotals);
	return err;
}

static int add_subtotals(struct report *r, const struct tabulation *t, const struct subtotals *s,
			 size_t nkeys, const struct cli *cli)
{
	int err = 0;
	size_t i;

	for (i = 0; i < s->n && s->n > 1 && !err; i++)
		if (s->subtotal[i].ngroups > 1)
			err = add_total(r, t, &s->subtotal[i].hist, s->subtotal[i].of, nkeys, cli);
	return err;
}

static void subtotals__free(struct subtotals *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->subtotal[i].of);
		histogram__free(&s->subtotal[i].hist);
	}
	free(s->subtotal);
}

static int add_up(struct histogram *total, const struct report *r)
{
	int err = 0;
	size_t i;

	for (i = 0; i < r->ngroups && !err; i++)
		err = histogram__add(total, &r->group[i].hist);
	return err;
}

/* Adds the columns of figures after the cells of the key, which r->columns already has. */
static int add_columns(struct report *r, const struct tabulation *t, const struct cli *cli)
{
	static const struct histogram none;

	return add_figures(&r->columns, r, t, &none, cli);
}

static void remove_groups(struct report *r)
{
	while (r->ngroups)
		report_group__free(&r->group[--r->ngroups]);
	free(r->group);
	r->group = NULL;
}

int report__tabulate(struct report *r, const struct tabulation *t, const struct cli *cli)
{
	size_t i, nkeys = r->ngroups ? r->group[0].nkey : 0;
	bool totalled = nkeys && r->ngroups > 1 && cli->format == FORMAT_TEXT;
	struct histogram total = {};
	struct subtotals parts = {};
	int err = totalled ? add_up(&total, r) : 0;

	if (!err && totalled && t->subtotals)
		err = add_up_parts(&parts, r);
	r->table = true;
	r->total_from = nkeys ? 2 : 0;
	measure__sort(r, cli);
	for (i = 0; i < r->ngroups && !err; i++)
		err = add_row(r, t, &r->group[i], cli);
	if (!err && !r->ngroups)
		err = add_columns(r, t, cli);
	remove_groups(r);
	if (!err)
		err = add_subtotals(r, t, &parts, nkeys, cli);
	if (!err && totalled)
		err = add_total(r, t, &total, NULL, nkeys, cli);
	subtotals__free(&parts);
	histogram__free(&total);
	return err;
}

bool tabulate__has_many(const struct report *r, const struct cli *cli, const struct writer *w)
{
	size_t most = cli->live ? 1 : TABULATE_KEYS, n = 0, i;

	for (i = 0; i < r->ngroups; i++)
		n += r->group[i].hist.count != 0;
	if (cli->top && n > cli->top)
		n = cli->top;
	return n > most && w->format == FORMAT_TEXT && w->terminal.columns && !w->sink;
}

/*
 * True if the report is a table. Once a report had many keys, later reports are tables even with fewer keys, so that
 * they can be read one below the other.
 */
static bool is_table(struct measure *m, const struct measurement *measurement, struct report *r,
		     const struct tabulation *t, enum cli_form usual)
{
	const struct cli *cli = measurement->cli;

	if (cli->heat || cli->form == FORM_HISTOGRAMS || (cli->format == FORMAT_TEXT && !r->events))
		return false;
	if (cli->form == FORM_TABLE || usual == FORM_TABLE || m->tabulated)
		return true;
	m->tabulated = tabulate__has_many(r, cli, measurement->writer);
	if (m->tabulated)
		r->no_table = t->no_table ?: "--hist";
	return m->tabulated;
}

int measure__shape(struct measure *m, const struct measurement *measurement, struct report *r,
		   const struct tabulation *t, enum cli_form usual)
{
	const struct writer *w = measurement->writer;
	struct tabulation columns = *t;

	if (!is_table(m, measurement, r, t, usual)) {
		measure__sort(r, measurement->cli);
		return 0;
	}
	columns.full = measurement->cli->form == FORM_TABLE || (w->format == FORMAT_TEXT && w->terminal.columns);
	return report__tabulate(r, &columns, measurement->cli);
}

int measure__tabulate(struct measure *m, struct measurement *measurement, struct report *r,
		      const struct tabulation *t)
{
	int err = measure__groups(m, measurement, r);

	return err ?: measure__shape(m, measurement, r, t, FORM_TABLE);
}
