// SPDX-License-Identifier: BSD-2-Clause
#include "run/tabulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		.real = duration_ns ? 100.0 * total / duration_ns : 0,
	};

	return report_row__add_field(row, &f);
}

/* Of counts, a whole number says too little. */
static struct field average(const struct histogram *h, enum field_kind kind)
{
	struct field f = { .name = "avg", .number = histogram__average(h), .kind = kind };

	if (kind == FIELD_NUMBER) {
		f.kind = FIELD_REAL;
		f.decimals = 2;
		f.real = (double)h->sum / h->count;
	}
	return f;
}

static int add_figures(struct report_row *row, const struct report *r, const struct tabulation *t,
		       const struct histogram *h, const struct cli *cli)
{
	enum field_kind kind = value_kind(r->unit, cli), known = h->count ? kind : FIELD_NONE;
	const struct field spread[] = {
		average(h, known),
		{ .name = "p50", .number = histogram__percentile(h, 5000), .kind = known },
		{ .name = "p99", .number = histogram__percentile(h, 9900), .kind = known },
		{ .name = "max", .number = h->max, .kind = known },
	};
	int err = report_row__add_sum(row, "count", h->count, FIELD_NUMBER);

	if (!err)
		err = report_row__add_sum(row, "total", h->sum, kind);
	if (!err && t->share)
		err = add_share(row, t->share, h->sum, r->duration_ns);
	return err ?: report_row__add_fields(row, spread, ARRAY_SIZE(spread));
}

/* The key moves from the group to the row. */
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
	return report__end_row(r, &row, err);
}

/*
 * For people; programs can add up rows, and would have to leave out this one. of: the first part of
 * the keys it is of; NULL: all.
 */
static int add_total(struct report *r, const struct tabulation *t, const struct histogram *total,
		     const char *of, size_t nkeys, const struct cli *cli)
{
	const char *texts[] = { of ?: "total", of ? "total" : NULL };
	struct report_row row = {};
	int err = 0;
	size_t i;

	for (i = 0; i < nkeys && !err; i++)
		err = report_row__add_text(&row, r->row[0].cell[i].name,
					   i < ARRAY_SIZE(texts) ? texts[i] : NULL);
	if (!err)
		err = add_figures(&row, r, t, total, cli);
	return report__end_row(r, &row, err);
}

/* Of all groups whose keys begin with that text. */
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
	more = reallocarray(s->subtotal, s->n + 1, sizeof(*more));
	if (!more)
		return NULL;
	s->subtotal = more;
	more += s->n;
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
	measure__sort(r, cli);
	for (i = 0; i < r->ngroups && !err; i++)
		err = add_row(r, t, &r->group[i], cli);
	remove_groups(r);
	if (!err)
		err = add_subtotals(r, t, &parts, nkeys, cli);
	if (!err && totalled)
		err = add_total(r, t, &total, NULL, nkeys, cli);
	subtotals__free(&parts);
	histogram__free(&total);
	return err;
}

int measure__tabulate(struct measure *m, const struct measurement *measurement, struct report *r,
		      const struct tabulation *t)
{
	int err = measure__groups(m, measurement, r);

	return err ?: report__tabulate(r, t, measurement->cli);
}
