// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports as CSV (RFC 4180, other separators allowed): one header for the whole output. A
 * histogram group is one line of its figures, in the base unit; buckets are in the JSON only.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "out/report.h"

static void put_text(struct writer *w, const char *text)
{
	const char *p;

	if (!strpbrk(text, "\"\r\n ") && !strchr(text, w->separator)) {
		fputs(text, w->file);
		return;
	}
	fputc('"', w->file);
	for (p = text; *p; p++) {
		if (*p == '"')
			fputc('"', w->file);
		fputc(*p, w->file);
	}
	fputc('"', w->file);
}

/* The separator may be a digit or a letter too: numbers and names are quoted like text. */
static void put_number(struct writer *w, u64 number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", number);
	put_text(w, text);
}

/* With all the digits that tell it from its neighbours; no locale is ever set. */
static void put_real(struct writer *w, const struct field *f)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", f->real);
	put_text(w, text);
}

static void next_text(struct writer *w, const char *text)
{
	fputc(w->separator, w->file);
	put_text(w, text);
}

static void next_number(struct writer *w, u64 number)
{
	fputc(w->separator, w->file);
	put_number(w, number);
}

static int put_field(struct writer *w, const struct field *f)
{
	char *text;

	if (!f->text && (f->kind == FIELD_NONE || (f->kind == FIELD_REAL && !isfinite(f->real))))
		return 0;
	if (!f->text && f->kind == FIELD_REAL) {
		put_real(w, f);
		return 0;
	}
	if (!f->text) {
		put_number(w, f->number);
		return 0;
	}
	text = escape_string(f->text);
	if (!text)
		return -ENOMEM;
	put_text(w, text);
	free(text);
	return 0;
}

static void put_group_header(struct writer *w, const struct report_group *g)
{
	static const char *const figures[] = { "count", "sum", "min", "avg", "max" };
	size_t i;

	put_text(w, "start_ns");
	next_text(w, "duration_ns");
	for (i = 0; i < g->nkey; i++)
		next_text(w, g->key[i].name);
	for (i = 0; i < ARRAY_SIZE(figures); i++)
		next_text(w, figures[i]);
	for (i = 0; i < ARRAY_SIZE(report_percentiles); i++)
		next_text(w, report_percentiles[i].json);
	next_text(w, "filtered");
	next_text(w, "lost");
	fputc('\n', w->file);
}

static int put_group(struct writer *w, const struct report *r, const struct report_group *g)
{
	const struct histogram *h = &g->hist;
	size_t i;
	int err;

	put_number(w, r->start_ns);
	next_number(w, r->duration_ns);
	for (i = 0; i < g->nkey; i++) {
		fputc(w->separator, w->file);
		err = put_field(w, &g->key[i]);
		if (err)
			return err;
	}
	next_number(w, h->count);
	next_number(w, h->sum);
	next_number(w, h->min);
	next_number(w, histogram__average(h));
	next_number(w, h->max);
	for (i = 0; i < ARRAY_SIZE(report_percentiles); i++)
		next_number(w, histogram__percentile(h, report_percentiles[i].per_10k));
	next_number(w, r->counters.filtered);
	next_number(w, loss__total(&r->counters));
	fputc('\n', w->file);
	return 0;
}

static int write_groups(struct writer *w, const struct report *r)
{
	size_t i;
	int err;

	if (!w->header && r->ngroups) {
		w->header = true;
		put_group_header(w, &r->group[0]);
	}
	for (i = 0; i < r->ngroups; i++) {
		err = put_group(w, r, &r->group[i]);
		if (err)
			return err;
	}
	return 0;
}

static int put_row(struct writer *w, const struct report *r, const struct report_row *row)
{
	size_t i;
	int err;

	if (r->table) {
		put_number(w, r->start_ns);
		next_number(w, r->duration_ns);
	}
	for (i = 0; i < row->ncells; i++) {
		if (i || r->table)
			fputc(w->separator, w->file);
		err = put_field(w, &row->cell[i]);
		if (err)
			return err;
	}
	fputc('\n', w->file);
	return 0;
}

static int write_rows(struct writer *w, const struct report *r)
{
	size_t i;
	int err;

	if (!w->header && r->nrows) {
		w->header = true;
		if (r->table) {
			put_text(w, "start_ns");
			next_text(w, "duration_ns");
		}
		for (i = 0; i < r->row[0].ncells; i++) {
			if (i || r->table)
				fputc(w->separator, w->file);
			put_text(w, r->row[0].cell[i].name);
		}
		fputc('\n', w->file);
	}
	for (i = 0; i < r->nrows; i++) {
		err = put_row(w, r, &r->row[i]);
		if (err)
			return err;
	}
	return 0;
}

int write_csv(struct writer *w, const struct report *r)
{
	return r->value && !r->table ? write_groups(w, r) : write_rows(w, r);
}
