// SPDX-License-Identifier: BSD-2-Clause
#include "report/openmetrics.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"

#define NAME_SPACE 128

/* For each key that may be written so many are kept, which would go on with their totals if they came again. */
#define KEPT_FOR_EACH_SHOWN 10

/* A column of a table is a family of its own for each unit that its cells have. */
struct family {
	char *column;
	enum unit unit;
	bool is_counter, is_percent;
};

struct figure {
	__int128 sum;           /* counters: since the start of the run */
	double last;            /* gauges: of the last report, if it is known */
	bool known;
	bool ever;              /* this key has such a cell */
};

/* What is known of one key: a histogram, or the figures of each family, as far as there are. */
struct keyed {
	char *id;               /* key without labels: what makes it one */
	char *labels;           /* pid="1",comm="init": the newest */
	struct histogram hist;
	struct figure *figure;
	size_t nfigures;
	u64 report;             /* number of the last one that had it */
};

struct openmetrics {
	void *by_id;            /* tsearch() tree of entries */
	struct keyed **entry;
	size_t n;
	u64 reports;
	struct family *family;
	size_t nfamilies;
	u64 events, measured_ns;
	bool standing;          /* all figures are of the last report */
	struct loss_counters counters;
	u64 runs, program_ns, own_ns;   /* --overhead */
};

/*
 * --- names and texts ---------------------------------------------------------------------------
 */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Letters, digits and single underscores between them; never nothing. */
static void make_name(char name[NAME_SPACE], const char *text, const char *otherwise)
{
	size_t n = 0;

	for (; *text && n < NAME_SPACE - 1; text++)
		if (isalnum((unsigned char)*text))
			name[n++] = tolower((unsigned char)*text);
		else if (n && name[n - 1] != '_')
			name[n++] = '_';
	while (n && name[n - 1] == '_')
		n--;
	name[n] = 0;
	if (!n)
		snprintf(name, NAME_SPACE, "%s", otherwise);
}

static const char *unit_suffix(enum unit unit)
{
	return unit == UNIT_NS ? "seconds" : unit == UNIT_BYTES ? "bytes" : NULL;
}

/* "tally_runqlat_wait_seconds". Endings that the format gives a meaning to are avoided. */
static void family_name(char name[NAME_SPACE], const char *tool, const char *what,
			const char *unit)
{
	static const char *const reserved[] = { "_count", "_sum", "_total", "_bucket", "_created",
						"_info" };
	char part[NAME_SPACE], owner[NAME_SPACE];
	size_t i;

	make_name(owner, tool, "tool");
	make_name(part, what, "value");
	snprintf(name, NAME_SPACE, "tally_%.30s_%.70s", owner, part);
	if (unit && !ends_with(name, unit))
		snprintf(name + strlen(name), NAME_SPACE - strlen(name), "_%s", unit);
	for (i = 0; i < ARRAY_SIZE(reserved); i++)
		if (ends_with(name, reserved[i]))
			strcat(name, "_value");
}

/* Inside of quotes, or of HELP: no control is left by escape(). */
static int put_escaped(FILE *f, const char *text)
{
	char *shown = escape_string(text), *p;

	if (!shown)
		return -ENOMEM;
	for (p = shown; *p; p++) {
		if (*p == '\\' || *p == '"')
			fputc('\\', f);
		fputc(*p, f);
	}
	free(shown);
	return 0;
}

static int put_help(FILE *f, const char *text)
{
	char *shown = escape_string(text), *p;

	if (!shown)
		return -ENOMEM;
	for (p = shown; *p; p++)
		fputs(*p == '\\' ? "\\\\" : (char[]){ *p, 0 }, f);
	free(shown);
	return 0;
}

/* A raw value in its base unit, exact: 1023 ns are 0.000001023. */
static void put_value(FILE *f, unsigned __int128 value, enum unit unit, bool point)
{
	char digits[UNITS_SPACE], text[UNITS_SPACE + 16];
	size_t n;

	if (unit != UNIT_NS) {
		fprintf(f, "%s%s", format_digits(digits, value), point ? ".0" : "");
		return;
	}
	n = snprintf(text, sizeof(text), "%s.%09llu", format_digits(digits, value / NSEC_PER_SEC),
		     (u64)(value % NSEC_PER_SEC));
	while (text[n - 1] == '0' && text[n - 2] != '.')
		text[--n] = 0;
	fputs(text, f);
}

/*
 * --- what is added up --------------------------------------------------------------------------
 */

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->id, ((const struct keyed *)b)->id);
}

static int put_label(FILE *f, const struct field *field, const char *names, size_t n)
{
	char name[NAME_SPACE], quoted[NAME_SPACE + 4];
	int err = 0;

	make_name(name, field->name, "key");
	/* Not twice in a line, and not that of a bucket. */
	do {
		snprintf(quoted, sizeof(quoted), "%s=\"", name);
		if (strcmp(name, "le") && !memmem(names, n, quoted, strlen(quoted)))
			break;
		strcat(name, "_");
	} while (strlen(name) < NAME_SPACE - 1);
	fprintf(f, "%s%s%s", n ? "," : "", isdigit((unsigned char)*name) ? "_" : "", quoted);
	if (field->text)
		err = put_escaped(f, field->text);
	else if (field->kind != FIELD_NONE)
		fprintf(f, field_is_signed(field->kind) ? "%lld" : "%llu", field->number);
	fputc('"', f);
	return err;
}

/* The key as labels, with or without those that only go with another. NULL: no memory. */
static char *labels_of(const struct field *key, size_t n, bool all)
{
	char *text = NULL;
	size_t length = 0, i;
	FILE *f = open_memstream(&text, &length);
	int err = f ? 0 : -ENOMEM;

	for (i = 0; i < n && !err; i++) {
		if (key[i].label && !all)
			continue;
		fflush(f);
		err = put_label(f, &key[i], text, length);
	}
	if (f && fclose(f))
		err = -ENOMEM;
	if (!err)
		return text;
	free(text);
	return NULL;
}

static void entry__free(struct keyed *e)
{
	free(e->id);
	free(e->labels);
	free(e->figure);
	histogram__free(&e->hist);
	free(e);
}

static struct keyed *add_entry(struct openmetrics *m, char *id)
{
	struct keyed **larger = realloc(m->entry, (m->n + 1) * sizeof(*larger));
	struct keyed *e = calloc(1, sizeof(*e));

	if (larger)
		m->entry = larger;
	if (e)
		e->id = id;
	else
		free(id);
	if (!larger || !e || !tsearch(e, &m->by_id, compare_entries)) {
		if (e)
			entry__free(e);
		return NULL;
	}
	return m->entry[m->n++] = e;
}

/* That of a key, with its newest labels. NULL: no memory. */
static struct keyed *entry_of(struct openmetrics *m, const struct field *key, size_t nkey)
{
	struct keyed wanted = { .id = labels_of(key, nkey, false) }, **found, *e;
	char *labels = labels_of(key, nkey, true);

	if (!wanted.id || !labels) {
		free(wanted.id);
		free(labels);
		return NULL;
	}
	found = tfind(&wanted, &m->by_id, compare_entries);
	if (found) {
		e = *found;
		free(wanted.id);
	} else {
		e = add_entry(m, wanted.id);
	}
	if (!e) {
		free(labels);
		return NULL;
	}
	free(e->labels);
	e->labels = labels;
	e->report = m->reports;
	return e;
}

static int add_group(struct openmetrics *m, const struct report_group *g)
{
	struct keyed *e = entry_of(m, g->key, g->nkey);

	if (!e)
		return -ENOMEM;
	if (!g->hist.bound || e->hist.bound)
		return histogram__add(&e->hist, &g->hist);
	e->hist.bound = g->hist.bound;
	e->hist.nbounds = g->hist.nbounds;
	return histogram__add(&e->hist, &g->hist);
}

/* The index of the family that a cell belongs to. */
static int find_family(struct openmetrics *m, const struct field *f, size_t *index)
{
	bool real = f->kind == FIELD_REAL, is_signed = field_is_signed(f->kind);
	struct family *larger, family = {
		.unit = field_unit(f), .is_counter = !m->standing && f->adds_up && !real && !is_signed,
		.is_percent = real && ends_with(f->name, "percent"),
	};

	for (*index = 0; *index < m->nfamilies; ++*index) {
		const struct family *there = &m->family[*index];

		if (there->unit == family.unit && there->is_counter == family.is_counter &&
		    !strcmp(there->column, f->name))
			return 0;
	}
	larger = realloc(m->family, (m->nfamilies + 1) * sizeof(*larger));
	family.column = strdup(f->name);
	if (larger)
		m->family = larger;
	if (!larger || !family.column) {
		free(family.column);
		return -ENOMEM;
	}
	m->family[m->nfamilies++] = family;
	return 0;
}

static double real_of(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return ends_with(f->name, "percent") ? f->real / 100 : f->real;
	if (field_is_signed(f->kind))
		return (s64)f->number;
	return field_unit(f) == UNIT_NS ? f->number / 1e9 : f->number;
}

/* Sums that no 64 bits hold are real. */
static __int128 whole_of(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return fabs(f->real) < 0x1p126 ? (__int128)f->real : 0;
	return field_is_signed(f->kind) ? (__int128)(s64)f->number : (__int128)f->number;
}

static int add_cell(struct openmetrics *m, struct keyed *e, const struct field *f)
{
	struct figure *larger;
	size_t i;
	int err = find_family(m, f, &i);

	if (err)
		return err;
	if (i >= e->nfigures) {
		larger = realloc(e->figure, (i + 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		memset(larger + e->nfigures, 0, (i + 1 - e->nfigures) * sizeof(*larger));
		e->figure = larger;
		e->nfigures = i + 1;
	}
	e->figure[i].sum += whole_of(f);
	e->figure[i].last = real_of(f);
	e->figure[i].known = e->figure[i].ever = true;
	return 0;
}

static bool is_figure(const struct field *f)
{
	return !f->text && f->kind != FIELD_ID && f->kind != FIELD_NONE;
}

/*
 * A cell that is not known is no figure to be found by, but the name of one may be: a row begins
 * with its key, and all rows have the same columns.
 */
static size_t key_cells(const struct openmetrics *m, const struct report_row *row)
{
	size_t i, k;

	for (i = 0; i < row->ncells && !is_figure(&row->cell[i]); i++)
		for (k = 0; k < m->nfamilies && row->cell[i].kind == FIELD_NONE && !row->cell[i].text; k++)
			if (!strcmp(m->family[k].column, row->cell[i].name))
				return i;
	return i;
}

/* stat names the event behind its count. */
static int row_key(const struct openmetrics *m, const struct report_row *row,
		   struct report_row *key)
{
	size_t i, n = key_cells(m, row);
	int err = report_row__add_fields(key, row->cell, n);

	for (i = n; i < row->ncells && !err; i++)
		if (row->cell[i].text && !strcmp(row->cell[i].name, "event"))
			err = report_row__add_field(key, &row->cell[i]);
	return err;
}

static int add_row(struct openmetrics *m, const struct report_row *row)
{
	struct report_row key = {};
	struct keyed *e;
	int err = row_key(m, row, &key);
	size_t i;

	e = err ? NULL : entry_of(m, key.cell, key.ncells);
	free(key.cell);         /* its texts are the report's */
	if (!e)
		return -ENOMEM;
	for (i = 0; i < row->ncells && !err; i++)
		if (is_figure(&row->cell[i]) && !(row->cell[i].kind == FIELD_REAL &&
						  !isfinite(row->cell[i].real)))
			err = add_cell(m, e, &row->cell[i]);
	return err;
}

static int add_report(struct openmetrics *m, const struct report *r)
{
	size_t i, k;
	int err = 0;

	for (i = 0; i < m->n; i++)
		for (k = 0; k < m->entry[i]->nfigures; k++)
			m->entry[i]->figure[k].known = false;
	m->standing = r->standing;
	m->reports++;
	for (i = 0; i < r->ngroups && !err; i++)
		err = add_group(m, &r->group[i]);
	for (i = 0; i < r->nrows && !err; i++)
		err = add_row(m, &r->row[i]);
	m->events += r->events;
	m->measured_ns += r->duration_ns;
	if (r->overhead) {
		m->runs += r->overhead->runs;
		m->program_ns += r->overhead->ns;
		m->own_ns += r->overhead->own_ns;
	}
	m->counters.filtered += r->counters.filtered;
	for (i = 0; i < LOSS_REASONS; i++)
		m->counters.lost[i] += r->counters.lost[i];
	return err;
}

/*
 * --- what is written ---------------------------------------------------------------------------
 */

static int begin_family(FILE *f, const char *name, const char *type, const char *unit,
			const char *help, const char *more)
{
	int err;

	fprintf(f, "# TYPE %s %s\n", name, type);
	if (unit && ends_with(name, unit))
		fprintf(f, "# UNIT %s %s\n", name, unit);
	fprintf(f, "# HELP %s ", name);
	err = put_help(f, help);
	if (!err && more) {
		fputs("; ", f);
		err = put_help(f, more);
	}
	fputc('\n', f);
	return err;
}

static void put_labels(FILE *f, const char *labels)
{
	if (*labels)
		fprintf(f, "{%s}", labels);
}

static void put_bucket(FILE *f, const char *name, const struct keyed *e)
{
	fprintf(f, "%s_bucket{%s%sle=\"", name, e->labels, *e->labels ? "," : "");
}

/*
 * The same bounds in each report and for each key, whatever the values: one less than powers of
 * two, so that buckets are exact. 1 us to 34 s, 512 bytes to 1 GiB, 0 to a million.
 */
static void put_buckets(FILE *f, const char *name, const struct keyed *e, enum unit unit)
{
	u32 first = unit == UNIT_NS ? 10 : unit == UNIT_BYTES ? 9 : 0;
	u32 last = unit == UNIT_NS ? 35 : unit == UNIT_BYTES ? 30 : 20, power;
	const struct histogram *h = &e->hist;
	u64 count = 0;
	size_t i = 0;

	for (power = first; power <= last; power++) {
		for (; i < h->nbuckets && histogram__last(h, h->bucket[i].index) < 1ULL << power; i++)
			count += h->bucket[i].count;
		put_bucket(f, name, e);
		put_value(f, (1ULL << power) - 1, unit, true);
		fprintf(f, "\"} %llu\n", count);
	}
}

/* Bounds are the user's own, and exclusive: values are whole numbers. */
static void put_own_buckets(FILE *f, const char *name, const struct keyed *e, enum unit unit)
{
	const struct histogram *h = &e->hist;
	u64 count = 0;
	size_t i = 0, k;
	s64 most;

	for (k = 0; k < h->nbounds; k++) {
		for (; i < h->nbuckets && h->bucket[i].index <= k; i++)
			count += h->bucket[i].count;
		most = h->bound[k] - 1;
		put_bucket(f, name, e);
		if (most < 0)
			fputc('-', f);
		put_value(f, most < 0 ? -(u64)most : (u64)most, unit, true);
		fprintf(f, "\"} %llu\n", count);
	}
}

/* Where values may be negative there is no _sum, and without that no _count. */
static void put_histogram(FILE *f, const char *name, const struct keyed *e, enum unit unit)
{
	if (e->hist.bound)
		put_own_buckets(f, name, e, unit);
	else
		put_buckets(f, name, e, unit);
	put_bucket(f, name, e);
	fprintf(f, "+Inf\"} %llu\n", e->hist.count);
	if (e->hist.bound)
		return;
	fprintf(f, "%s_sum", name);
	put_labels(f, e->labels);
	fputc(' ', f);
	put_value(f, e->hist.sum, unit, false);
	fprintf(f, "\n%s_count", name);
	put_labels(f, e->labels);
	fprintf(f, " %llu\n", e->hist.count);
}

static int put_histograms(FILE *f, const struct openmetrics *m, size_t n, const struct report *r)
{
	const char *unit = unit_suffix(r->unit);
	char name[NAME_SPACE];
	size_t i;
	int err;

	family_name(name, r->tool, r->value, unit);
	err = begin_family(f, name, "histogram", unit, r->value, r->source);
	for (i = 0; i < n; i++)
		put_histogram(f, name, m->entry[i], r->unit);
	return err;
}

static int begin_column(FILE *f, char name[NAME_SPACE], const struct family *family,
			const struct report *r)
{
	const char *unit = family->is_percent ? "ratio" : unit_suffix(family->unit);
	const char *what = family->column;
	char part[NAME_SPACE];
	size_t n;

	/* "_count" and "_total" are endings with a meaning. */
	if (!strcmp(what, "count"))
		what = "events";
	else if (!strcmp(what, "total") && r->value)
		what = r->value;
	make_name(part, what, "value");
	n = strlen(part);
	if (ends_with(part, "_ns"))
		part[n - 3] = 0;
	if (family->is_percent && n > 8)
		part[n - 8] = 0;        /* "_percent" */
	else if (family->is_percent)
		strcpy(part, "share");
	family_name(name, r->tool, part, unit);
	return begin_family(f, name, family->is_counter ? "counter" : "gauge", unit,
			    r->value ?: r->tool, family->column);
}

static int put_column(FILE *f, const struct openmetrics *m, size_t index, size_t n,
		      const struct report *r)
{
	const struct family *family = &m->family[index];
	char name[NAME_SPACE];
	int err = begin_column(f, name, family, r);
	size_t i;

	for (i = 0; i < n; i++) {
		const struct keyed *e = m->entry[i];

		if (index >= e->nfigures || !e->figure[index].ever ||
		    (!family->is_counter && !e->figure[index].known))
			continue;
		fprintf(f, "%s%s", name, family->is_counter ? "_total" : "");
		put_labels(f, e->labels);
		fputc(' ', f);
		if (family->is_counter)
			put_value(f, e->figure[index].sum, family->unit, false);
		else
			fprintf(f, "%.15g", e->figure[index].last);
		fputc('\n', f);
	}
	return err;
}

static int put_of_tool(FILE *f, const char *name, const char *suffix, const char *type,
		       const char *unit, const char *help, const char *tool, u64 value,
		       enum unit raw)
{
	int err = begin_family(f, name, type, unit, help, NULL);

	fprintf(f, "%s%s{tool=\"", name, suffix);
	err = err ?: put_escaped(f, tool);
	fputs("\"} ", f);
	put_value(f, value, raw, false);
	fputc('\n', f);
	return err;
}

static int put_losses_of(FILE *f, const struct openmetrics *m, const struct report *r,
			 enum loss_kind kind)
{
	static const char *const names[LOSS_KINDS] = { "tally_lost", "tally_inexact" };
	static const char *const helps[LOSS_KINDS] = {
		"events that are not in the figures",
		"events that are in the figures without something that belongs to them",
	};
	int err = begin_family(f, names[kind], "counter", NULL, helps[kind], NULL), i;

	for (i = 0; i < LOSS_REASONS && !err; i++) {
		if (loss_kind(i) != kind)
			continue;
		fprintf(f, "%s_total{tool=\"", names[kind]);
		err = put_escaped(f, r->tool);
		fprintf(f, "\",reason=\"%s\"} %llu\n", loss_name(i), m->counters.lost[i]);
	}
	return err;
}

static int put_losses(FILE *f, const struct openmetrics *m, const struct report *r)
{
	int err = put_losses_of(f, m, r, LOSS_LOST);

	return err ?: put_losses_of(f, m, r, LOSS_INEXACT);
}

static int put_of_run(FILE *f, const struct openmetrics *m, size_t hidden, const struct report *r)
{
	int err = put_of_tool(f, "tally_measured_seconds", "_total", "counter", "seconds",
			      "time that was measured", r->tool, m->measured_ns, UNIT_NS);

	err = err ?: put_of_tool(f, "tally_report_timestamp_seconds", "", "gauge", "seconds",
				 "when the last interval ended", r->tool,
				 r->start_ns + r->duration_ns, UNIT_NS);
	err = err ?: put_of_tool(f, "tally_hidden_groups", "", "gauge", NULL,
				 "keys that are left out by --top", r->tool, hidden, UNIT_COUNT);
	if (err || !(r->has_events || r->has_losses))
		return err;
	if (r->has_events && !r->standing)
		err = put_of_tool(f, "tally_events", "_total", "counter", NULL,
				  "events that are in the figures, hidden groups included", r->tool,
				  m->events, UNIT_COUNT);
	if (r->has_events)
		err = err ?: put_of_tool(f, "tally_filtered", "_total", "counter", NULL,
					 "events that were not in scope", r->tool,
					 m->counters.filtered, UNIT_COUNT);
	return err ?: put_losses(f, m, r);
}

static int put_cost(FILE *f, const struct openmetrics *m, const char *tool)
{
	int err = put_of_tool(f, "tally_program_runs", "_total", "counter", NULL,
			      "how often the tool's BPF programs were run", tool, m->runs,
			      UNIT_COUNT);

	err = err ?: put_of_tool(f, "tally_program_seconds", "_total", "counter", "seconds",
				 "CPU time of the tool's BPF programs", tool, m->program_ns, UNIT_NS);
	return err ?: put_of_tool(f, "tally_process_cpu_seconds", "_total", "counter", "seconds",
				  "CPU time of the tool's process", tool, m->own_ns, UNIT_NS);
}

/* What keys are chosen by: their time, or whatever is summed up, or counted first. */
static __int128 weight(const struct keyed *e)
{
	if (e->hist.bound)
		return e->hist.count;
	return e->hist.count ? e->hist.sum : e->nfigures ? e->figure[0].sum : 0;
}

/* What has just been seen comes first: in the end what is new would be nowhere among what is old, and much. */
static int by_report_and_weight(const void *a, const void *b)
{
	const struct keyed *x = *(struct keyed *const *)a, *y = *(struct keyed *const *)b;

	if (x->report != y->report)
		return x->report > y->report ? -1 : 1;
	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* Of those in order, the last ones leave that the last report had not, as far as there are too many. */
static void forget_idle(struct openmetrics *m, size_t most)
{
	struct keyed *e;

	while (m->n > most && m->entry[m->n - 1]->report != m->reports) {
		e = m->entry[--m->n];
		tdelete(e, &m->by_id, compare_entries);
		entry__free(e);
	}
}

int write_openmetrics(struct writer *w, const struct report *r)
{
	struct openmetrics *m = w->metrics ?: calloc(1, sizeof(*m));
	size_t n, i, top = w->top ?: OPENMETRICS_TOP;
	int err;

	if (!m)
		return -ENOMEM;
	w->metrics = m;
	err = add_report(m, r);
	if (err)
		return err;
	if (m->n)
		qsort(m->entry, m->n, sizeof(*m->entry), by_report_and_weight);
	forget_idle(m, top * KEPT_FOR_EACH_SHOWN);
	n = m->n < top ? m->n : top;
	if (!r->table && r->value)
		err = put_histograms(w->file, m, n, r);
	for (i = 0; i < m->nfamilies && !err; i++)
		err = put_column(w->file, m, i, n, r);
	err = err ?: put_of_run(w->file, m, m->n - n, r);
	if (!err && r->overhead)
		err = put_cost(w->file, m, r->tool);
	fputs("# EOF\n", w->file);
	return err;
}

void openmetrics__free(struct openmetrics *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->n; i++) {
		tdelete(m->entry[i], &m->by_id, compare_entries);
		entry__free(m->entry[i]);
	}
	for (i = 0; i < m->nfamilies; i++)
		free(m->family[i].column);
	free(m->family);
	free(m->entry);
	free(m);
}

/*
 * --- the format before it ----------------------------------------------------------------------
 */

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

char *prometheus_text(const char *openmetrics)
{
	const char *line, *end, *next, *rest;
	bool is_counter = false;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	for (line = openmetrics; f && *line; line = next) {
		end = strchrnul(line, '\n');
		next = *end ? end + 1 : end;
		if (begins_with(line, "# UNIT ") || begins_with(line, "# EOF"))
			continue;
		if (begins_with(line, "# TYPE "))
			is_counter = end - line > 8 && begins_with(end - 8, " counter");
		rest = line;
		if (is_counter && (begins_with(line, "# TYPE ") || begins_with(line, "# HELP "))) {
			rest += 7 + strcspn(line + 7, " ");
			fprintf(f, "%.*s_total", (int)(rest - line), line);
		}
		fwrite(rest, 1, next - rest, f);
	}
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}
