// SPDX-License-Identifier: BSD-2-Clause
#include "triage/page.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/escape.h"
#include "report/json_value.h"
#include "report/terminal.h"
#include "triage/nearest.h"
#include "triage/page_html.h"

#define TOOL_COLUMNS 12
#define SENTENCE 11             /* column at which the sentences of findings begin */

static const char *const level_names[] = {
	[TRIAGE_FINE] = "fine", [TRIAGE_NOTICE] = "notice", [TRIAGE_PROBLEM] = "problem",
};

static const char *const units[] = {
	[TRIAGE_COUNT] = "count", [TRIAGE_PER_SECOND] = "per second",
	[TRIAGE_BYTES_PER_SECOND] = "bytes per second", [TRIAGE_OF_CPU] = "CPUs",
	[TRIAGE_TASKS] = "tasks",
	[TRIAGE_OF_TIME] = "percent",
	[TRIAGE_OF_MACHINE] = "share", [TRIAGE_PERCENT] = "percent", [TRIAGE_LONGEST] = "ns",
	[TRIAGE_LEVEL] = "percent", [TRIAGE_LARGEST] = "count",
};

/* Metric columns. All values of one name have the same unit. */
static const char *const metrics[] = {
	[TRIAGE_COUNT] = "value_found", [TRIAGE_PER_SECOND] = "value_per_second",
	[TRIAGE_BYTES_PER_SECOND] = "value_bytes_per_second",
	[TRIAGE_OF_CPU] = "value_cpus", [TRIAGE_TASKS] = "value_tasks",
	[TRIAGE_OF_TIME] = "value_percent",
	[TRIAGE_OF_MACHINE] = "value_percent", [TRIAGE_PERCENT] = "value_percent", [TRIAGE_LONGEST] = "value",
	[TRIAGE_LEVEL] = "value_percent", [TRIAGE_LARGEST] = "value_found",
};

static size_t count_of(const struct triage_page *p, enum triage_level level)
{
	size_t i, n = 0;

	for (i = 0; i < p->n; i++)
		n += p->finding[i].level == level;
	return n;
}

/* Takes ownership of text. Returns 0 or -ENOMEM. */
static int put_escaped(FILE *f, char *text)
{
	char *line = text ? escape_string(text) : NULL;

	free(text);
	if (!line)
		return -ENOMEM;
	fputs(line, f);
	free(line);
	return 0;
}

/*
 * --- text --------------------------------------------------------------------------------------
 */

/* Writes each cell after a blank. */
static int put_cells(FILE *f, const struct triage_rule *r, const struct triage_key *k)
{
	int err = 0;
	size_t i;

	for (i = 0; i < k->row.ncells && !err; i++) {
		const struct field *c = &k->row.cell[i];

		if (!triage_shows_cell(r, c->name))
			continue;
		fputc(' ', f);
		if (c->text)
			err = put_escaped(f, strdup(c->text));
		else if (c->kind == FIELD_NONE)
			fputc('-', f);
		else
			fprintf(f, "%llu", c->number);
	}
	return err;
}

static int put_key(FILE *f, const struct triage_rule *r, const struct triage_key *k, double value)
{
	char text[UNITS_SPACE];
	int err;

	fprintf(f, "    %16s ", triage_value(text, r, value));
	err = put_cells(f, r, k);
	fputc('\n', f);
	return err;
}

static void put_others(FILE *f, const struct triage_finding *finding)
{
	char value[UNITS_SPACE], count[UNITS_SPACE];

	fprintf(f, "    %16s  others: %s %s, too many to tell apart\n",
		triage_value(value, finding->rule, finding->others), format_count(count, finding->nothers),
		finding->rule->by);
}

static int put_next(FILE *f, const struct triage_finding *finding)
{
	int err;

	fputs("    next: tally ", f);
	err = put_escaped(f, triage_next(finding));
	fputc('\n', f);
	return err;
}

static int put_finding(FILE *f, const struct terminal *t, const struct triage_finding *finding, size_t number,
		       bool verbose)
{
	bool problem = finding->level == TRIAGE_PROBLEM;
	const struct triage_rule *r = finding->rule;
	int err;
	size_t i;

	fprintf(f, "\n%s%zu %s  ", terminal_style(t, problem ? STYLE_ALARM : STYLE_HEADING), number,
		problem ? "PROBLEM" : "notice ");
	err = put_escaped(f, triage_sentence(finding));
	fprintf(f, "%s\n", terminal_style(t, STYLE_PLAIN));
	for (i = 0; r->by && i < finding->nkeys && !err; i++)
		err = put_key(f, r, finding->key[i], finding->key_value[i]);
	if (r->by && finding->nothers && !err)
		put_others(f, finding);
	if (verbose)
		fprintf(f, "    %s: %s\n", r->name, r->why);
	return err || !r->next ? err : put_next(f, finding);
}

/* Writes each like a finding, but without a sentence, because it is no finding. */
static int put_nearest(FILE *f, const struct triage_page *p)
{
	struct triage_near near[TRIAGE_NEAREST];
	size_t n = triage_nearest(p->finding, p->n, near), i;
	char limit[UNITS_SPACE];
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		const struct triage_finding *x = &near[i].finding;

		fprintf(f, "%s%s: %.0f %% of the limit of %s\n", i ? "" : "\nnearest to a limit:\n", x->rule->name,
			100 * near[i].share, triage_value(limit, x->rule, near[i].limit));
		err = put_key(f, x->rule, x->key[0], x->key_value[0]) ?: put_next(f, x);
	}
	return err;
}

/* Writes the largest key and, for a sum over all keys, that key's part. */
static int put_largest(FILE *f, const struct triage_finding *x)
{
	char value[UNITS_SPACE];
	int err;

	if (!triage_finding__names_largest(x))
		return 0;
	fprintf(f, "%*s", TOOL_COLUMNS - (int)strlen(x->rule->tool), "");
	err = put_cells(f, x->rule, x->key[0]);
	if (x->rule->whole && x->nkeys > 1)
		fprintf(f, " (%s)", triage_value(value, x->rule, x->key_value[0]));
	return err;
}

/* Lists the rules without a finding, with the value, the limit and the key of the value. */
static int put_looked_at(FILE *f, const struct triage_page *p)
{
	char value[UNITS_SPACE], limit[UNITS_SPACE];
	int err = 0;
	size_t i;

	fprintf(f, "\n%-16s %17s %17s  %-*s largest of\n", "fine", "largest", "a notice from", TOOL_COLUMNS, "of");
	for (i = 0; i < p->n && !err; i++) {
		const struct triage_finding *x = &p->finding[i];
		const struct triage_rule *r = x->rule;

		if (x->level != TRIAGE_FINE || !x->looked)
			continue;
		fprintf(f, "%-16s %17s %17s  %s", r->name, triage_value(value, r, triage_finding__judged(x)),
			triage_value(limit, r, r->notice > 0 ? r->notice : x->problem), r->tool);
		err = put_largest(f, x);
		fputc('\n', f);
	}
	return err;
}

static void put_losses(FILE *f, const struct triage_page *p)
{
	char lost[UNITS_SPACE], inexact[UNITS_SPACE], events[UNITS_SPACE];
	size_t i;

	for (i = 0; i < p->nlosses; i++) {
		const struct triage_loss *l = &p->loss[i];

		if (l->duration_ns)
			fprintf(f, "%s: estimated: events were observed for %.1f s of %.1f s\n", l->tool,
				(double)l->measured_ns / NSEC_PER_SEC, (double)l->duration_ns / NSEC_PER_SEC);
		if (!l->lost && !l->inexact)
			continue;
		fprintf(f, "%s: of %s events %s lost, %s inexact\n", l->tool, format_count(events, l->events),
			format_count(lost, l->lost), format_count(inexact, l->inexact));
	}
}

static void put_absent(FILE *f, const struct triage_page *p)
{
	size_t i;

	for (i = 0; i < p->nabsent; i++)
		fprintf(f, "%s%s", i ? ", " : "not available on this kernel: ", p->absent[i]);
	if (p->nabsent)
		fputc('\n', f);
}

/* Returns the number of lines, or -ENOMEM. */
static int put_top(FILE *f, const struct triage_top *top)
{
	int n = 0, err = 0;
	size_t i;

	for (i = 0; i < top->nlines && !err; i++) {
		if (!triage_top__is_known(top, &top->line[i]))
			continue;
		fprintf(f, "%-*s", SENTENCE, top->line[i].name);
		err = put_escaped(f, triage_top__text(top, &top->line[i]));
		fputc('\n', f);
		n++;
	}
	return err ?: n;
}

static int put_text(const struct triage_page *p, const struct terminal *t, FILE *f)
{
	size_t problems = count_of(p, TRIAGE_PROBLEM), notices = count_of(p, TRIAGE_NOTICE), i;
	int err = 0, lines;

	char clock[16] = "?";
	time_t seconds = p->start_ns / NSEC_PER_SEC;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(f, "triage: %.1f s from %s on, %d CPUs, kernel ", (double)p->duration_ns / NSEC_PER_SEC, clock,
		p->cpus);
	err = put_escaped(f, strdup(p->kernel));
	fprintf(f, "; %zu measurements, %zu rules\n", p->measurements, p->n);
	lines = err ?: put_top(f, &p->top);
	err = lines < 0 ? lines : 0;
	if (lines > 0)
		fputc('\n', f);
	fputs(terminal_style(t, STYLE_HEADING), f);
	if (!problems && !notices)
		fputs(lines > 0 ? "no rule fired; the largest figure of each is above" :
				  "no rule fired; the largest figure of each:", f);
	else
		fprintf(f, "%zu %s, %zu %s", problems, problems == 1 ? "problem" : "problems", notices,
			notices == 1 ? "notice" : "notices");
	fprintf(f, "%s\n", terminal_style(t, STYLE_PLAIN));
	for (i = 0; i < problems + notices && !err; i++)
		err = put_finding(f, t, &p->finding[i], i + 1, p->verbose);
	if (!err && lines > 0 && !problems)
		err = put_nearest(f, p);
	if (!err && (p->verbose || (!lines && !(problems + notices))))
		err = put_looked_at(f, p);
	fputc('\n', f);
	put_absent(f, p);
	put_losses(f, p);
	if (p->overhead)
		put_overhead_line(f, p->overhead);
	if (p->overhead)
		fputc('\n', f);
	return err;
}

/*
 * --- JSON --------------------------------------------------------------------------------------
 */

/* Takes ownership of text. */
static json_t *json_of_own_text(char *text)
{
	json_t *value = json_of_text(text);

	free(text);
	return value;
}

static json_t *evidence_of(const struct triage_finding *f)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < f->nkeys; i++) {
		const struct report_row *row = &f->key[i]->row;
		json_t *o = json_object();

		json_object_set_new(o, "value", json_real(f->key_value[i]));
		json_object_set_new(o, "row", json_of_fields(row->cell, row->ncells));
		json_array_append_new(list, o);
	}
	return list;
}

/* Returns null if no key was moved to the others. */
static json_t *others_of(const struct triage_finding *f)
{
	json_t *o;

	if (!f->nothers)
		return json_null();
	o = json_object();
	json_object_set_new(o, "keys", json_of_number(f->nothers));
	json_object_set_new(o, "value", json_real(f->others));
	return o;
}

static json_t *limit_of(double limit)
{
	return limit > 0 ? json_real(limit) : json_null();
}

static json_t *rule_of(const struct triage_finding *f)
{
	const struct triage_rule *r = f->rule;
	json_t *o = json_object();

	json_object_set_new(o, "rule", json_string(r->name));
	json_object_set_new(o, "level", f->looked ? json_string(level_names[f->level]) : json_null());
	json_object_set_new(o, "tool", json_string(r->tool));
	json_object_set_new(o, "value", f->looked ? json_real(triage_finding__judged(f)) : json_null());
	json_object_set_new(o, "unit", json_string(units[r->per]));
	json_object_set_new(o, "duration_ns", f->looked ? json_of_number(f->duration_ns) : json_null());
	json_object_set_new(o, "notice", limit_of(r->notice));
	json_object_set_new(o, "problem", limit_of(f->problem));
	return o;
}

static json_t *fine_of(const struct triage_finding *f)
{
	json_t *o = rule_of(f);

	json_object_set_new(o, "evidence", evidence_of(f));
	return o;
}

/* The value is null if the kernel does not have the figure. */
static json_t *figure_of(const struct triage_finding *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "figure", json_string(f->rule->name));
	json_object_set_new(o, "tool", json_string(f->rule->tool));
	json_object_set_new(o, "value", f->nkeys ? json_real(f->value) : json_null());
	json_object_set_new(o, "unit", json_string(units[f->rule->per]));
	json_object_set_new(o, "evidence", evidence_of(f));
	return o;
}

static json_t *finding_of(const struct triage_finding *f)
{
	json_t *o = rule_of(f);

	json_object_set_new(o, "sentence", json_of_own_text(triage_sentence(f)));
	json_object_set_new(o, "reason", json_string(f->rule->why));
	json_object_set_new(o, "evidence", evidence_of(f));
	json_object_set_new(o, "others", others_of(f));
	json_object_set_new(o, "next", json_of_own_text(triage_next(f)));
	return o;
}

/* Lists the figures nearest to their limits, also for rules with a finding. */
static json_t *nearest_of(const struct triage_page *p)
{
	struct triage_near near[TRIAGE_NEAREST];
	size_t n = triage_nearest(p->finding, p->n, near), i;
	json_t *list = json_array(), *o;

	for (i = 0; i < n; i++) {
		o = json_object();
		json_object_set_new(o, "rule", json_string(near[i].finding.rule->name));
		json_object_set_new(o, "value", json_real(triage_finding__judged(&near[i].finding)));
		json_object_set_new(o, "share", json_real(near[i].share));
		json_object_set_new(o, "next", json_of_own_text(triage_next(&near[i].finding)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *names_of(const char *const *name, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_string(name[i]));
	return list;
}

static json_t *losses_of(const struct triage_page *p)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < p->nlosses; i++) {
		if (!p->loss[i].lost && !p->loss[i].inexact)
			continue;
		o = json_object();
		json_object_set_new(o, "tool", json_string(p->loss[i].tool));
		json_object_set_new(o, "events", json_of_number(p->loss[i].events));
		json_object_set_new(o, "lost", json_of_number(p->loss[i].lost));
		json_object_set_new(o, "inexact", json_of_number(p->loss[i].inexact));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *estimates_of(const struct triage_page *p)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < p->nlosses; i++) {
		if (!p->loss[i].duration_ns)
			continue;
		o = json_object();
		json_object_set_new(o, "tool", json_string(p->loss[i].tool));
		json_object_set_new(o, "duration_ns", json_of_number(p->loss[i].duration_ns));
		json_object_set_new(o, "measured_ns", json_of_number(p->loss[i].measured_ns));
		json_array_append_new(list, o);
	}
	return list;
}

/* Returns the first lines and their figures. */
static json_t *top_of(const struct triage_top *top)
{
	json_t *o = json_object(), *lines = json_array(), *figures = json_array();
	size_t i;

	for (i = 0; i < top->nlines; i++) {
		json_t *line;

		if (!triage_top__is_known(top, &top->line[i]))
			continue;
		line = json_object();
		json_object_set_new(line, "line", json_string(top->line[i].name));
		json_object_set_new(line, "text", json_of_own_text(triage_top__text(top, &top->line[i])));
		json_array_append_new(lines, line);
	}
	for (i = 0; i < top->n; i++)
		json_array_append_new(figures, figure_of(&top->figure[i]));
	json_object_set_new(o, "lines", lines);
	json_object_set_new(o, "figures", figures);
	return o;
}

static json_t *cost_of(const struct report_overhead *o)
{
	json_t *cost = json_object();

	json_object_set_new(cost, "programs_ns", json_of_number(o->ns));
	if (o->measured_ns)
		json_object_set_new(cost, "measured_ns", json_of_number(o->measured_ns));
	json_object_set_new(cost, "process_ns", json_of_number(o->own_ns));
	if (o->start_ns)
		json_object_set_new(cost, "start_ns", json_of_number(o->start_ns));
	json_object_set_new(cost, "map_bytes", json_of_number(o->map_bytes));
	return cost;
}

static int put_json(const struct triage_page *p, FILE *f)
{
	json_t *page = json_object(), *findings = json_array(), *looked = json_array();
	size_t i;
	int err;

	json_object_set_new(page, "tool", json_string("triage"));
	json_object_set_new(page, "kernel", json_of_text(p->kernel));
	json_object_set_new(page, "cpus", json_integer(p->cpus));
	json_object_set_new(page, "start_ns", json_integer(p->start_ns));
	json_object_set_new(page, "start", json_of_moment(p->start_ns));
	json_object_set_new(page, "duration_ns", json_integer(p->duration_ns));
	for (i = 0; i < p->n; i++)
		if (p->finding[i].level == TRIAGE_FINE)
			json_array_append_new(looked, fine_of(&p->finding[i]));
		else
			json_array_append_new(findings, finding_of(&p->finding[i]));
	json_object_set_new(page, "top", top_of(&p->top));
	json_object_set_new(page, "findings", findings);
	json_object_set_new(page, "looked_at", looked);
	json_object_set_new(page, "nearest", nearest_of(p));
	json_object_set_new(page, "losses", losses_of(p));
	json_object_set_new(page, "estimated", estimates_of(p));
	json_object_set_new(page, "absent", names_of(p->absent, p->nabsent));
	json_object_set_new(page, "cost", p->overhead ? cost_of(p->overhead) : json_null());
	err = json_dumpf(page, f, JSON_COMPACT) ? -ENOMEM : 0;
	fputc('\n', f);
	json_decref(page);
	return err;
}

/*
 * --- a table: CSV, OpenMetrics -----------------------------------------------------------------
 */

static void make_metric(struct field *value, enum triage_per per)
{
	value->name = metrics[per];
	if (per == TRIAGE_OF_MACHINE) {
		value->real *= 100;
	} else if (per == TRIAGE_LONGEST && value->kind == FIELD_REAL) {
		value->kind = FIELD_DURATION;
		value->number = value->real;
	}
}

static int add_row(struct report *r, const struct triage_finding *f, bool as_metrics)
{
	struct field value = {
		.name = "value", .real = triage_finding__judged(f), .kind = f->looked ? FIELD_REAL : FIELD_NONE,
		.decimals = 3,
	};
	struct report_row row = {};
	int err = report_row__add_text(&row, "rule", f->rule->name);

	if (as_metrics)
		make_metric(&value, f->rule->per);
	else if (!err)
		err = report_row__add_text(&row, "unit", units[f->rule->per]);
	if (!err)
		err = report_row__add_field(&row, &value);
	if (!err)
		err = report_row__add_number(&row, "level", f->level, FIELD_NUMBER);
	return report__end_row(r, &row, err);
}

static int write_table(const struct triage_page *p, struct writer *w)
{
	struct report r = {
		.tool = "triage", .value = "findings", .table = true, .standing = true, .kernel = p->kernel,
		.cpus = p->cpus, .start_ns = p->start_ns, .duration_ns = p->duration_ns,
	};
	int err = 0;
	size_t i;

	for (i = 0; i < p->n && !err; i++)
		err = add_row(&r, &p->finding[i], format_is_metrics(w->format));
	if (!err)
		err = writer__write(w, &r);
	report__free(&r);
	return err;
}

/* Writes text, broken between words to the width of a terminal. Sentences continue below their beginning. */
static int write_page_text(const struct triage_page *p, struct writer *w)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int err = f ? put_text(p, &w->terminal, f) : -ENOMEM;

	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (!err)
		terminal__put_paragraph(w->file, &w->terminal, text, SENTENCE);
	free(text);
	return err;
}

int triage_page__write(const struct triage_page *p, struct writer *w)
{
	struct writing writing;
	int err;

	if (w->format == FORMAT_HTML)
		return triage_page__add(p, w);
	if (w->format != FORMAT_JSON && w->format != FORMAT_TEXT)
		return write_table(p, w);
	err = writer__begin(w, &writing);

	if (!err)
		err = w->format == FORMAT_JSON ? put_json(p, w->file) : write_page_text(p, w);
	return writer__end(w, &writing, err);
}
