// SPDX-License-Identifier: BSD-2-Clause
/* Reports for people: histograms by powers of two with bars, figures below, then what was lost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "out/escape.h"
#include "out/report.h"

#define BAR_WIDTH 40

static void put_escaped(struct writer *w, const char *text)
{
	char *line = escape_string(text);

	fputs(line ?: "?", w->file);
	free(line);
}

static void put_labelled(struct writer *w, const char *label, const char *text)
{
	fputs(label, w->file);
	put_escaped(w, text);
}

/* "pid 123 nginx  cpu 3" */
static void put_key(struct writer *w, const struct report_group *g)
{
	size_t i;

	for (i = 0; i < g->nkey; i++) {
		const struct field *f = &g->key[i];

		if (f->label) {
			fputc(' ', w->file);
		} else {
			fprintf(w->file, "%s%s ", i ? "  " : "", f->name);
		}
		if (f->text)
			put_escaped(w, f->text);
		else
			fprintf(w->file, "%llu", f->number);
	}
	fputc('\n', w->file);
}

static void put_bar(struct writer *w, u64 n, u64 most)
{
	u64 length = ((unsigned __int128)n * BAR_WIDTH + most - 1) / most;

	fputs("  |", w->file);
	while (length--)
		fputc('#', w->file);
	fputc('\n', w->file);
}

static void put_rows(struct writer *w, const struct report *r, const struct histogram *h)
{
	u64 rows[HISTOGRAM_POWER_ROWS], most = 0, first, last;
	char from[UNITS_SPACE], to[UNITS_SPACE], n[UNITS_SPACE];
	int i, gap, lowest = -1, highest = 0;

	histogram__by_power(h, rows);
	for (i = 0; i < HISTOGRAM_POWER_ROWS; i++) {
		if (!rows[i])
			continue;
		if (lowest < 0)
			lowest = i;
		highest = i;
		if (rows[i] > most)
			most = rows[i];
	}
	fprintf(w->file, "%*s %14s  share\n", 24, r->value, "count");
	for (i = lowest; i <= highest; i++) {
		for (gap = 0; !rows[i + gap]; gap++)
			;
		if (gap > 2) {          /* a long stretch without values is one line */
			fprintf(w->file, "%13s\n", "...");
			i += gap;
		}
		first = i ? 1ULL << (i - 1) : 0;
		last = i ? first + (first - 1) : 0;
		format_value(from, first, r->unit, w->milliseconds);
		format_value(to, last == UINT64_MAX ? last : last + 1, r->unit, w->milliseconds);
		if (i == 0)
			fprintf(w->file, "%11s   %-10s", from, "");
		else
			fprintf(w->file, "%11s - %-10s", from, to);
		fprintf(w->file, " %14s %5.1f%%", format_count(n, rows[i]), 100.0 * rows[i] / h->count);
		put_bar(w, rows[i], most);
	}
}

/* min and max of an interval may be known to a bucket only. */
static void put_figures(struct writer *w, const struct report *r, const struct histogram *h)
{
	char text[UNITS_SPACE];
	size_t i;

	fprintf(w->file, "  count %s", format_count(text, h->count));
	fprintf(w->file, "  min %s%s", h->min_exact ? "" : ">= ",
		format_value(text, h->min, r->unit, w->milliseconds));
	fprintf(w->file, "  avg %s",
		format_value(text, histogram__average(h), r->unit, w->milliseconds));
	fprintf(w->file, "  max %s%s", h->max_exact ? "" : "<= ",
		format_value(text, h->max, r->unit, w->milliseconds));
	fprintf(w->file, "  total %s\n ", format_value(text, h->sum, r->unit, w->milliseconds));
	for (i = 0; i < ARRAY_SIZE(report_percentiles); i++)
		fprintf(w->file, " %s %s%s", report_percentiles[i].text,
			format_value(text, histogram__percentile(h, report_percentiles[i].per_10k),
				     r->unit, w->milliseconds),
			i + 1 < ARRAY_SIZE(report_percentiles) ? " " : "\n");
}

static void put_header(struct writer *w, const struct report *r)
{
	char duration[UNITS_SPACE], when[32];
	time_t seconds = r->start_ns / NSEC_PER_SEC;
	struct tm tm;

	if (r->value) {
		if (w->timestamps && localtime_r(&seconds, &tm)) {
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
			fprintf(w->file, "%s.%03llu  ", when,
				r->start_ns % NSEC_PER_SEC / NSEC_PER_MSEC);
		}
		fprintf(w->file, "%s: %s over %s", r->tool, r->value,
			format_value(duration, r->duration_ns, UNIT_NS, false));
		if (!w->header)
			fprintf(w->file, ", %d CPUs", r->cpus);
		if (!w->header && r->kernel)
			put_labelled(w, ", kernel ", r->kernel);
		fputc('\n', w->file);
	}
	if (!w->header && r->source) {
		put_labelled(w, "source: ", r->source);
		fputc('\n', w->file);
	}
	if (!w->header && r->caveat) {
		put_labelled(w, "note: ", r->caveat);
		fputc('\n', w->file);
	}
	w->header = true;
}

static void put_footer(struct writer *w, const struct report *r)
{
	u64 lost = loss__total(&r->counters);
	char n[UNITS_SPACE];
	int i;

	if (r->hidden)
		fprintf(w->file, "%zu more not shown (--top)\n", r->hidden);
	fprintf(w->file, "events %s", format_count(n, r->events));
	fprintf(w->file, "  filtered %s", format_count(n, r->counters.filtered));
	fprintf(w->file, "  lost %s\n", format_count(n, lost));
	if (r->counters.unaccounted)
		fprintf(w->file, "  %s of the events are missing from the kernel's own totals\n",
			format_count(n, r->counters.unaccounted));
	if (r->counters.corrected)
		fprintf(w->file, "  %s of the events are longer in the kernel's own totals, by sleep\n",
			format_count(n, r->counters.corrected));
	for (i = 0; i < LOSS_REASONS; i++)
		if (r->counters.lost[i])
			fprintf(w->file, "  lost: %s %s: %s\n", format_count(n, r->counters.lost[i]),
				loss_name(i), loss_sentence(i));
	if (!r->events && !lost && r->counters.filtered)
		fputs("no event was in scope; the filters left all of them out\n", w->file);
	else if (!r->events && !lost)
		fputs("no event happened in that time\n", w->file);
}

/* Nothing to print behind cell k, so no padding either. */
static bool rest_is_empty(const struct report_row *row, size_t k)
{
	while (++k < row->ncells)
		if (!row->cell[k].text || row->cell[k].text[0])
			return false;
	return true;
}

/* Places on the screen: code points. Wide characters take two; nobody aligns those. */
static int columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* Columns as wide as their widest cell; numbers to the right. */
static int put_table(struct writer *w, const struct report *r)
{
	size_t n = r->nrows ? r->row[0].ncells : 0, i, k;
	int *width = calloc(n ?: 1, sizeof(*width)), len;
	char number[UNITS_SPACE], *text;

	if (!width)
		return -ENOMEM;
	for (i = 0; i < r->nrows; i++) {
		for (k = 0; k < n; k++) {
			const struct field *f = &r->row[i].cell[k];

			text = f->text ? escape_string(f->text) : NULL;
			len = text ? columns(text) : (int)strlen(format_count(number, f->number));
			free(text);
			if (len > width[k])
				width[k] = len;
		}
	}
	for (i = 0; i < r->nrows; i++) {
		for (k = 0; k < n; k++) {
			const struct field *f = &r->row[i].cell[k];

			text = f->text ? escape_string(f->text) : NULL;
			if (!text)
				fprintf(w->file, "%*s", width[k], format_count(number, f->number));
			else
				fprintf(w->file, "%s%*s", text, rest_is_empty(&r->row[i], k) ? 0 :
					width[k] - columns(text), "");
			free(text);
			if (rest_is_empty(&r->row[i], k))
				break;
			fputs("  ", w->file);
		}
		fputc('\n', w->file);
	}
	free(width);
	return 0;
}

int write_text(struct writer *w, const struct report *r)
{
	bool again = w->header;
	size_t i;

	if (again)
		fputc('\n', w->file);
	put_header(w, r);
	for (i = 0; i < r->ngroups; i++) {
		if (!r->group[i].hist.count)
			continue;
		fputc('\n', w->file);
		if (r->group[i].nkey)
			put_key(w, &r->group[i]);
		put_rows(w, r, &r->group[i].hist);
		put_figures(w, r, &r->group[i].hist);
	}
	if (r->nrows && put_table(w, r))
		return -ENOMEM;
	if (r->has_events) {
		if (r->ngroups)
			fputc('\n', w->file);
		put_footer(w, r);
	}
	return 0;
}
