// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports as CSV (RFC 4180, other separators allowed). The whole output has one header. A histogram group is one line
 * of summary figures in the base unit; only JSON has buckets. A stack is one line with its frames in folded form.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/listing.h"
#include "report/report.h"
#include "report/tree.h"

void csv_put_text(struct writer *w, const char *text)
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

/* Quotes the number like text, because the separator may be a digit or a letter. */
static void put_number(struct writer *w, u64 number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", number);
	csv_put_text(w, text);
}

/* Writes enough digits to be exact. The locale is always "C". */
static void put_real(struct writer *w, const struct field *f)
{
	char text[UNITS_SPACE];

	if (field_is_wide(f))
		format_digits(text, f->exact);
	else
		snprintf(text, sizeof(text), "%.15g", f->real);
	csv_put_text(w, text);
}

static void next_text(struct writer *w, const char *text)
{
	fputc(w->separator, w->file);
	csv_put_text(w, text);
}

static void next_number(struct writer *w, u64 number)
{
	fputc(w->separator, w->file);
	put_number(w, number);
}

static void put_signed(struct writer *w, s64 number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", number);
	csv_put_text(w, text);
}

/* Writes a histogram value: signed if the histogram has bounds. */
static void next_value(struct writer *w, const struct histogram *h, u64 value)
{
	fputc(w->separator, w->file);
	if (h->bound)
		put_signed(w, value);
	else
		put_number(w, value);
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
	if (!f->text && field_is_signed(f->kind)) {
		put_signed(w, f->number);
		return 0;
	}
	if (!f->text) {
		put_number(w, f->number);
		return 0;
	}
	text = escape_string(f->text);
	if (!text)
		return -ENOMEM;
	csv_put_text(w, text);
	free(text);
	return 0;
}

static void put_group_header(struct writer *w, const struct report_group *g)
{
	static const char *const figures[] = { "count", "sum", "min", "avg", "max" };
	size_t i;

	csv_put_text(w, "start_ns");
	next_text(w, "duration_ns");
	for (i = 0; i < g->nkey; i++)
		next_text(w, g->key[i].name);
	for (i = 0; i < ARRAY_SIZE(figures); i++)
		next_text(w, figures[i]);
	for (i = 0; i < ARRAY_SIZE(report_percentiles) && !g->hist.bound; i++)
		next_text(w, report_percentiles[i].json);
	next_text(w, "filtered");
	next_text(w, "lost");
	next_text(w, "inexact");
	fputc('\n', w->file);
}

static int put_group(struct writer *w, const struct report *r, const struct report_group *g)
{
	const struct histogram *h = &g->hist;
	char sum[UNITS_SPACE];
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
	next_text(w, format_digits(sum, h->sum));
	next_value(w, h, h->min);
	next_value(w, h, histogram__average(h));
	next_value(w, h, h->max);
	for (i = 0; i < ARRAY_SIZE(report_percentiles) && !h->bound; i++)
		next_number(w, histogram__percentile(h, report_percentiles[i].per_10k));
	next_number(w, r->counters.filtered);
	next_number(w, loss__of(&r->counters, LOSS_LOST));
	next_number(w, loss__of(&r->counters, LOSS_INEXACT));
	fputc('\n', w->file);
	return 0;
}

static int write_groups(struct writer *w, const struct report *r)
{
	const struct report_group none = { .key = r->columns.cell, .nkey = r->columns.ncells };
	size_t i;
	int err;

	if (!w->header && (r->ngroups || none.nkey)) {
		w->header = true;
		put_group_header(w, r->ngroups ? &r->group[0] : &none);
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

/* Escapes column names like values: names in recordings are untrusted. */
static int put_name(struct writer *w, const char *name)
{
	const struct field f = { .text = (char *)name };

	return put_field(w, &f);
}

static int write_rows(struct writer *w, const struct report *r)
{
	const struct report_row *columns = r->nrows ? &r->row[0] : &r->columns;
	bool has_time = r->table && !r->columns_of_lines;
	size_t i;
	int err;

	if (!w->header && columns->ncells) {
		w->header = true;
		if (has_time) {
			csv_put_text(w, "start_ns");
			next_text(w, "duration_ns");
		}
		for (i = 0; i < columns->ncells; i++) {
			if (i || has_time)
				fputc(w->separator, w->file);
			err = put_name(w, columns->cell[i].name);
			if (err)
				return err;
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

static int put_stack(struct writer *w, const struct report *r, const struct stack_labels *labels,
		     const struct report_stack *stack)
{
	const struct report_row *key = &r->stacks->key[stack->key];
	struct stack_labels frames = *labels;
	char *no_key = "", *text = NULL;
	struct report_stack without = *stack;
	size_t n = 0, i;
	FILE *f = open_memstream(&text, &n);
	int err = 0;

	put_number(w, r->start_ns);
	next_number(w, r->duration_ns);
	for (i = 0; i < key->ncells && !err; i++) {
		fputc(w->separator, w->file);
		err = put_field(w, &key->cell[i]);
	}
	next_number(w, stack->value);
	without.key = 0;        /* keys have columns of their own */
	frames.key = &no_key;
	frames.event = NULL;
	if (f)
		put_folded_stack(f, &frames, &without);
	if (!f || fclose(f))
		err = -ENOMEM;
	if (!err)
		next_text(w, text);
	free(text);
	fputc('\n', w->file);
	return err;
}

static int write_stacks(struct writer *w, const struct report *r)
{
	const struct report_stacks *s = r->stacks;
	const struct report_row *key = s->n ? &s->key[0] : &r->columns;
	struct stack_labels labels = {};
	int err = stack_labels__make(&labels, s, LABELS_FOLDED);
	size_t i;

	if (!w->header) {
		w->header = true;
		csv_put_text(w, "start_ns");
		next_text(w, "duration_ns");
		for (i = 0; i < key->ncells; i++)
			next_text(w, key->cell[i].name);
		next_text(w, s->unit);
		next_text(w, "stack");
		fputc('\n', w->file);
	}
	for (i = 0; i < s->n && !err; i++)
		err = put_stack(w, r, &labels, &s->stack[i]);
	stack_labels__free(&labels);
	return err;
}

static int next_escaped(struct writer *w, const char *text)
{
	char *shown = escape_string(text);

	if (!shown)
		return -ENOMEM;
	next_text(w, shown);
	free(shown);
	return 0;
}

static void next_address(struct writer *w, u64 address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", address);
	next_text(w, text);
}

static int put_instruction(struct writer *w, const struct report *r, const struct listing *l,
			   const struct listing_line *line)
{
	int err;

	put_number(w, r->start_ns);
	next_number(w, r->duration_ns);
	err = next_escaped(w, l->name) ?: next_escaped(w, l->module ?: "");
	next_number(w, line->offset);
	next_address(w, l->address + line->offset);
	err = err ?: next_escaped(w, line->size ? line->mnemonic : "");
	err = err ?: next_escaped(w, line->size ? line->operands : "");
	err = err ?: next_escaped(w, line->target_name ?: "");
	err = err ?: next_escaped(w, line->file ?: "");
	if (line->file)
		next_number(w, line->line);
	else
		next_text(w, "");
	next_number(w, line->count);
	fputc('\n', w->file);
	return err;
}

static int write_listed(struct writer *w, const struct report *r)
{
	static const char *const titles[] = {
		"duration_ns", "function", "module", "offset", "addr", "mnemonic", "operands",
		"target", "file", "line",
	};
	const struct report_listings *all = r->listings;
	size_t i, k;
	int err = 0;

	if (!w->header) {
		w->header = true;
		csv_put_text(w, "start_ns");
		for (i = 0; i < ARRAY_SIZE(titles); i++)
			next_text(w, titles[i]);
		next_text(w, all->unit);
		fputc('\n', w->file);
	}
	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->listing[i].n && !err; k++)
			err = put_instruction(w, r, &all->listing[i], &all->listing[i].line[k]);
	return err;
}

int write_csv(struct writer *w, const struct report *r)
{
	if (r->listings)
		return write_listed(w, r);
	if (r->stacks)
		return write_stacks(w, r);
	return r->value && !r->table ? write_groups(w, r) : write_rows(w, r);
}
