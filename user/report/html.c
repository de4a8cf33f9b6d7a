// SPDX-License-Identifier: BSD-2-Clause
#include "report/html.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/array.h"
#include "report/flame.h"
#include "report/html_report.h"
#include "report/html_script.h"
#include "report/html_style.h"
#include "report/text.h"
#include "report/xml.h"

#define MOST_ROWS 150           /* per table */
#define MOST_LINES 100          /* single events */
#define MOST_HISTOGRAMS 4       /* per report with keys */
#define MOST_MAPS 4             /* heat maps per measurement */
#define MOST_CELLS 3000         /* per measurement; the page has room for twice as many */
#define FLAME_BYTES 500000

/* The report of one interval, as markup. */
struct piece {
	char *html;
	size_t bytes;
	u64 start_ns, duration_ns;
};

/* One measurement. */
struct section {
	char *tool, *command;   /* command: may be NULL */
	char *value, *source, *caveat, *verdict;
	struct piece piece[HTML_INTERVALS];     /* ring buffer */
	size_t n;               /* reports so far */
	size_t left_out;        /* reports that were left out because they did not fit */
	struct heat *heat;      /* built from the histograms; NULL without a heat map */
	bool by_interval;       /* heat is fed by html__add_interval() */
	bool milliseconds;
	bool has_events;
	u64 events, lost, inexact;
	char *lines;            /* markup of single events */
	size_t line_bytes;
	FILE *line_file;        /* open while single events arrive */
	size_t columns;         /* number of fields of the first event */
	u64 nlines;
};

struct part {
	char *heading, *html;
};

struct html {
	struct section **section;       /* addresses are stable, because open files write into sections */
	size_t nsections;
	struct part *part;
	size_t nparts;
	char **absent;
	size_t nabsent;
	char *title;            /* NULL to use the measurement's */
	char *kernel, *cost;
	int cpus;
	u64 start_ns, end_ns;
	size_t bytes;           /* size of all pieces */
	size_t nheats;          /* measurements with a heat map */
};

/*
 * --- memory ------------------------------------------------------------------------------------
 */

static void section__free(struct section *s)
{
	size_t i;

	for (i = 0; i < HTML_INTERVALS; i++)
		free(s->piece[i].html);
	heat__free(s->heat);
	if (s->line_file)
		fclose(s->line_file);
	free(s->lines);
	free(s->tool);
	free(s->command);
	free(s->value);
	free(s->source);
	free(s->caveat);
	free(s->verdict);
	free(s);
}

static void html__free(struct html *h)
{
	size_t i;

	for (i = 0; i < h->nsections; i++)
		section__free(h->section[i]);
	for (i = 0; i < h->nparts; i++) {
		free(h->part[i].heading);
		free(h->part[i].html);
	}
	for (i = 0; i < h->nabsent; i++)
		free(h->absent[i]);
	free(h->section);
	free(h->part);
	free(h->absent);
	free(h->title);
	free(h->kernel);
	free(h->cost);
	free(h);
}

static struct html *html_of(struct writer *w)
{
	if (!w->html)
		w->html = calloc(1, sizeof(*w->html));
	return w->html;
}

/* Copies a string; NULL stays NULL. */
static int keep(char **to, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns the section of that tool and command line, which is created on first use. NULL without memory. */
static struct section *section_of(struct html *h, const char *tool, const char *command)
{
	struct section *s;
	size_t i;

	for (i = 0; i < h->nsections; i++)
		if (is_same(h->section[i]->tool, tool) && is_same(h->section[i]->command, command))
			return h->section[i];
	if (ARRAY_ROOM(h->section, h->nsections))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	if (keep(&s->tool, tool ?: "tally") || keep(&s->command, command)) {
		section__free(s);
		return NULL;
	}
	h->section[h->nsections++] = s;
	return s;
}

/*
 * --- additions ---------------------------------------------------------------------------------
 */

static struct html_room room_of(const struct html *h)
{
	size_t left = h->bytes < HTML_BYTES ? HTML_BYTES - h->bytes : 0;

	return (struct html_room){
		.rows = left > HTML_BYTES / 2 ? MOST_ROWS : left > HTML_BYTES / 8 ? MOST_ROWS / 5 : MOST_ROWS / 15,
		.histograms = left > HTML_BYTES / 8 ? MOST_HISTOGRAMS : 1,
		.flame_bytes = left < HTML_BYTES / 16 ? 0 : left / 3 < FLAME_BYTES ? left / 3 : FLAME_BYTES,
	};
}

static int keep_texts(struct section *s, const struct report *r)
{
	int err = keep(&s->value, r->value);
	char note[REPORT_NOTE_SPACE];

	if (!err)
		err = keep(&s->source, r->source);
	if (!err)
		err = keep(&s->caveat, report__note(r, note));
	return err ?: keep(&s->verdict, r->verdict ? r->verdict->text : NULL);
}

static int keep_head(struct html *h, struct section *s, const struct report *r)
{
	u64 end_ns = r->start_ns + r->duration_ns;
	int err = keep_texts(s, r);

	if (!err && r->kernel)
		err = keep(&h->kernel, r->kernel);
	if (r->cpus)
		h->cpus = r->cpus;
	if (r->start_ns && (!h->start_ns || r->start_ns < h->start_ns))
		h->start_ns = r->start_ns;
	if (end_ns > h->end_ns)
		h->end_ns = end_ns;
	s->has_events |= r->has_events;
	s->events += r->events;
	s->lost += loss__of(&r->counters, LOSS_LOST);
	s->inexact += loss__of(&r->counters, LOSS_INEXACT);
	return err;
}

static int keep_cost(struct html *h, const struct report_overhead *o)
{
	char *line = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&line, &n);

	if (!f)
		return -ENOMEM;
	put_overhead_line(f, o);
	if (fclose(f)) {
		free(line);
		return -ENOMEM;
	}
	free(h->cost);
	h->cost = line;
	return 0;
}

/* The heat map outlives the report, so it borrows its texts from the section. */
static void name_heat(struct section *s)
{
	struct report *total = &s->heat->total;

	total->tool = s->tool;
	total->command = s->command;
	total->value = s->value;
	total->source = s->source;
	total->caveat = s->caveat;
	total->kernel = NULL;
	total->overhead = NULL;
}

static int add_heat(struct section *s, const struct report *r)
{
	const struct heat_style style = {};
	int err;

	if (!r->ngroups && !s->heat)
		return 0;
	if (r->table || r->stacks)
		return 0;
	if (!s->heat)
		s->heat = heat__new(style, r->duration_ns, false, MOST_MAPS, -1);
	if (!s->heat)
		return -ENOMEM;
	err = heat__add(s->heat, r);
	name_heat(s);
	return err;
}

static int make_piece(struct html *h, struct piece *p, const struct writer *w, const struct report *r)
{
	struct html_room room = room_of(h);
	FILE *f = open_memstream(&p->html, &p->bytes);
	int err;

	if (!f)
		return -ENOMEM;
	err = html_put_report(f, w, r, &room);
	if (fclose(f) && !err)
		err = -ENOMEM;
	p->start_ns = r->start_ns;
	p->duration_ns = r->duration_ns;
	return err;
}

static int add_piece(struct html *h, struct section *s, const struct writer *w, const struct report *r)
{
	struct piece *p = &s->piece[s->n % HTML_INTERVALS];

	h->bytes -= p->html ? p->bytes : 0;
	free(p->html);
	*p = (struct piece){};
	s->n++;
	if (h->bytes > HTML_BYTES) {
		s->left_out++;
		return 0;
	}
	if (make_piece(h, p, w, r))
		return -ENOMEM;
	h->bytes += p->bytes;
	return 0;
}

int html__add_report(struct writer *w, const struct report *r)
{
	struct html *h = html_of(w);
	struct section *s = h ? section_of(h, r->tool, r->command) : NULL;
	int err = s ? keep_head(h, s, r) : -ENOMEM;

	if (err)
		return err;
	s->milliseconds = w->milliseconds;
	if (!s->by_interval)
		err = add_heat(s, r);
	if (!err && r->overhead)
		err = keep_cost(h, r->overhead);
	return err ?: add_piece(h, s, w, r);
}

int html__add_interval(struct writer *w, const struct report *r)
{
	struct html *h = html_of(w);
	struct section *s = h ? section_of(h, r->tool, r->command) : NULL;
	int err = s ? keep_texts(s, r) : -ENOMEM;

	if (err)
		return err;
	s->by_interval = true;
	return add_heat(s, r);
}

int html__add_line(struct writer *w, const struct stream_line *line)
{
	struct html *h = html_of(w);
	struct section *s = h ? section_of(h, w->of_tool, w->of_command) : NULL;

	if (!s)
		return -ENOMEM;
	if (s->nlines++ >= MOST_LINES)
		return 0;
	if (!s->line_file) {
		s->line_file = open_memstream(&s->lines, &s->line_bytes);
		if (!s->line_file)
			return -ENOMEM;
		s->columns = line->n;
		html_put_line_heading(s->line_file, line);
	}
	return html_put_line(s->line_file, line, s->columns);
}

int html__add_part(struct writer *w, const char *title, const char *heading, char *html)
{
	struct html *h = html_of(w);
	char *copy = strdup(heading);

	if (!h || !copy || ARRAY_ROOM(h->part, h->nparts) || keep(&h->title, title)) {
		free(copy);
		free(html);
		return -ENOMEM;
	}
	h->part[h->nparts++] = (struct part){ copy, html };
	return 0;
}

int html__add_absent(struct writer *w, const char *tool)
{
	struct html *h = html_of(w);

	if (!h || ARRAY_ROOM(h->absent, h->nabsent))
		return -ENOMEM;
	h->absent[h->nabsent] = strdup(tool);
	return h->absent[h->nabsent] ? (h->nabsent++, 0) : -ENOMEM;
}

/*
 * --- parts -------------------------------------------------------------------------------------
 */

void html_put_command(FILE *f, const char *command)
{
	fputs("<div class=\"next\"><span class=\"soft\">next</span> <code>tally ", f);
	put_xml_escaped(f, command);
	fputs("</code></div>\n", f);
}

static void put_clock(FILE *f, u64 realtime_ns)
{
	time_t seconds = realtime_ns / NSEC_PER_SEC;
	char text[48] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &tm);
	put_xml_escaped(f, text);
}

void html_put_time(FILE *f, u64 realtime_ns)
{
	fprintf(f, "<span title=\"%llu ns since 1970\">", realtime_ns);
	put_clock(f, realtime_ns);
	fputs("</span>", f);
}

/* Scopes the CSS rules of a drawing to an element: puts a class before each selector. */
static void put_rules_within(FILE *f, const char *rules, const char *class)
{
	bool selector = true;           /* in a selector, not in a declaration */
	char before = '}';

	for (; *rules; before = *rules++) {
		if (selector && (before == '}' || before == ','))
			fprintf(f, ".%s ", class);
		if (*rules == '{' || *rules == '}')
			selector = *rules == '}';
		fputc(*rules, f);
	}
	fputc('\n', f);
}

/*
 * --- the page ----------------------------------------------------------------------------------
 */

/* Writes a count as "123,456". The count is exact and needs no tooltip. */
static void put_count(FILE *f, u64 n)
{
	char text[UNITS_SPACE];

	fputs(format_count(text, n), f);
}

static const char *command_of(const struct section *s)
{
	return s->command ?: s->tool;
}

static void put_title(FILE *f, const struct writer *w, const struct html *h)
{
	if (h->title) {
		put_xml_escaped(f, h->title);
	} else if (h->nsections == 1) {
		put_xml_head(f, command_of(h->section[0]), 120);
	} else {
		fprintf(f, "%zu measurements", h->nsections);
	}
	if (w->host) {
		fputs(" \xc2\xb7 ", f);
		put_xml_escaped(f, w->host);
	}
}

/*
 * Makes the nonce for the page's own style and script. It is unpredictable: markup smuggled in through a name could not
 * run even without escaping.
 */
static int make_nonce(char nonce[33])
{
	unsigned char bytes[16];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void put_document_head(FILE *f, const struct writer *w, const struct html *h, const char *nonce)
{
	fprintf(f,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; "
		"img-src data:; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
		nonce, nonce);
	put_title(f, w, h);
	if (h->start_ns) {
		fputs(" \xc2\xb7 ", f);
		put_clock(f, h->start_ns);
	}
	fprintf(f, "</title>\n<style nonce=\"%s\">\n", nonce);
	put_rules_within(f, flame_style, "flame");
	put_rules_within(f, heat_style_rules, "heat");
	fprintf(f, "%s</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#contents\">to the contents</a>\n",
		html_style);
}

static void begin_fact(FILE *f, const char *name)
{
	fprintf(f, "<dt>%s</dt><dd>", name);
}

static void put_text_fact(FILE *f, const char *name, const char *text)
{
	if (!text)
		return;
	begin_fact(f, name);
	put_xml_escaped(f, text);
	fputs("</dd>\n", f);
}

static void put_times(FILE *f, const struct html *h)
{
	char duration[UNITS_SPACE];

	if (!h->start_ns)
		return;
	begin_fact(f, "from");
	html_put_time(f, h->start_ns);
	fputs("</dd>\n", f);
	begin_fact(f, "to");
	html_put_time(f, h->end_ns);
	fprintf(f, ", <span title=\"%llu ns\">%s</span></dd>\n", h->end_ns - h->start_ns,
		format_value(duration, h->end_ns - h->start_ns, UNIT_NS, false));
}

static void put_lost(FILE *f, const struct html *h)
{
	u64 lost = 0, inexact = 0;
	size_t i;

	for (i = 0; i < h->nsections; i++) {
		lost += h->section[i]->lost;
		inexact += h->section[i]->inexact;
	}
	begin_fact(f, "lost");
	fprintf(f, "<span class=\"%s\" data-v=\"%llu\">", lost ? "bad" : "none", lost);
	if (lost)
		put_count(f, lost);
	else
		fputs("nothing", f);
	fputs("</span>", f);
	if (inexact) {
		fputs("; inexact ", f);
		put_count(f, inexact);
	}
	fputs("</dd>\n", f);
}

static void put_absent(FILE *f, const struct html *h)
{
	size_t i;

	if (!h->nabsent)
		return;
	begin_fact(f, "not measured");
	for (i = 0; i < h->nabsent; i++) {
		fputs(i ? ", " : "", f);
		put_xml_escaped(f, h->absent[i]);
	}
	fputs(" (not available on this kernel, or left out)</dd>\n", f);
}

static void put_head(FILE *f, const struct writer *w, const struct html *h)
{
	fputs("<header>\n<h1>", f);
	put_title(f, w, h);
	fputs("</h1>\n<dl class=\"facts\">\n", f);
	put_text_fact(f, "host", w->host);
	put_text_fact(f, "kernel", h->kernel);
	if (h->cpus) {
		begin_fact(f, "CPUs");
		fprintf(f, "%d</dd>\n", h->cpus);
	}
	put_times(f, h);
	put_text_fact(f, "cost", h->cost ? strchr(h->cost, ' ') + 1 : NULL);
	put_lost(f, h);
	put_absent(f, h);
	fputs("</dl>\n</header>\n", f);
}

static void put_contents_row(FILE *f, const struct section *s, size_t number)
{
	fprintf(f, "<tr><th scope=\"row\"><a href=\"#m%zu\"><code>", number);
	put_xml_head(f, command_of(s), 200);
	fputs("</code></a></th><td>", f);
	put_xml_escaped(f, s->value ?: "");
	fputs("</td>", f);
	if (s->has_events || s->nlines) {
		u64 n = s->has_events ? s->events : s->nlines;

		fprintf(f, "<td class=\"n\" data-v=\"%llu\">", n);
		put_count(f, n);
		fputs("</td>", f);
	} else {
		fputs("<td></td>", f);
	}
	fprintf(f, "<td class=\"n%s\" data-v=\"%llu\">", s->lost ? " bad" : "", s->lost);
	put_count(f, s->lost);
	fputs("</td></tr>\n", f);
}

static void put_contents(FILE *f, const struct html *h)
{
	size_t i;

	fputs("<nav id=\"contents\" aria-label=\"Contents\">\n", f);
	for (i = 0; i < h->nparts; i++) {
		fprintf(f, "<p><a href=\"#p%zu\">", i + 1);
		put_xml_escaped(f, h->part[i].heading);
		fputs("</a></p>\n", f);
	}
	if (h->nsections > 1) {
		if (h->nparts)
			fprintf(f, "<details><summary>%zu measurements</summary>\n", h->nsections);
		fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"measurements\"><table class=\"contents\"><thead><tr>"
		      "<th scope=\"col\">measurement</th><th scope=\"col\">of</th><th scope=\"col\" class=\"n\">events</th>"
		      "<th scope=\"col\" class=\"n\">lost</th></tr></thead><tbody>\n",
		      f);
		for (i = 0; i < h->nsections; i++)
			put_contents_row(f, h->section[i], i + 1);
		fprintf(f, "</tbody></table></div>%s\n", h->nparts ? "</details>" : "");
	}
	fputs("</nav>\n", f);
}

/*
 * --- a measurement -----------------------------------------------------------------------------
 */

static bool has_heat(const struct section *s)
{
	return s->heat && s->heat->nspans > 1;
}

static int put_heat(FILE *f, const struct html *h, struct section *s)
{
	size_t cells = 2 * MOST_CELLS / h->nheats;
	const struct heat *heat = s->heat;
	const struct html_room room = { .rows = MOST_ROWS, .histograms = MOST_HISTOGRAMS };
	struct report all;
	size_t i;
	int err;

	name_heat(s);
	all = heat->total;
	fputs("<h3>over time</h3>\n<div class=\"scroll heat\">\n", f);
	err = put_heat_svg(f, heat, s->milliseconds, cells < MOST_CELLS ? cells : MOST_CELLS);
	fputs("</div>\n", f);
	if (s->n == 1)          /* the only report already shows the groups */
		return err;
	fputs("<h3>all intervals together</h3>\n", f);
	all.group = calloc(heat->nmaps ?: 1, sizeof(*all.group));
	if (!all.group)
		return -ENOMEM;
	for (i = 0; i < heat->nmaps; i++)
		all.group[all.ngroups++] = (struct report_group){ heat->map[i].key, heat->map[i].nkey,
								  heat->map[i].total };
	report__sort_groups(&all, report_sort_column("count"), 0);
	if (!err)
		err = html_put_groups(f, &all, &room, s->milliseconds);
	free(all.group);        /* the maps own its contents */
	return err;
}

static void put_intervals(FILE *f, const struct section *s)
{
	size_t first = s->n > HTML_INTERVALS ? s->n - HTML_INTERVALS : 0, i;
	char text[UNITS_SPACE];

	if (first || s->left_out)
		fprintf(f, "<p class=\"left\">%zu of %zu intervals are on this page; heat maps cover all</p>\n",
			s->n - first - (s->left_out < s->n - first ? s->left_out : s->n - first), s->n);
	for (i = first; i < s->n; i++) {
		const struct piece *p = &s->piece[i % HTML_INTERVALS];

		if (!p->html)
			continue;
		fprintf(f, "<details class=\"interval\"%s><summary>", i + 1 == s->n && !s->heat ? " open" : "");
		html_put_time(f, p->start_ns);
		fprintf(f, ", %s</summary>\n%s</details>\n", format_value(text, p->duration_ns, UNIT_NS, false),
			p->html);
	}
}

static int put_lines(FILE *f, struct section *s)
{
	FILE *file = s->line_file;

	s->line_file = NULL;
	html_end_lines(file, s->nlines < MOST_LINES ? s->nlines : MOST_LINES);
	if (fclose(file))
		return -ENOMEM;
	fputs(s->lines, f);
	if (s->nlines > MOST_LINES) {
		fprintf(f, "<p class=\"left\">the first %d of ", MOST_LINES);
		put_count(f, s->nlines);
		fputs(" events are on this page; --json has all</p>\n", f);
	}
	return 0;
}

static void put_section_head(FILE *f, const struct section *s, size_t number)
{
	fprintf(f, "<section id=\"m%zu\" aria-labelledby=\"h%zu\">\n<h2 id=\"h%zu\"><code>", number, number, number);
	put_xml_escaped(f, command_of(s));
	fputs("</code></h2>\n", f);
	if (s->value) {
		fputs("<p>", f);
		put_xml_escaped(f, s->value);
		fputs("</p>\n", f);
	}
	if (s->source) {
		fputs("<p class=\"source\">source: ", f);
		put_xml_escaped(f, s->source);
		fputs("</p>\n", f);
	}
	if (s->caveat) {
		fputs("<p class=\"source\">note: ", f);
		put_xml_escaped(f, s->caveat);
		fputs("</p>\n", f);
	}
	if (s->verdict) {
		fputs("<p>", f);
		put_xml_escaped(f, s->verdict);
		fputs("</p>\n", f);
	}
}

static int put_section(FILE *f, const struct html *h, struct section *s, size_t number)
{
	int err = 0;

	put_section_head(f, s, number);
	if (s->line_file)
		err = put_lines(f, s);
	if (s->n == 1 && !s->left_out)
		fputs(s->piece[0].html, f);
	else if (s->n == 1)
		fputs("<p class=\"left\">the page has no room for this report</p>\n", f);
	if (has_heat(s) && !err)
		err = put_heat(f, h, s);
	if (s->n > 1)
		put_intervals(f, s);
	fputs("</section>\n", f);
	return err;
}

/* Moves tables before single events: these arrive first and are long. */
static void order_sections(struct html *h)
{
	struct section *s;
	size_t i, k;

	for (i = 1; i < h->nsections; i++)
		for (k = i; k && h->section[k - 1]->nlines && !h->section[k]->nlines; k--) {
			s = h->section[k];
			h->section[k] = h->section[k - 1];
			h->section[k - 1] = s;
		}
}

static int put_page(FILE *f, const struct writer *w, struct html *h)
{
	char nonce[33];
	int err = make_nonce(nonce);
	size_t i;

	if (err)
		return err;
	order_sections(h);
	for (i = 0; i < h->nsections; i++)
		h->nheats += has_heat(h->section[i]);
	put_document_head(f, w, h, nonce);
	put_head(f, w, h);
	fputs("<main>\n", f);
	if (h->nsections + h->nparts > 1)
		put_contents(f, h);
	for (i = 0; i < h->nparts; i++) {
		fprintf(f, "<section id=\"p%zu\" aria-labelledby=\"q%zu\">\n<h2 id=\"q%zu\">", i + 1, i + 1, i + 1);
		put_xml_escaped(f, h->part[i].heading);
		fprintf(f, "</h2>\n%s</section>\n", h->part[i].html);
	}
	for (i = 0; i < h->nsections && !err; i++)
		err = put_section(f, h, h->section[i], i + 1);
	fputs("</main>\n<footer>written by tally</footer>\n", f);
	fprintf(f, "<script nonce=\"%s\">\n", nonce);
	put_flame_script(f);
	fprintf(f, "%s</script>\n</body>\n</html>\n", html_script);
	return err;
}

int html__end(struct writer *w)
{
	struct html *h = w->html;
	struct writing writing;
	int err;

	if (!h)
		return 0;
	w->html = NULL;
	err = writer__begin(w, &writing);
	if (!err)
		err = put_page(w->file, w, h);
	err = writer__end(w, &writing, err);
	html__free(h);
	return err;
}
