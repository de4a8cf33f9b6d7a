// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports as CSV (RFC 4180, other separators allowed): one header for the whole output. A
 * histogram group is one line of its figures, in the base unit; buckets are in the JSON only.
 */
#include <errno.h>
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

static int put_fields(struct writer *w, const struct field *f, size_t n)
{
	size_t i;
	char *text;

	for (i = 0; i < n; i++) {
		if (f[i].text) {
			text = escape_string(f[i].text);
			if (!text)
				return -ENOMEM;
			put_text(w, text);
			free(text);
		} else {
			fprintf(w->file, "%llu", f[i].number);
		}
		if (i + 1 < n)
			fputc(w->separator, w->file);
	}
	return 0;
}

static void put_names(struct writer *w, const struct field *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(w->file, "%s%c", f[i].name, w->separator);
}

static int write_groups(struct writer *w, const struct report *r)
{
	const char s = w->separator;
	size_t i, p;
	int err;

	if (!w->header && r->ngroups) {
		w->header = true;
		fprintf(w->file, "start_ns%cduration_ns%c", s, s);
		put_names(w, r->group[0].key, r->group[0].nkey);
		fprintf(w->file, "count%csum%cmin%cavg%cmax", s, s, s, s);
		for (p = 0; p < ARRAY_SIZE(report_percentiles); p++)
			fprintf(w->file, "%c%s", s, report_percentiles[p].json);
		fprintf(w->file, "%cfiltered%clost\n", s, s);
	}
	for (i = 0; i < r->ngroups; i++) {
		const struct histogram *h = &r->group[i].hist;

		fprintf(w->file, "%llu%c%llu%c", r->start_ns, s, r->duration_ns, s);
		err = put_fields(w, r->group[i].key, r->group[i].nkey);
		if (err)
			return err;
		if (r->group[i].nkey)
			fputc(s, w->file);
		fprintf(w->file, "%llu%c%llu%c%llu%c%llu%c%llu", h->count, s, h->sum, s, h->min, s,
			histogram__average(h), s, h->max);
		for (p = 0; p < ARRAY_SIZE(report_percentiles); p++)
			fprintf(w->file, "%c%llu", s,
				histogram__percentile(h, report_percentiles[p].per_10k));
		fprintf(w->file, "%c%llu%c%llu\n", s, r->counters.filtered, s,
			loss__total(&r->counters));
	}
	return 0;
}

static int write_rows(struct writer *w, const struct report *r)
{
	size_t i, k;
	int err;

	if (!w->header && r->nrows) {
		w->header = true;
		for (k = 0; k < r->row[0].ncells; k++)
			fprintf(w->file, "%s%c", r->row[0].cell[k].name,
				k + 1 < r->row[0].ncells ? w->separator : '\n');
	}
	for (i = 0; i < r->nrows; i++) {
		err = put_fields(w, r->row[i].cell, r->row[i].ncells);
		if (err)
			return err;
		fputc('\n', w->file);
	}
	return 0;
}

int write_csv(struct writer *w, const struct report *r)
{
	return r->value ? write_groups(w, r) : write_rows(w, r);
}
