// SPDX-License-Identifier: BSD-2-Clause
/* Text reports: histograms by powers of two with bars, followed by figures and losses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/escape.h"
#include "report/report.h"
#include "report/terminal.h"
#include "report/text.h"

#define BAR_WIDTH 40
#define BEFORE_BAR 49           /* columns: range, count, share */

static void put_escaped(struct writer *w, const char *text)
{
	char *line = escape_string(text);

	fputs(line ?: "?", w->file);
	free(line);
}

static const char *style(const struct writer *w, enum terminal_style which)
{
	return terminal_style(&w->terminal, which);
}

static void put_labelled(struct writer *w, const char *label, const char *text)
{
	fputs(label, w->file);
	put_escaped(w, text);
}

/* Writes a separate line, wrapped to the terminal. */
static void put_remark(struct writer *w, const char *label, const char *text)
{
	char *line = escape_string(text), *all = NULL;

	if (line && asprintf(&all, "%s%s\n", label, line) >= 0) {
		fputs(style(w, STYLE_DIM), w->file);
		terminal__put_paragraph(w->file, &w->terminal, all, strlen(label));
		fputs(style(w, STYLE_PLAIN), w->file);
	}
	free(all);
	free(line);
}

void text_put_key(struct writer *w, const struct field *key, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct field *f = &key[i];

		if (f->machine)
			continue;
		if (f->role == ROLE_LABEL) {
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
	u32 columns = w->terminal.columns, width = BAR_WIDTH;
	u64 length;

	if (columns && columns < BEFORE_BAR + BAR_WIDTH)
		width = columns > BEFORE_BAR + 1 ? columns - BEFORE_BAR : 1;
	length = ((unsigned __int128)n * width + most - 1) / most;

	fputs("  |", w->file);
	while (length--)
		fputc('#', w->file);
	fputc('\n', w->file);
}

/*
 * Small counts (tasks in a queue) get one row per value, which is more informative than a range. Below 32, a bucket is
 * one value.
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

/* Writes the range of row i: a single value, or from one power of two to the next. */
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

static void put_titles(struct writer *w, const struct report *r)
{
	fprintf(w->file, "%s%*s %14s  share%s\n", style(w, STYLE_HEADING), 24, r->value, "count",
		style(w, STYLE_PLAIN));
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
	put_titles(w, r);
	for (i = lowest; i <= highest; i++) {
		for (gap = 0; !rows[i + gap]; gap++)
			;
		if (gap > 2) {          /* fold a long empty stretch into one line */
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

/* Formats a value of a histogram with bounds, which is signed. */
static const char *format_signed(char *text, __int128 value, enum unit unit, bool milliseconds)
{
	char size[UNITS_SPACE];

	format_value(size, value < 0 ? -(unsigned __int128)value : (unsigned __int128)value, unit, milliseconds);
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

/* Writes all rows from the first to the last nonempty one, because there are few. */
static void put_bound_rows(struct writer *w, const struct report *r, const struct histogram *h)
{
	u64 most = 0, count;
	char n[UNITS_SPACE];
	size_t k;
	u32 i;

	for (k = 0; k < h->nbuckets; k++)
		if (h->bucket[k].count > most)
			most = h->bucket[k].count;
	put_titles(w, r);
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
		fprintf(w->file, "  avg %s", format_mean(text, h->sum, h->count));
	else
		fprintf(w->file, "  avg %s", format_signed(text, (s64)histogram__average(h),
							   r->unit, w->milliseconds));
	fprintf(w->file, "  max %s%s", h->max_exact ? "" : "<= ",
		format_signed(text, (s64)h->max, r->unit, w->milliseconds));
	fprintf(w->file, "  total %s\n", format_signed(text, h->sum, r->unit, w->milliseconds));
}

/* Writes the average. Averages of counts have decimals and come with the share of values above 0. */
static void put_average(struct writer *w, const struct report *r, const struct histogram *h)
{
	u64 zeros = h->nbuckets && !h->bucket[0].index ? h->bucket[0].count : 0;
	char text[UNITS_SPACE];

	if (r->unit == UNIT_COUNT)
		fprintf(w->file, "  avg %s  above 0 %.1f%%", format_mean(text, h->sum, h->count),
			100.0 * (h->count - zeros) / h->count);
	else
		fprintf(w->file, "  avg %s",
			format_value(text, histogram__average(h), r->unit, w->milliseconds));
}

/* Precedes an inexact min or max by ">=" or "<=": an interval may know either only to the precision of a bucket. */
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

/* Writes a description such as "wait for a CPU during 3.00 s" or "1,412 threads, read in 1.20 ms". */
static void put_value(const struct report *r, FILE *f)
{
	const char *value = r->value ?: "events";
	char number[UNITS_SPACE], when[REPORT_NOTE_SPACE];
	size_t n = strlen(value);

	if (r->read_ns)
		fprintf(f, "%s ", format_count(number, r->events));
	fprintf(f, "%.*s%s", (int)(r->read_ns && r->events == 1 ? n - 1 : n), value, report__when(r, when));
}

static void put_first_line(struct writer *w, const struct report *r, FILE *f)
{
	char when[32], *kernel;
	time_t seconds = r->start_ns / NSEC_PER_SEC;
	struct tm tm;

	if (w->timestamps && localtime_r(&seconds, &tm)) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		fprintf(f, "%s.%03llu  ", when, r->start_ns % NSEC_PER_SEC / NSEC_PER_MSEC);
	}
	fprintf(f, "%s: ", r->tool);
	put_value(r, f);
	if (!w->header && r->cpus)
		fprintf(f, ", %d CPUs", r->cpus);
	kernel = !w->header && !w->brief && r->kernel ? escape_string(r->kernel) : NULL;
	if (kernel)
		fprintf(f, ", kernel %s", kernel);
	fputc('\n', f);
	free(kernel);
}

/* Captured output, which is written as paragraphs on a terminal. */
struct paragraphs {
	FILE *file;             /* NULL without memory */
	char *text;
	size_t n;
};

static void paragraphs__end(struct paragraphs *p, struct writer *w, u32 indent)
{
	if (p->file && !fclose(p->file))
		terminal__put_paragraph(w->file, &w->terminal, p->text, indent);
	free(p->text);
}

static void put_first(struct writer *w, const struct report *r)
{
	struct paragraphs p = {};

	p.file = open_memstream(&p.text, &p.n);
	if (p.file)
		put_first_line(w, r, p.file);
	fputs(style(w, STYLE_HEADING), w->file);
	paragraphs__end(&p, w, 2);
	fputs(style(w, STYLE_PLAIN), w->file);
}

void text_put_header(struct writer *w, const struct report *r)
{
	if (w->follows)
		fputc('\n', w->file);
	w->follows = true;
	if (r->value || r->duration_ns)
		put_first(w, r);
	if (!w->header && r->source && (!w->brief || r->is_estimate))
		put_remark(w, "source: ", r->source);
	if (!w->header && r->caveat)
		put_remark(w, "note: ", r->caveat);
	w->header = true;
}

/* Missed samples are not hidden from programs: code that held the CPU delayed them. */
static bool is_hidden(const struct report *r, int reason)
{
	return loss_is_hidden(reason) && !(r->is_sampled && reason == LOSS_MISSED);
}

/* Writes one sentence about everything that programs cannot see on this kernel. */
static void put_hidden(struct writer *w, const struct report *r)
{
	const char *before = "  programs do not see everything on this kernel: ";
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

const char *text_loss_sentence(const struct report *r, enum loss_reason reason)
{
	if (r->is_sampled && reason == LOSS_MISSED)
		return "no program was run for them: the CPU was stalled, or was running a BPF program of another "
		       "tracer";
	return loss_sentence(reason);
}

/* Returns the option that prevents a loss, or "". */
static const char *option_for(const struct report *r, enum loss_reason reason)
{
	if (!r->has_max_keys || !loss_ends_with_more_keys(reason))
		return "";
	return reason == LOSS_MAP_FULL && r->room_by ? r->room_by : "--max-keys";
}

static void put_losses(struct writer *w, const struct report *r)
{
	char n[UNITS_SPACE];
	const char *option;
	int i;

	for (i = 0; i < LOSS_REASONS; i++) {
		if (!r->counters.lost[i] || is_hidden(r, i))
			continue;
		option = option_for(r, i);
		fprintf(w->file, "  %s: %s %s: %s%s%s\n", loss_kind_name(loss_kind(i)),
			format_count(n, r->counters.lost[i]), loss_name(i), text_loss_sentence(r, i),
			*option ? "; raise " : "", option);
	}
	put_hidden(w, r);
}

/* Writes "lost 3", followed by the number of inexact events if there are any. */
void text_put_lost(FILE *f, const struct loss_counters *c)
{
	u64 inexact = loss__of(c, LOSS_INEXACT);
	char n[UNITS_SPACE];

	fprintf(f, "lost %s", format_count(n, loss__of(c, LOSS_LOST)));
	if (inexact)
		fprintf(f, "  inexact %s", format_count(n, inexact));
}

/* Lists excluded values; with several events, separately for each event. */
static void put_each_left_out(struct writer *w, const struct report *r)
{
	char n[UNITS_SPACE];
	size_t i;

	fputs("left out", w->file);
	for (i = 0; i < r->stacks->nevents; i++) {
		const struct report_event *e = &r->stacks->event[i];
		u64 all = e->left_out + e->chosen;

		put_labelled(w, i ? ", " : ": ", e->name);
		fprintf(w->file, " %s, %.1f%% of all", format_count(n, e->left_out),
			all ? 100.0 * e->left_out / all : 0);
	}
	put_labelled(w, ", by ", r->left_out_by);
	fputc('\n', w->file);
}

/* Lists the missed samples of each of several events. */
static void put_each_missed(struct writer *w, const struct report_stacks *s)
{
	char n[UNITS_SPACE];
	size_t i, shown = 0;

	for (i = 0; i < s->nevents; i++) {
		if (!s->event[i].missed)
			continue;
		put_labelled(w, shown++ ? ", " : "  missed: ", s->event[i].name);
		fprintf(w->file, " %s", format_count(n, s->event[i].missed));
	}
	if (shown)
		fputc('\n', w->file);
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

/* Reports the rows that are in the report but not shown. */
static void put_not_shown(struct writer *w, const struct report *r)
{
	if (r->hidden && !(w->terminal.columns && r->nrows))     /* else text_put_table() has reported the rows */
		fprintf(w->file, "%zu more not shown (--top)\n", r->hidden);
	if (r->left_out_by && r->stacks && r->stacks->nevents)
		put_each_left_out(w, r);
	else if (r->left_out_by)
		put_left_out(w, r);
}

static void put_footer(struct writer *w, const struct report *r)
{
	char n[UNITS_SPACE];

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
		fprintf(w->file, "  %s %s: no loss\n", format_count(n, r->counters.begun_before),
			r->begun ?: "began before the run and ended in it");
	if (r->counters.answered)
		fprintf(w->file, "  %s answered by a seccomp filter or a tracer: the kernel did not run them%s\n",
			format_count(n, r->counters.answered),
			r->counters.lost[LOSS_RECURSION] ? ", or their start was missed" : "");
	if (r->throttled)
		fprintf(w->file, "  throttled %s time%s by the kernel: code that was busy then has too few samples\n",
			format_count(n, r->throttled), r->throttled == 1 ? "" : "s");
	put_losses(w, r);
	if (r->stacks)
		put_each_missed(w, r->stacks);
	if (r->left_out)
		return;
	if (r->events || r->nrows || !loss__is_none(&r->counters))
		return;
	if (r->nothing) {
		put_escaped(w, r->nothing);
		fputc('\n', w->file);
	} else if (r->counters.filtered) {
		fputs("no event was in scope; the filters excluded all events\n", w->file);
	} else {
		fputs("no event happened in that time\n", w->file);
	}
}

void text_put_footer(struct writer *w, const struct report *r)
{
	struct writer in_memory = *w;
	struct paragraphs above = {}, p = {};
	bool alarm = w->terminal.colour && loss__of(&r->counters, LOSS_LOST);

	above.file = in_memory.file = open_memstream(&above.text, &above.n);
	if (above.file)
		put_not_shown(&in_memory, r);
	paragraphs__end(&above, w, 4);
	p.file = in_memory.file = open_memstream(&p.text, &p.n);
	if (p.file)
		put_footer(&in_memory, r);
	fputs(alarm ? style(w, STYLE_ALARM) : "", w->file);
	paragraphs__end(&p, w, 4);
	fputs(alarm ? style(w, STYLE_PLAIN) : "", w->file);
}

static int put_groups(struct writer *w, const struct report *r)
{
	size_t i;

	for (i = 0; i < r->ngroups; i++) {
		if (!r->group[i].hist.count)
			continue;
		fputc('\n', w->file);
		if (r->group[i].nkey)
			text_put_key(w, r->group[i].key, r->group[i].nkey);
		put_histogram(w, r, &r->group[i].hist);
	}
	return 0;
}

static int put_listings(struct writer *w, const struct report *r)
{
	write_listings(w, r);
	return 0;
}

/* Writes lines unchanged or, on a terminal, cut to its width. */
static int put_cut(struct writer *w, const struct report *r,
		   int (*put)(struct writer *w, const struct report *r))
{
	struct writing writing = { .file = w->file };
	int err;

	if (!w->terminal.columns)
		return put(w, r);
	w->file = open_memstream(&writing.text, &writing.n);
	err = w->file ? put(w, r) : -ENOMEM;
	if (w->file && fclose(w->file) && !err)
		err = -ENOMEM;
	w->file = writing.file;
	if (!err)
		terminal__put_cut(w->file, &w->terminal, writing.text);
	free(writing.text);
	return err;
}

int write_text(struct writer *w, const struct report *r)
{
	bool again = w->header;
	int err = 0;

	if (again)
		fputc('\n', w->file);
	text_put_header(w, r);
	err = put_cut(w, r, put_groups);
	if (r->nrows && r->table)
		fputc('\n', w->file);
	if (r->nrows && !err)
		err = put_cut(w, r, text_put_table);
	if (r->stacks && !err)
		err = put_cut(w, r, write_tree);
	if (r->listings && !err)
		err = put_cut(w, r, put_listings);
	if (err)
		return err;
	if (r->has_events || r->has_losses || r->hidden) {
		fputc('\n', w->file);
		text_put_footer(w, r);
	}
	if (r->overhead)
		put_overhead(w->file, r->overhead);
	if (r->verdict) {
		fputc('\n', w->file);
		put_remark(w, "", r->verdict->text);
	}
	return 0;
}
