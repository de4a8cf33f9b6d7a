// SPDX-License-Identifier: BSD-2-Clause
#include "triage/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of a line: the text between { and }. */
struct part {
	const struct triage_finding *figure;    /* NULL if the figure does not exist */
	const char *cell;       /* n bytes long; NULL for the value */
	size_t n;
	size_t most;            /* maximum number of keys; 0 if it is not a list */
};

const struct triage_finding *triage_top__figure(const struct triage_top *top, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < top->n; i++)
		if (!strncmp(top->figure[i].rule->name, name, len) && !top->figure[i].rule->name[len])
			return &top->figure[i];
	return NULL;
}

/* Parses the part that begins at p, after the {. Returns the text after its }. */
static const char *take_part(const struct triage_top *top, const char *p, struct part *part)
{
	size_t n = strcspn(p, "}"), name = strcspn(p, ".*}");

	*part = (struct part){ .figure = triage_top__figure(top, p, name) };
	if (p[name] == '*') {
		part->most = atoi(p + name + 1);
	} else if (p[name] == '.') {
		part->cell = p + name + 1;
		part->n = n - name - 1;
	}
	return p + n + (p[n] == '}');
}

bool triage_top__is_known(const struct triage_top *top, const struct triage_line *line)
{
	const char *p = line->text;
	struct part part;

	while ((p = strchr(p, '{'))) {
		p = take_part(top, p + 1, &part);
		if (part.figure && part.figure->looked)
			return true;
	}
	return false;
}

/*
 * Writes a percentage shorter than elsewhere, so that a line fits a terminal. Near 100 %, tenths distinguish full from
 * nearly full.
 */
static void put_percent(FILE *f, double percent)
{
	bool tenths = percent > 0 && (percent < 9.95 || (percent >= 99 && percent < 100));

	fprintf(f, "%.*f %%", tenths ? 1 : 0, percent);
}

static void put_value(FILE *f, const struct triage_rule *r, double value)
{
	char text[UNITS_SPACE];

	switch (r->per) {
	case TRIAGE_OF_TIME:
	case TRIAGE_PERCENT:
	case TRIAGE_LEVEL:
		put_percent(f, value);
		break;
	case TRIAGE_OF_MACHINE:
		put_percent(f, 100 * value);
		break;
	case TRIAGE_PER_SECOND:
		fprintf(f, value > 0 && value < 10 ? "%.1f/s" : "%.0f/s", value);
		break;
	case TRIAGE_BYTES_PER_SECOND:
		fprintf(f, "%s/s", format_value(text, (unsigned __int128)value, UNIT_BYTES, false));
		break;
	default:
		fputs(triage_value(text, r, value), f);
	}
}

/*
 * Writes a key, after a comma unless it is the first: its texts, except "-", which means that there is only one, and
 * its value.
 */
static void put_key(FILE *f, const struct triage_finding *x, size_t i)
{
	const struct report_row *row = &x->key[i]->row;
	size_t k;

	if (i)
		fputs(", ", f);
	for (k = 0; k < row->ncells; k++)
		if (triage_word_is_in(row->cell[k].name, x->rule->by) && row->cell[k].text &&
		    strcmp(row->cell[k].text, "-"))
			fprintf(f, "%s ", row->cell[k].text);
	put_value(f, x->rule, x->key_value[i]);
}

static void put_list(FILE *f, const struct triage_finding *x, size_t most)
{
	size_t i;

	for (i = 0; i < x->nkeys && i < most && x->key_value[i] > 0; i++)
		put_key(f, x, i);
	if (!i)
		fputs("none", f);
}

static void put_part(FILE *f, const struct part *part)
{
	const struct triage_finding *x = part->figure;

	if (!x || !x->looked)
		fputs("-", f);
	else if (part->most)
		put_list(f, x, part->most);
	else if (!x->nkeys)
		fputs("-", f);
	else if (part->cell)
		triage_put_cell(f, &x->key[0]->row, part->cell, part->n);
	else
		put_value(f, x->rule, x->value);
}

char *triage_top__text(const struct triage_top *top, const struct triage_line *line)
{
	const char *p = line->text;
	char *text = NULL;
	struct part part;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	while (*p) {
		if (*p != '{') {
			fputc(*p++, f);
			continue;
		}
		p = take_part(top, p + 1, &part);
		put_part(f, &part);
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
