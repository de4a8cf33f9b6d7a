// SPDX-License-Identifier: BSD-2-Clause
/* Reports for people: histograms by powers of two with bars, figures below, then what was lost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/escape.h"
#include "report/report.h"
#include "report/text.h"

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

void text_put_key(struct writer *w, const struct field *key, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct field *f = &key[i];

		if (f->label) {
			fputc(' ', w->file);
		} else {
			fprintf(w->file, "%s%s ", i ? "  " : "", f->name);
		}
		if (f->text)
			put_escaped(w, f->text);
		else
			fprintf(w->file, f->kind == FIELD_SIGNED ? "%lld" : "%llu", f->number);
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

/*
 * Small counts (tasks in a queue) stand one to a row: the value itself says more than a range.
 * Below 32 a bucket is one value.
 */
#define VALUE_ROWS 32

static bool is_by_value(const struct report *r, const struct histogram *h)
{
	return r->unit == UNIT_COUNT && h->max < VALUE_ROWS;
}

static void fill_by_value(const struct histogram *h, u64 rows[HISTOGRAM_POWER_ROWS])
{
	size_t i;

	memset(rows, 0, HISTOGRAM_POWER_ROWS * sizeof(*rows));
	for (i = 0; i < h->nbuckets; i++)
		rows[histogram_bucket_first(h->bucket[i].index)] += h->bucket[i].count;
}

/* What row i is about: a value, or from the power of two to the next. */
static void put_range(struct writer *w, const struct report *r, int i, bool by_value)
{
	char from[UNITS_SPACE], to[UNITS_SPACE];
	u64 first, last;

	first = by_value ? (u64)i : i ? 1ULL << (i - 1) : 0;
	format_value(from, first, r->unit, w->milliseconds);
	if (by_value || i == 0) {
		fprintf(w->file, "%11s   %-10s", from, "");
		return;
	}
	last = first + (first - 1);
	format_value(to, last == UINT64_MAX ? last : last + 1, r->unit, w->milliseconds);
	fprintf(w->file, "%11s - %-10s", from, to);
}

static void put_rows(struct writer *w, const struct report *r, const struct histogram *h)
{
	bool by_value = is_by_value(r, h);
	u64 rows[HISTOGRAM_POWER_ROWS], most = 0;
	int i, gap, lowest = -1, highest = 0;
	char n[UNITS_SPACE];

	if (by_value)
		fill_by_value(h, rows);
	else
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
		put_range(w, r, i, by_value);
		fprintf(w->file, " %14s %5.1f%%", format_count(n, rows[i]),
			100.0 * rows[i] / h->count);
		put_bar(w, rows[i], most);
	}
}

#define SIGNED_SPACE (UNITS_SPACE + 1)

/* A value of a histogram with bounds, which has a sign. */
static const char *format_signed(char *text, __int128 value, enum unit unit, bool milliseconds)
{
	char size[UNITS_SPACE];

	format_value(size, value < 0 ? -(u64)value : (u64)value, unit, milliseconds);
	snprintf(text, SIGNED_SPACE, "%s%s", value < 0 ? "-" : "", size);
	return text;
}

static void put_bound_range(struct writer *w, const struct report *r, const struct histogram *h,
			    u32 i)
{
	char from[SIGNED_SPACE] = "below", to[SIGNED_SPACE] = "or more";

	if (i)
		format_signed(from, h->bound[i - 1], r->unit, w->milliseconds);
	if (i < h->nbounds)
		format_signed(to, h->bound[i], r->unit, w->milliseconds);
	fprintf(w->file, "%11s %c %-10s", from, i && i < h->nbounds ? '-' : ' ', to);
}

/* All rows between the first and the last that are not empty: they are few. */
static void put_bound_rows(struct writer *w, const struct report *r, const struct histogram *h)
{
	u64 most = 0, count;
	char n[UNITS_SPACE];
	size_t k;
	u32 i;

	for (k = 0; k < h->nbuckets; k++)
		if (h->bucket[k].count > most)
			most = h->bucket[k].count;
	fprintf(w->file, "%*s %14s  share\n", 24, r->value, "count");
	for (k = 0, i = h->bucket[0].index; k < h->nbuckets; i++) {
		count = h->bucket[k].index == i ? h->bucket[k++].count : 0;
		put_bound_range(w, r, h, i);
		fprintf(w->file, " %14s %5.1f%%", format_count(n, count), 100.0 * count / h->count);
		put_bar(w, count, most);
	}
}

static void put_bound_figures(struct writer *w, const struct report *r, const struct histogram *h)
{
	char text[SIGNED_SPACE];

	fprintf(w->file, "  count %s", format_count(text, h->count));
	fprintf(w->file, "  min %s%s", h->min_exact ? "" : ">= ",
		format_signed(text, (s64)h->min, r->unit, w->milliseconds));
	if (r->unit == UNIT_COUNT)
		fprintf(w->file, "  avg %.2f", (double)h->sum / h->count);
	else
		fprintf(w->file, "  avg %s", format_signed(text, (s64)histogram__average(h),
							   r->unit, w->milliseconds));
	fprintf(w->file, "  max %s%s", h->max_exact ? "" : "<= ",
		format_signed(text, (s64)h->max, r->unit, w->milliseconds));
	fprintf(w->file, "  total %s\n", format_signed(text, h->sum, r->unit, w->milliseconds));
}

/* Of counts, a whole number says too little about the average, and 0 is a case of its own. */
static void put_average(struct writer *w, const struct report *r, const struct histogram *h)
{
	u64 zeros = h->nbuckets && !h->bucket[0].index ? h->bucket[0].count : 0;
	char text[UNITS_SPACE];

	if (r->unit == UNIT_COUNT)
		fprintf(w->file, "  avg %.2f  above 0 %.1f%%", (double)h->sum / h->count,
			100.0 * (h->count - zeros) / h->count);
	else
		fprintf(w->file, "  avg %s",
			format_value(text, histogram__average(h), r->unit, w->milliseconds));
}

/* min and max of an interval may be known to a bucket only. */
static void put_figures(struct writer *w, const struct report *r, const struct histogram *h)
{
	char text[UNITS_SPACE];
	size_t i;

	fprintf(w->file, "  count %s", format_count(text, h->count));
	fprintf(w->file, "  min %s%s", h->min_exact ? "" : ">= ",
		format_value(text, h->min, r->unit, w->milliseconds));
	put_average(w, r, h);
	fprintf(w->file, "  max %s%s", h->max_exact ? "" : "<= ",
		format_value(text, h->max, r->unit, w->milliseconds));
	fprintf(w->file, "  total %s\n ", format_value(text, h->sum, r->unit, w->milliseconds));
	for (i = 0; i < ARRAY_SIZE(report_percentiles); i++)
		fprintf(w->file, " %s %s%s", report_percentiles[i].text,
			format_value(text, histogram__percentile(h, report_percentiles[i].per_10k),
				     r->unit, w->milliseconds),
			i + 1 < ARRAY_SIZE(report_percentiles) ? " " : "\n");
}

void text_put_figures(struct writer *w, const struct report *r, const struct histogram *h)
{
	if (h->bound)
		put_bound_figures(w, r, h);
	else
		put_figures(w, r, h);
}

static void put_histogram(struct writer *w, const struct report *r, const struct histogram *h)
{
	if (h->bound)
		put_bound_rows(w, r, h);
	else
		put_rows(w, r, h);
	text_put_figures(w, r, h);
}

void text_put_header(struct writer *w, const struct report *r)
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
		if (!w->header && r->cpus)
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

/* Samples that did not come were held back, by whoever kept the CPU. */
static bool is_hidden(const struct report *r, int reason)
{
	return loss_is_hidden(reason) && !(r->is_sampled && reason == LOSS_MISSED);
}

/* What no program can see on this kernel is one sentence, of whichever kind it is. */
static void put_hidden(struct writer *w, const struct report *r)
{
	const char *before = "  this kernel does not show programs everything: ";
	char n[UNITS_SPACE];
	int i;

	for (i = 0; i < LOSS_REASONS; i++) {
		if (!is_hidden(r, i) || !r->counters.lost[i])
			continue;
		fprintf(w->file, "%s%s %s (%s: %s)", before, format_count(n, r->counters.lost[i]),
			loss_kind_name(loss_kind(i)), loss_name(i), loss_sentence(i));
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', w->file);
}

static void put_losses(struct writer *w, const struct report *r)
{
	char n[UNITS_SPACE];
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		if (r->counters.lost[i] && !is_hidden(r, i))
			fprintf(w->file, "  %s: %s %s: %s%s\n", loss_kind_name(loss_kind(i)),
				format_count(n, r->counters.lost[i]), loss_name(i),
				loss_sentence(i), r->has_max_keys && loss_ends_with_more_keys(i) ?
				"; raise --max-keys" : "");
	put_hidden(w, r);
}

/* "lost 3", and how many are in the figures without something: where there are any. */
void text_put_lost(FILE *f, const struct loss_counters *c)
{
	u64 inexact = loss__of(c, LOSS_INEXACT);
	char n[UNITS_SPACE];

	fprintf(f, "lost %s", format_count(n, loss__of(c, LOSS_LOST)));
	if (inexact)
		fprintf(f, "  inexact %s", format_count(n, inexact));
}

static void put_left_out(struct writer *w, const struct report *r)
{
	u64 all = r->left_out + r->chosen;
	char n[UNITS_SPACE];

	fprintf(w->file, "left out: %s, %.1f%% of all",
		format_value(n, r->left_out, r->unit, w->milliseconds), all ? 100.0 * r->left_out / all : 0);
	put_labelled(w, ", by ", r->left_out_by);
	fputc('\n', w->file);
}

void text_put_footer(struct writer *w, const struct report *r)
{
	char n[UNITS_SPACE];

	if (r->hidden)
		fprintf(w->file, "%zu more not shown (--top)\n", r->hidden);
	if (r->left_out_by)
		put_left_out(w, r);
	if (!r->has_events) {
		if (r->has_losses) {
			text_put_lost(w->file, &r->counters);
			fputc('\n', w->file);
		}
		put_losses(w, r);
		return;
	}
	fprintf(w->file, "events %s", format_count(n, r->events));
	fprintf(w->file, "  filtered %s  ", format_count(n, r->counters.filtered));
	text_put_lost(w->file, &r->counters);
	fputc('\n', w->file);
	if (r->counters.unaccounted)
		fprintf(w->file, "  %s of the events are missing from the kernel's own totals\n",
			format_count(n, r->counters.unaccounted));
	if (r->counters.corrected)
		fprintf(w->file,
			"  %s of the events are longer in the kernel's own totals, by sleep\n",
			format_count(n, r->counters.corrected));
	if (r->counters.begun_before)
		fprintf(w->file, "  %s ended that had begun before the run: no loss\n",
			format_count(n, r->counters.begun_before));
	if (r->throttled)
		fprintf(w->file, "  throttled %s time%s by the kernel: what was busy then has too few samples\n",
			format_count(n, r->throttled), r->throttled == 1 ? "" : "s");
	put_losses(w, r);
	if (r->left_out)
		return;
	if (r->events || r->nrows || !loss__is_none(&r->counters))
		return;
	if (r->nothing)
		fprintf(w->file, "%s\n", r->nothing);
	else if (r->counters.filtered)
		fputs("no event was in scope; the filters left all of them out\n", w->file);
	else
		fputs("no event happened in that time\n", w->file);
}

/*
 * ns in ms, or us, with three decimals: a column has one unit, so that its numbers can be compared.
 */
static char *time_text(u64 ns, bool micro)
{
	u64 unit = micro ? NSEC_PER_USEC : NSEC_PER_MSEC;
	char number[UNITS_SPACE], *text;

	format_count(number, ns / unit);
	if (asprintf(&text, "%s.%03llu %s", number, ns % unit * 1000 / unit, micro ? "us" : "ms") <
	    0)
		return NULL;
	return text;
}

/* Are all times of a column below a millisecond? */
static bool column_is_micro(const struct report *r, size_t k)
{
	u64 most = 0;
	size_t i;

	for (i = 0; i < r->nrows; i++)
		if (k < r->row[i].ncells && r->row[i].cell[k].kind == FIELD_TIME &&
		    r->row[i].cell[k].number > most)
			most = r->row[i].cell[k].number;
	return most && most < NSEC_PER_MSEC;
}

/* A cell as people read it, in new memory; NULL without any. */
static char *cell_text(const struct field *f, bool micro)
{
	char number[UNITS_SPACE], signed_number[SIGNED_SPACE], *text = NULL;

	if (f->text)
		return escape_string(f->text);
	switch (f->kind) {
	case FIELD_NONE:
		return strdup("");
	case FIELD_SIGNED:
		return strdup(format_signed(signed_number, (s64)f->number, UNIT_COUNT, false));
	case FIELD_SIGNED_SIZE:
		return strdup(format_signed(signed_number, (s64)f->number, UNIT_BYTES, false));
	case FIELD_ID:
		return asprintf(&text, "%llu", f->number) < 0 ? NULL : text;
	case FIELD_TIME:
		return time_text(f->number, micro);
	case FIELD_DURATION:
		return strdup(format_value(number, f->number, UNIT_NS, false));
	case FIELD_SIZE:
		return strdup(format_value(number, f->number, UNIT_BYTES, false));
	case FIELD_REAL:
		if (asprintf(&text, "%.*f", f->decimals, f->real) < 0)
			return NULL;
		return text;
	default:
		return strdup(format_count(number, f->number));
	}
}

/* Places on the screen: code points. Wide characters take two; nobody aligns those. */
static int columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* Of a table: everything as text, then how wide and on which side. */
struct layout {
	size_t rows, cells;
	char **text; /* rows * cells, the titles first if there are any; NULL: left out */
	int *width;
	bool *right;
	bool *micro;            /* times in us */
};

static void layout__free(struct layout *l)
{
	size_t i;

	for (i = 0; l->text && i < l->rows * l->cells; i++)
		free(l->text[i]);
	free(l->text);
	free(l->width);
	free(l->right);
	free(l->micro);
}

static int layout__make(struct layout *l, const struct report *r)
{
	size_t first = r->table, i, k;

	l->cells = r->row[0].ncells;
	l->rows = r->nrows + first;
	l->text = calloc(l->rows * l->cells ?: 1, sizeof(*l->text));
	l->width = calloc(l->cells ?: 1, sizeof(*l->width));
	l->right = calloc(l->cells ?: 1, sizeof(*l->right));
	l->micro = calloc(l->cells ?: 1, sizeof(*l->micro));
	if (!l->text || !l->width || !l->right || !l->micro)
		return -ENOMEM;
	for (k = 0; k < l->cells; k++)
		l->micro[k] = column_is_micro(r, k);
	for (i = 0; i < l->rows; i++) {
		const struct report_row *row = &r->row[i < first ? 0 : i - first];

		for (k = 0; k < l->cells && k < row->ncells; k++) {
			char **text = &l->text[i * l->cells + k];

			if (r->row[0].cell[k].machine)
				continue;
			*text = i < first ? strdup(row->cell[k].name)
					  : cell_text(&row->cell[k], l->micro[k]);
			if (!*text)
				return -ENOMEM;
			if (columns(*text) > l->width[k])
				l->width[k] = columns(*text);
			l->right[k] |= i >= first && !row->cell[k].text &&
				       row->cell[k].kind != FIELD_NONE;
		}
	}
	return 0;
}

/* Columns as wide as their widest cell; numbers to the right; nothing behind the last. */
static int put_table(struct writer *w, const struct report *r)
{
	struct layout l = {};
	size_t i, k;
	int err = layout__make(&l, r), gap, pad;

	for (i = 0; !err && i < l.rows; i++) {
		gap = 0;
		for (k = 0; k < l.cells; k++) {
			const char *text = l.text[i * l.cells + k];

			if (!text)
				continue;
			pad = l.width[k] - columns(text);
			if (!*text) {
				gap += l.width[k] + 2;
				continue;
			}
			fprintf(w->file, "%*s%s", gap + (l.right[k] ? pad : 0), "", text);
			gap = 2 + (l.right[k] ? 0 : pad);
		}
		fputc('\n', w->file);
	}
	layout__free(&l);
	return err;
}

int write_text(struct writer *w, const struct report *r)
{
	bool again = w->header;
	size_t i;

	if (again)
		fputc('\n', w->file);
	text_put_header(w, r);
	for (i = 0; i < r->ngroups; i++) {
		if (!r->group[i].hist.count)
			continue;
		fputc('\n', w->file);
		if (r->group[i].nkey)
			text_put_key(w, r->group[i].key, r->group[i].nkey);
		put_histogram(w, r, &r->group[i].hist);
	}
	if (r->nrows && r->table)
		fputc('\n', w->file);
	if (r->nrows && put_table(w, r))
		return -ENOMEM;
	if (r->stacks && write_tree(w, r))
		return -ENOMEM;
	if (r->listings)
		write_listings(w, r);
	if (r->has_events || r->has_losses || r->hidden) {
		fputc('\n', w->file);
		text_put_footer(w, r);
	}
	if (r->overhead)
		put_overhead(w->file, r->overhead);
	return 0;
}
