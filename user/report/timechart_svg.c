// SPDX-License-Identifier: BSD-2-Clause
/*
 * A chart of CPUs and tasks over time as a standalone SVG file. Each row is drawn in its own units, slots across and
 * percent up, so the drawing contains its numbers: the script (timechart_script.h) uses them to zoom and to show
 * figures. Without the script, coarser tooltips show figures.
 */
#include <errno.h>
#include <string.h>

#include "report/imprint.h"
#include "report/text.h"
#include "report/timechart.h"
#include "report/timechart_script.h"
#include "report/xml.h"

#define WIDE 1200
#define LEFT 240                /* labels */
#define RIGHT 70                /* total run time */
#define PLOT (WIDE - LEFT - RIGHT)
#define ABOVE 108               /* titles, legend, times */
#define BELOW 30                /* figures under the pointer */
#define ROW 24
#define GAP 4                   /* between rows */
#define APART 18                /* between CPUs and tasks */
#define LETTERS 30              /* longest label, in letters */
#define COLOURS 12

#define MOST_CPU_ROWS 128
#define MOST_BYTES 550000       /* approximate limit for all paths */
#define CPU_STEP 20             /* approximate maximum of bytes per slot */
#define TASK_STEP 27
#define MOST_CELLS 1800         /* tooltips for use without script, 150 bytes each */
#define CELLS 60                /* maximum per row */

static const char style[] =
	"svg{background:#fff;font:12px ui-monospace,Menlo,Consolas,monospace}"
	"text{fill:#222}.h{font-size:16px;font-weight:600}.q{fill:#555}.e{text-anchor:end}"
	".m{text-anchor:middle}.p{fill:#f4f4f7}.t{stroke:#8a8a96;shape-rendering:crispEdges}"
	".w{fill:#f2c230}.b{fill:#9a6fd0}.n{fill:#a9a9b5}"
	".c0{fill:#3b82c4}.c1{fill:#2fa56b}.c2{fill:#e0703a}.c3{fill:#c64b8c}.c4{fill:#4aa8b5}"
	".c5{fill:#8a9a2b}.c6{fill:#1f4e9e}.c7{fill:#b5553f}.c8{fill:#3f7f5f}.c9{fill:#7a4b2a}"
	".c10{fill:#5f8fd8}.c11{fill:#a0567f}"
	".h0{fill:#000;fill-opacity:0}.h0:hover{fill-opacity:.1}"
	".js{display:none}#reset{cursor:pointer}#reset text{fill:#0645ad}"
	"#at{stroke:#d02020;shape-rendering:crispEdges}#pick{fill:#3b82c4;fill-opacity:.2}";

struct picture {
	FILE *file;
	const char *host;       /* NULL if unknown */
	const struct report *report;
	const struct timechart *chart;  /* at the drawn resolution */
	u32 cells;              /* tooltips per row */
	double bottom;
};

static double y_of(const struct picture *p, size_t row)
{
	return ABOVE + row * (ROW + GAP) + (row >= p->chart->ncpus ? APART : 0);
}

static u32 percent_of(const struct picture *p, const struct timechart_row *row, u32 slot, u64 ns)
{
	return timechart__percent(ns, timechart__span(p->chart, slot, 1) * row->ncpus) + 0.5;
}

/*
 * --- paths -------------------------------------------------------------------------------------
 */

/* Returns the stacked height of the parts up to and including upto. */
static u64 stacked(const struct timechart_slot *s, enum timechart_part upto)
{
	u64 ns = s->ns[PART_RUN];

	if (upto != PART_RUN)
		ns += s->ns[PART_WAIT];
	return upto == PART_BLOCK ? ns + s->ns[PART_BLOCK] : ns;
}

/* Draws an outline, from the bottom up. Equal neighbours are one step. */
static void put_silhouette(const struct picture *p, const struct timechart_row *row,
			   enum timechart_part upto, char class)
{
	u32 i, high, last = 0;
	bool any = false;

	for (i = 0; i <= p->chart->nslots; i++) {
		high = i < p->chart->nslots ?
			       percent_of(p, row, i, stacked(&row->slot[i], upto)) : 0;
		if (high == last)
			continue;
		if (!any)
			fprintf(p->file, "<path class=\"%c\" d=\"M%u 100", class, i);
		else
			fprintf(p->file, "H%u", i);
		fprintf(p->file, "V%u", 100 - high);
		any = true;
		last = high;
	}
	if (any)
		fputs("z\"/>", p->file);
}

/* Marks the slots in which the task of row most ran most. most: 0 for a task without a row. */
static void put_most(const struct picture *p, const struct timechart_row *row, u32 most)
{
	u32 i, high, last = 0;
	bool any = false;

	for (i = 0; i <= p->chart->nslots; i++) {
		const struct timechart_slot *s = &row->slot[i];

		high = i < p->chart->nslots && timechart__most(s) == most ?
			       percent_of(p, row, i, s->ns[PART_RUN]) : 0;
		if (high == last)
			continue;
		if (!any && most)
			fprintf(p->file, "<path class=\"c%u\" data-row=\"%u\" d=\"",
				(most - 1 - p->chart->ncpus) % COLOURS, most - 1);
		else if (!any)
			fputs("<path class=\"n\" d=\"", p->file);
		if (last)
			fprintf(p->file, "H%u", i);
		else
			fprintf(p->file, "M%u 100", i);
		fprintf(p->file, high ? "V%u" : "V%uz", 100 - high);
		any = true;
		last = high;
	}
	if (any)
		fputs("\"/>", p->file);
}

static void put_paths(const struct picture *p, size_t i)
{
	const struct timechart_row *row = &p->chart->row[i];
	u32 most;

	if (row->kind == TIMECHART_CPU) {
		put_most(p, row, 0);
		for (most = p->chart->ncpus + 1; most <= p->chart->n; most++)
			put_most(p, row, most);
		return;
	}
	if (row->kind == TIMECHART_OTHERS) {
		put_silhouette(p, row, PART_RUN, 'n');
		return;
	}
	put_silhouette(p, row, PART_BLOCK, 'b');
	put_silhouette(p, row, PART_WAIT, 'w');
	fprintf(p->file, "<g class=\"c%u\">", (u32)(i - p->chart->ncpus) % COLOURS);
	put_silhouette(p, row, PART_RUN, 'r');
	fputs("</g>", p->file);
}

/*
 * --- tooltips ----------------------------------------------------------------------------------
 */

static void put_figures(const struct picture *p, const struct timechart_row *row,
			const struct timechart_slot *sum, u64 span_ns)
{
	FILE *f = p->file;
	u32 most = timechart__most(sum);
	char label[TIMECHART_LABEL];

	fprintf(f, "%s %.1f %%", row->kind == TIMECHART_TASK ? "runs" : "busy",
		timechart__percent(sum->ns[PART_RUN], span_ns * row->ncpus));
	if (row->kind == TIMECHART_TASK)
		fprintf(f, ", waits %.1f %%, blocked %.1f %%, sleeps %.1f %%",
			timechart__percent(sum->ns[PART_WAIT], span_ns),
			timechart__percent(sum->ns[PART_BLOCK], span_ns),
			timechart__percent(sum->ns[PART_SLEEP], span_ns));
	if (row->kind != TIMECHART_CPU || !most)
		return;
	timechart__label(&p->chart->row[most - 1], label);
	fputs(", most: ", f);
	put_xml(f, label, SIZE_MAX);
}

static void add_up(struct timechart_slot *sum, const struct timechart_slot *s)
{
	u32 i;

	for (i = 0; i < PARTS; i++)
		sum->ns[i] += s->ns[i];
	sum->known_ns += s->known_ns;
	if (s->most_ns <= sum->most_ns)
		return;
	sum->most = s->most;
	sum->most_ns = s->most_ns;
}

static void put_cells(const struct picture *p, const struct timechart_row *row)
{
	const struct timechart *c = p->chart;
	u32 by = (c->nslots + p->cells - 1) / p->cells ?: 1, i, k;
	char from[UNITS_SPACE], to[UNITS_SPACE];

	for (i = 0; i < c->nslots; i += by) {
		u32 n = c->nslots - i < by ? c->nslots - i : by;
		u64 span = timechart__span(c, i, n), start = i * c->slot_ns;
		struct timechart_slot sum = {};

		for (k = 0; k < n; k++)
			add_up(&sum, &row->slot[i + k]);
		fprintf(p->file,
			"<rect class=\"h0\" x=\"%u\" width=\"%u\" height=\"100\"><title>%s - %s\n",
			i, n, start ? format_value(from, start, UNIT_NS, false) : "0",
			format_value(to, start + span, UNIT_NS, false));
		put_figures(p, row, &sum, span);
		fputs("</title></rect>", p->file);
	}
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/* Returns the length of the longest prefix of at most limit bytes that splits no UTF-8 sequence. */
static size_t head(const char *text, size_t limit)
{
	size_t n = strnlen(text, limit + 1);

	if (n <= limit)
		return n;
	for (n = limit; n && (text[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

static void put_row(const struct picture *p, size_t i)
{
	const struct timechart_row *row = &p->chart->row[i];
	u64 whole = p->chart->duration_ns;
	const struct timechart_slot all = {
		.ns = { row->total[PART_RUN], row->total[PART_WAIT], row->total[PART_SLEEP],
			row->total[PART_BLOCK] },
	};
	char label[TIMECHART_LABEL], time[UNITS_SPACE];
	double y = y_of(p, i);

	timechart__label(row, label);
	fprintf(p->file, "<g><text class=\"e\" x=\"%d\" y=\"%.0f\"><title>", LEFT - 8, y + 16);
	put_xml(p->file, label, SIZE_MAX);
	fprintf(p->file, "\n%s in all: ", format_value(time, row->total[PART_RUN], UNIT_NS, false));
	put_figures(p, row, &all, whole);
	fputs("</title>", p->file);
	put_xml(p->file, label, head(label, LETTERS));
	fprintf(p->file,
		"</text><text x=\"%d\" y=\"%.0f\">%.1f %%</text>\n"
		"<svg class=\"r\" data-i=\"%zu\" data-name=\"",
		WIDE - RIGHT + 8, y + 16,
		timechart__percent(row->total[PART_RUN], whole * row->ncpus), i);
	put_xml(p->file, label, SIZE_MAX);
	fprintf(p->file,
		"\" x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %u 100\" "
		"preserveAspectRatio=\"none\"><rect class=\"p\" width=\"%u\" height=\"100\"/>",
		LEFT, y, PLOT, ROW, p->chart->nslots, p->chart->nslots);
	put_paths(p, i);
	put_cells(p, row);
	fputs("</svg></g>\n", p->file);
}

/*
 * --- the rest ----------------------------------------------------------------------------------
 */

static void put_axis(const struct picture *p)
{
	u64 duration = p->chart->duration_ns, whole = p->chart->nslots * p->chart->slot_ns;
	u64 tick = tick_of_time(duration), t;
	char text[UNITS_SPACE];

	fputs("<g id=\"axis\">", p->file);
	for (t = 0; t <= duration && whole; t += tick) {
		double x = LEFT + (double)PLOT * t / whole;

		fprintf(p->file,
			"<path class=\"t\" d=\"M%.1f %dv5\"/><text class=\"m\" x=\"%.1f\" "
			"y=\"%d\">%s</text>",
			x, ABOVE - 9, x, ABOVE - 13,
			t ? format_value(text, t, UNIT_NS, false) : "0");
	}
	fputs("</g>\n", p->file);
}

static void put_legend(const struct picture *p)
{
	static const struct {
		const char *class, *text;
	} signs[] = {
		{ "c0", "runs (one colour per task)" }, { "n", "other tasks run" },
		{ "w", "waits for a CPU" }, { "b", "blocked (uninterruptible)" },
		{ "p", "idle, asleep" },
	};
	u32 x = LEFT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signs); i++) {
		fprintf(p->file,
			"<rect class=\"%s\" x=\"%u\" y=\"62\" width=\"12\" height=\"12\"/>"
			"<text class=\"q\" x=\"%u\" y=\"72\">%s</text>\n",
			signs[i].class, x, x + 17, signs[i].text);
		x += 17 + 7.4 * strlen(signs[i].text) + 16;
	}
}

static void put_summary(const struct picture *p)
{
	const struct timechart *c = p->chart;
	char duration[UNITS_SPACE], slot[UNITS_SPACE];

	fprintf(p->file, "%s in %u slots of %s, ",
		format_value(duration, c->duration_ns, UNIT_NS, false), c->nslots,
		format_value(slot, c->slot_ns, UNIT_NS, false));
	text_put_lost(p->file, &p->report->counters);
}

static void put_head(const struct picture *p)
{
	const struct report *r = p->report;
	FILE *f = p->file;
	double high = p->bottom + BELOW;

	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		"viewBox=\"0 0 %d %.0f\" data-ns=\"%llu\" data-slot=\"%llu\" data-slots=\"%u\" "
		"data-left=\"%d\" data-plot=\"%d\" data-top=\"%d\" data-bottom=\"%.0f\">\n<title>",
		WIDE, high, WIDE, high, p->chart->duration_ns, p->chart->slot_ns, p->chart->nslots,
		LEFT, PLOT, ABOVE, p->bottom);
	put_xml_escaped(f, r->tool);
	fputs(": ", f);
	put_summary(p);
	fprintf(f, "</title>\n<style>%s</style>\n<text class=\"h\" x=\"10\" y=\"24\">", style);
	put_xml_escaped(f, r->command ?: r->tool);
	fputs("</text>\n<text class=\"q\" x=\"10\" y=\"44\">", f);
	put_summary(p);
	fputs("; ", f);
	put_xml_escaped(f, r->source ?: "");
	fprintf(f,
		"</text>\n<g id=\"reset\" class=\"js\"><rect x=\"10\" y=\"84\" width=\"90\" "
		"height=\"16\" fill=\"#fff\"/><text x=\"10\" y=\"96\">reset (Esc)</text></g>\n"
		"<text id=\"said\" x=\"10\" y=\"%.0f\"/>\n"
		"<text class=\"q e\" x=\"%d\" y=\"%.0f\">",
		high - 10, WIDE - 10, high - 10);
	put_imprint(f, p->host, r);
	fputs("</text>\n", f);
}

static void draw(struct picture *p)
{
	size_t i, n = p->chart->n;

	/* Omit the row of other tasks if it is empty. */
	if (n && p->chart->row[n - 1].kind == TIMECHART_OTHERS && !p->chart->row[n - 1].tasks)
		n--;
	p->bottom = y_of(p, n);
	p->cells = n * CELLS > MOST_CELLS ? MOST_CELLS / n + 1 : CELLS;
	put_head(p);
	put_legend(p);
	put_axis(p);
	for (i = 0; i < n; i++)
		put_row(p, i);
	fprintf(p->file,
		"<rect id=\"pick\" class=\"js\" y=\"%d\" height=\"%.0f\"/>"
		"<path id=\"at\" class=\"js\" pointer-events=\"none\"/>\n"
		"<script><![CDATA[\n%s]]></script>\n</svg>\n",
		ABOVE, p->bottom - ABOVE, timechart_script);
}

int write_timechart_svg(struct writer *w, const struct report *r, const struct timechart *c)
{
	struct picture p = { .file = w->file, .host = w->host, .report = r };
	u32 by_cpus = (c->ncpus + MOST_CPU_ROWS - 1) / MOST_CPU_ROWS ?: 1, by = 1;
	size_t step = c->ncpus / by_cpus * CPU_STEP + (c->n - c->ncpus) * TASK_STEP;
	struct timechart coarse;
	int err;

	while (c->nslots / by * step > MOST_BYTES)
		by *= 2;
	err = timechart__squeeze(c, by, by_cpus, &coarse);
	if (err)
		return err;
	p.chart = &coarse;
	draw(&p);
	timechart__free(&coarse);
	return 0;
}
