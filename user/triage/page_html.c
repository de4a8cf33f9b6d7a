// SPDX-License-Identifier: BSD-2-Clause
#include "triage/page_html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/html.h"
#include "report/xml.h"
#include "triage/nearest.h"

/* Takes ownership of text. */
static int put_own(FILE *f, char *text)
{
	if (!text)
		return -ENOMEM;
	put_xml_escaped(f, text);
	free(text);
	return 0;
}

static void put_value(FILE *f, const struct triage_rule *r, double value)
{
	char text[UNITS_SPACE];

	fprintf(f, "<td class=\"n\" data-v=\"%.17g\" title=\"%.17g\">%s</td>", value, value,
		triage_value(text, r, value));
}

static void put_key_names(FILE *f, const struct triage_finding *x)
{
	const struct report_row *row = &x->key[0]->row;
	size_t i;

	fputs("<thead><tr>", f);
	for (i = 0; i < row->ncells; i++)
		if (triage_shows_cell(x->rule, row->cell[i].name)) {
			fputs("<th scope=\"col\">", f);
			put_xml_escaped(f, row->cell[i].name);
			fputs("</th>", f);
		}
	fputs("<th scope=\"col\" class=\"n\">figure</th></tr></thead>\n<tbody>\n", f);
}

static void put_key(FILE *f, const struct triage_finding *x, size_t k)
{
	const struct report_row *row = &x->key[k]->row;
	size_t i;

	fputs("<tr>", f);
	for (i = 0; i < row->ncells; i++) {
		struct field cell = row->cell[i];

		if (!triage_shows_cell(x->rule, cell.name))
			continue;
		cell.kind = cell.kind == FIELD_NUMBER ? FIELD_ID : cell.kind;
		html_put_cell(f, &cell, false);
	}
	put_value(f, x->rule, x->key_value[k]);
	fputs("</tr>\n", f);
}

static void put_others(FILE *f, const struct triage_finding *x)
{
	char value[UNITS_SPACE], count[UNITS_SPACE];

	fprintf(f, "<p class=\"left\">others: %s, of %s %s, too many to tell apart</p>\n",
		triage_value(value, x->rule, x->others), format_count(count, x->nothers), x->rule->by);
}

static void put_evidence(FILE *f, const struct triage_finding *x)
{
	size_t i;

	if (!x->rule->by || !x->nkeys)
		return;
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"evidence\"><table>", f);
	put_key_names(f, x);
	for (i = 0; i < x->nkeys; i++)
		put_key(f, x, i);
	fputs("</tbody></table></div>\n", f);
	if (x->nothers)
		put_others(f, x);
}

static int put_next(FILE *f, const struct triage_finding *x)
{
	char *next;

	if (!x->rule->next)
		return 0;
	next = triage_next(x);
	if (!next)
		return -ENOMEM;
	html_put_command(f, next);
	free(next);
	return 0;
}

static int put_finding(FILE *f, const struct triage_finding *x)
{
	const char *level = x->level == TRIAGE_PROBLEM ? "problem" : "notice";
	int err;

	fprintf(f, "<article class=\"finding %s\" data-rule=\"%s\">\n<h3><span class=\"level\">%s</span>", level,
		x->rule->name, level);
	err = put_own(f, triage_sentence(x));
	fputs("</h3>\n", f);
	put_evidence(f, x);
	fputs("<p class=\"soft\">", f);
	put_xml_escaped(f, x->rule->why);
	fprintf(f, " (rule %s, of %s)</p>\n", x->rule->name, x->rule->tool);
	if (!err)
		err = put_next(f, x);
	fputs("</article>\n", f);
	return err;
}

/* Writes the texts of the largest key into one cell. */
static void put_largest(FILE *f, const struct triage_finding *x)
{
	const struct report_row *row;
	size_t i, n = 0;

	fputs("<td>", f);
	if (!triage_finding__names_largest(x)) {
		fputs("</td>", f);
		return;
	}
	row = &x->key[0]->row;
	for (i = 0; i < row->ncells; i++) {
		const struct field *c = &row->cell[i];

		if (!triage_shows_cell(x->rule, c->name) || c->kind == FIELD_NONE)
			continue;
		fputs(n++ ? " " : "", f);
		if (c->text)
			put_xml_escaped(f, c->text);
		else
			fprintf(f, "%llu", c->number);
	}
	fputs("</td>", f);
}

static void put_fine(FILE *f, const struct triage_finding *x)
{
	const struct triage_rule *r = x->rule;

	fprintf(f, "<tr><th scope=\"row\">%s</th>", r->name);
	put_value(f, r, triage_finding__judged(x));
	put_value(f, r, r->notice > 0 ? r->notice : x->problem);
	fprintf(f, "<td>%s</td>", r->tool);
	put_largest(f, x);
	fputs("</tr>\n", f);
}

/* Lists the rules without a finding, with value and limit. */
static void put_looked_at(FILE *f, const struct triage_page *p, bool open)
{
	size_t n = 0, i;

	for (i = 0; i < p->n; i++)
		n += p->finding[i].level == TRIAGE_FINE && p->finding[i].looked;
	if (!n)
		return;
	fprintf(f,
		"<details%s><summary>%zu rules found nothing</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"rules\"><table class=\"data\"><thead><tr><th scope=\"col\">rule</th>"
		"<th scope=\"col\" class=\"n\">largest</th><th scope=\"col\" class=\"n\">a notice from</th><th scope=\"col\">of</th>"
		"<th scope=\"col\">largest of</th></tr>"
		"</thead><tbody>\n",
		open ? " open" : "", n);
	for (i = 0; i < p->n; i++)
		if (p->finding[i].level == TRIAGE_FINE && p->finding[i].looked)
			put_fine(f, &p->finding[i]);
	fputs("</tbody></table></div></details>\n", f);
}

static int put_nearest(FILE *f, const struct triage_page *p)
{
	struct triage_near near[TRIAGE_NEAREST];
	size_t n = triage_nearest(p->finding, p->n, near), i;
	char value[UNITS_SPACE];
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		fprintf(f, "<p>%s: %s, ", near[i].finding.rule->name,
			triage_value(value, near[i].finding.rule, triage_finding__judged(&near[i].finding)));
		fprintf(f, "%.0f %% of its limit</p>\n", 100 * near[i].share);
		err = put_next(f, &near[i].finding);
	}
	return err;
}

static int put_top(FILE *f, const struct triage_top *top)
{
	int err = 0;
	size_t i;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"top\">"
	      "<table class=\"top\"><tbody>\n", f);
	for (i = 0; i < top->nlines && !err; i++) {
		if (!triage_top__is_known(top, &top->line[i]))
			continue;
		fprintf(f, "<tr><th scope=\"row\">%s</th><td>", top->line[i].name);
		err = put_own(f, triage_top__text(top, &top->line[i]));
		fputs("</td></tr>\n", f);
	}
	fputs("</tbody></table></div>\n", f);
	return err;
}

static int put_part(FILE *f, const struct triage_page *p)
{
	size_t count[] = { [TRIAGE_FINE] = 0, [TRIAGE_NOTICE] = 0, [TRIAGE_PROBLEM] = 0 }, i;
	int err = p->top.nlines ? put_top(f, &p->top) : 0;

	for (i = 0; i < p->n; i++)
		count[p->finding[i].level]++;
	if (!count[TRIAGE_PROBLEM] && !count[TRIAGE_NOTICE])
		fputs("<p>No rule fired. The largest figure of each is below.</p>\n", f);
	else
		fprintf(f, "<p>%zu %s, %zu %s. Fix the first one first.</p>\n",
			count[TRIAGE_PROBLEM], count[TRIAGE_PROBLEM] == 1 ? "problem" : "problems",
			count[TRIAGE_NOTICE], count[TRIAGE_NOTICE] == 1 ? "notice" : "notices");
	for (i = 0; i < p->n && p->finding[i].level != TRIAGE_FINE && !err; i++)
		err = put_finding(f, &p->finding[i]);
	if (!count[TRIAGE_PROBLEM] && !err)
		err = put_nearest(f, p);
	put_looked_at(f, p, !i);
	return err;
}

/* With several intervals, each interval has its own part. */
static void heading_of(char *text, size_t size, const struct triage_page *p)
{
	time_t seconds = p->start_ns / NSEC_PER_SEC;
	char clock[16] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(text, size, "Findings from %s, %.1f s", clock, (double)p->duration_ns / NSEC_PER_SEC);
}

int triage_page__add(const struct triage_page *p, struct writer *w)
{
	char heading[64], *html = NULL;
	size_t n = 0, i;
	FILE *f = open_memstream(&html, &n);
	int err;

	if (!f)
		return -ENOMEM;
	err = put_part(f, p);
	if (fclose(f) && !err)
		err = -ENOMEM;
	if (err) {
		free(html);
		return err;
	}
	heading_of(heading, sizeof(heading), p);
	err = html__add_part(w, "triage", heading, html);
	for (i = 0; i < p->nabsent && !err; i++)
		err = html__add_absent(w, p->absent[i]);
	return err;
}
