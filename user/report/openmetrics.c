// SPDX-License-Identifier: BSD-2-Clause
#include "report/openmetrics.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/exposition.h"
#include "report/role.h"

#define NAME_SPACE 128           /* part of a name, or a label */

/* Number of keys kept per key written. A kept key that occurs again continues its totals. */
#define KEPT_FOR_EACH_SHOWN 10

/* A column of a table makes one family per unit of its cells. */
struct family {
	char *column;
	enum unit unit;
	bool is_counter, is_percent;
	bool is_of_distribution;        /* avg, p99: the column name does not name the measured value */
};

struct figure {
	__int128 sum;           /* counters: total since the start of the run */
	double last;            /* gauges: value in the last report, if known */
	bool known;
	bool ever;              /* true once this key has had such a cell */
};

/* State of one key: a histogram, or the figures of each family it has. */
struct keyed {
	char *id;               /* key without labels, which identifies it */
	char *labels;           /* newest labels: pid="1",comm="init" */
	struct histogram hist;
	struct figure *figure;
	size_t nfigures;
	u64 report;             /* number of the last report that had this key */
};

struct openmetrics {
	void *by_id;            /* tsearch() tree of entries */
	struct keyed **entry;
	size_t n;
	u64 reports;
	struct family *family;
	size_t nfamilies;
	u64 events, measured_ns;
	bool standing;          /* all figures are gauges */
	struct loss_counters counters;
	char *label;            /* measurement="runqlat --by cgroup", precedes all other labels; may be "" */
	/* Taken from the last report: */
	char *tool, *value, *metric, *source;   /* may be NULL, except tool */
	enum unit unit;
	bool table, has_events, has_losses;
	u64 ended_ns;
	u64 top;
};

/*
 * --- names and texts ---------------------------------------------------------------------------
 */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Makes a name of lower-case letters, digits and single underscores. Uses otherwise if nothing is left. */
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

/* Makes a family name such as "tally_runqlat_wait_seconds". Avoids suffixes that the format reserves. */
static void family_name(char name[METRIC_NAME_SPACE], const char *tool, const char *what,
			const char *unit)
{
	static const char *const reserved[] = { "_count", "_sum", "_total", "_bucket", "_created",
						"_info" };
	char part[NAME_SPACE], owner[NAME_SPACE];
	size_t i;

	make_name(owner, tool, "tool");
	make_name(part, what, "value");
	snprintf(name, METRIC_NAME_SPACE, "tally_%.30s_%.70s", owner, part);
	if (unit && !ends_with(name, unit))
		snprintf(name + strlen(name), METRIC_NAME_SPACE - strlen(name), "_%s", unit);
	for (i = 0; i < ARRAY_SIZE(reserved); i++)
		if (ends_with(name, reserved[i]))
			strcat(name, "_value");
}

/* Writes a raw value in its base unit, exactly: 1023 ns are 0.000001023. */
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
 * --- totals by key -----------------------------------------------------------------------------
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
	/* A label must be unique in its sample and must not be "le", which is reserved for buckets. */
	do {
		snprintf(quoted, sizeof(quoted), "%s=\"", name);
		if (strcmp(name, "le") && !memmem(names, n, quoted, strlen(quoted)))
			break;
		strcat(name, "_");
	} while (strlen(name) < NAME_SPACE - 1);
	fprintf(f, "%s%s%s", n ? "," : "", isdigit((unsigned char)*name) ? "_" : "", quoted);
	if (field->text)
		err = put_label_value(f, field->text);
	else if (field->kind != FIELD_NONE)
		fprintf(f, field_is_signed(field->kind) ? "%lld" : "%llu", field->number);
	fputc('"', f);
	return err;
}

/*
 * Returns first and the labels of a key, or NULL without memory. all: include fields that only accompany another one.
 */
static char *labels_of(const char *first, const struct field *key, size_t n, bool all)
{
	char *text = NULL;
	size_t length = 0, i;
	FILE *f = open_memstream(&text, &length);
	int err = f ? 0 : -ENOMEM;

	if (f)
		fputs(first, f);
	for (i = 0; i < n && !err; i++) {
		if (key[i].role == ROLE_LABEL && !all)
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
	struct keyed *e = calloc(1, sizeof(*e));

	if (e)
		e->id = id;
	else
		free(id);
	if (!e || ARRAY_ROOM(m->entry, m->n) || !tsearch(e, &m->by_id, compare_entries)) {
		if (e)
			entry__free(e);
		return NULL;
	}
	return m->entry[m->n++] = e;
}

/* Returns the entry of a key, with its labels updated. NULL without memory. */
static struct keyed *entry_of(struct openmetrics *m, const struct field *key, size_t nkey)
{
	struct keyed wanted = { .id = labels_of("", key, nkey, false) }, **found, *e;
	char *labels = labels_of(m->label, key, nkey, true);

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

static bool is_of_distribution(const struct field *f)
{
	size_t i;

	if (f->role == ROLE_MEAN || f->role == ROLE_MINIMUM || f->role == ROLE_MAXIMUM)
		return true;
	for (i = 0; i < ARRAY_SIZE(report_percentiles); i++)
		if (!strcmp(f->name, report_percentiles[i].json))
			return true;
	return false;
}

/* Finds or adds the family of a cell. */
static int find_family(struct openmetrics *m, const struct field *f, size_t *index)
{
	bool real = f->kind == FIELD_REAL, is_signed = field_is_signed(f->kind);
	struct family family = {
		.unit = field_unit(f), .is_counter = !m->standing && f->role == ROLE_COUNTER && !real && !is_signed,
		.is_percent = real && ends_with(f->name, "percent"),
		.is_of_distribution = is_of_distribution(f),
	};
	int err;

	for (*index = 0; *index < m->nfamilies; ++*index) {
		const struct family *there = &m->family[*index];

		if (there->unit == family.unit && there->is_counter == family.is_counter &&
		    !strcmp(there->column, f->name))
			return 0;
	}
	family.column = strdup(f->name);
	err = family.column ? ARRAY_APPEND(m->family, m->nfamilies, family) : -ENOMEM;
	if (err)
		free(family.column);
	return err;
}

static double real_of(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return ends_with(f->name, "percent") ? f->real / 100 : f->real;
	if (field_is_signed(f->kind))
		return (s64)f->number;
	return field_unit(f) == UNIT_NS ? f->number / 1e9 : f->number;
}

/* Returns the integer value of a field. Sums beyond 64 bits are reals. */
static __int128 whole_of(const struct field *f)
{
	if (field_is_wide(f))
		return f->exact;
	if (f->kind == FIELD_REAL)
		return fabs(f->real) < 0x1p126 ? (__int128)f->real : 0;
	return field_is_signed(f->kind) ? (__int128)(s64)f->number : (__int128)f->number;
}

static int add_cell(struct openmetrics *m, struct keyed *e, const struct field *f)
{
	size_t i;
	int err = find_family(m, f, &i);

	if (err)
		return err;
	if (i >= e->nfigures) {
		if (array__grow(&e->figure, e->nfigures, i + 1 - e->nfigures, sizeof(*e->figure)))
			return -ENOMEM;
		memset(e->figure + e->nfigures, 0, (i + 1 - e->nfigures) * sizeof(*e->figure));
		e->nfigures = i + 1;
	}
	e->figure[i].sum += whole_of(f);
	e->figure[i].last = real_of(f);
	e->figure[i].known = e->figure[i].ever = true;
	return 0;
}

/* Numeric remarks are metrics too. The time of a maximum is no metric, because it counts from the start of the run. */
static bool is_figure(const struct field *f)
{
	return !f->text && !field_is_key(f) && f->kind != FIELD_NONE && f->role != ROLE_AT && !f->no_metric;
}

static int row_key(const struct report_row *row, struct report_row *key)
{
	size_t i;
	int err = 0;

	for (i = 0; i < row->ncells && !err; i++)
		if (field_is_key(&row->cell[i]))
			err = report_row__add_field(key, &row->cell[i]);
	return err;
}

static int add_row(struct openmetrics *m, const struct report_row *row)
{
	struct report_row key = {};
	struct keyed *e;
	int err = row_key(row, &key);
	size_t i;

	e = err ? NULL : entry_of(m, key.cell, key.ncells);
	free(key.cell);         /* the report owns its texts */
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
	m->counters.filtered += r->counters.filtered;
	for (i = 0; i < LOSS_REASONS; i++)
		m->counters.lost[i] += r->counters.lost[i];
	return err;
}

/*
 * --- output ------------------------------------------------------------------------------------
 */

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
 * Writes buckets with fixed bounds for every report and key, whatever the values: powers of two minus one, so that
 * buckets are exact. 1 us to 34 s, 512 bytes to 1 GiB, 0 to a million.
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

/* Writes buckets with the user's bounds. These are exclusive and values are integers, so subtract one. */
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

/* With negative values, _sum is not allowed, nor is _count without _sum. */
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

static void put_histograms(struct exposition *x, const struct openmetrics *m, size_t n)
{
	const char *unit = unit_suffix(m->unit);
	char name[METRIC_NAME_SPACE];
	size_t i;
	FILE *f;

	family_name(name, m->tool, m->metric ?: m->value, unit);
	f = exposition__family(x, name, "histogram", unit, m->value, m->source);
	for (i = 0; f && i < n; i++)
		put_histogram(f, name, m->entry[i], m->unit);
}

static FILE *begin_column(struct exposition *x, char name[METRIC_NAME_SPACE], const struct family *family,
			  const struct openmetrics *m)
{
	const char *unit = family->is_percent ? "ratio" : unit_suffix(family->unit);
	const char *what = family->column;
	char part[NAME_SPACE], whole[NAME_SPACE];
	size_t n;

	/* "_count" and "_total" are reserved suffixes. */
	if (!strcmp(what, "count"))
		what = "events";
	else if (!strcmp(what, "total") && m->value)
		what = m->metric ?: m->value;
	if (m->metric && family->is_of_distribution) {
		snprintf(whole, sizeof(whole), "%s_%s", m->metric, what);
		what = whole;
	}
	make_name(part, what, "value");
	n = strlen(part);
	if (ends_with(part, "_ns"))
		part[n - 3] = 0;
	if (family->is_percent && n > 8)
		part[n - 8] = 0;        /* "_percent" */
	else if (family->is_percent)
		strcpy(part, "share");
	family_name(name, m->tool, part, unit);
	return exposition__family(x, name, family->is_counter ? "counter" : "gauge", unit, m->value ?: m->tool,
				  family->column);
}

static void put_column(struct exposition *x, const struct openmetrics *m, size_t index, size_t n)
{
	const struct family *family = &m->family[index];
	char name[METRIC_NAME_SPACE];
	FILE *f = begin_column(x, name, family, m);
	size_t i;

	for (i = 0; f && i < n; i++) {
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
}

/* A figure of the whole measurement. */
struct whole {
	const char *name, *unit, *help;
	bool is_counter;
	enum unit raw;
};

static int put_first_labels(FILE *f, const struct openmetrics *m)
{
	fprintf(f, "{%s%stool=\"", m->label, *m->label ? "," : "");
	return put_label_value(f, m->tool);
}

static int put_whole(struct exposition *x, const struct openmetrics *m, const struct whole *w, u64 value)
{
	char name[METRIC_NAME_SPACE];
	FILE *f;
	int err;

	snprintf(name, sizeof(name), "%s", w->name);
	f = exposition__family(x, name, w->is_counter ? "counter" : "gauge", w->unit, w->help, NULL);
	if (!f)
		return -ENOMEM;
	fprintf(f, "%s%s", name, w->is_counter ? "_total" : "");
	err = put_first_labels(f, m);
	fputs("\"} ", f);
	put_value(f, value, w->raw, false);
	fputc('\n', f);
	return err;
}

static int put_losses_of(struct exposition *x, const struct openmetrics *m, enum loss_kind kind)
{
	static const char *const names[LOSS_KINDS] = { "tally_lost", "tally_inexact" };
	static const char *const helps[LOSS_KINDS] = {
		"events missing from the figures",
		"events in the figures with some of their data missing",
	};
	char name[METRIC_NAME_SPACE];
	FILE *f;
	int err, i;

	snprintf(name, sizeof(name), "%s", names[kind]);
	f = exposition__family(x, name, "counter", NULL, helps[kind], NULL);
	err = f ? 0 : -ENOMEM;
	for (i = 0; i < LOSS_REASONS && !err; i++) {
		if (loss_kind(i) != kind)
			continue;
		fprintf(f, "%s_total", name);
		err = put_first_labels(f, m);
		fprintf(f, "\",reason=\"%s\"} %llu\n", loss_name(i), m->counters.lost[i]);
	}
	return err;
}

static int put_of_run(struct exposition *x, const struct openmetrics *m, size_t hidden)
{
	static const struct whole measured = { "tally_measured_seconds", "seconds", "measured time", true,
					       UNIT_NS };
	static const struct whole ended = {
		"tally_report_timestamp_seconds", "seconds", "end of the last interval", false, UNIT_NS };
	static const struct whole left_out = {
		"tally_hidden_groups", NULL, "keys left out by --top", false, UNIT_COUNT };
	static const struct whole events = {
		"tally_events", NULL, "events in the figures, including hidden groups", true, UNIT_COUNT };
	static const struct whole filtered = { "tally_filtered", NULL, "events out of scope", true,
					       UNIT_COUNT };
	int err = put_whole(x, m, &measured, m->measured_ns);

	err = err ?: put_whole(x, m, &ended, m->ended_ns);
	err = err ?: put_whole(x, m, &left_out, hidden);
	if (err || !(m->has_events || m->has_losses))
		return err;
	if (m->has_events && !m->standing)
		err = put_whole(x, m, &events, m->events);
	if (m->has_events)
		err = err ?: put_whole(x, m, &filtered, m->counters.filtered);
	err = err ?: put_losses_of(x, m, LOSS_LOST);
	return err ?: put_losses_of(x, m, LOSS_INEXACT);
}

/*
 * Returns the rank of a key: the sum of its histogram (its count if there are bounds), else the sum of its first
 * figure.
 */
static __int128 weight(const struct keyed *e)
{
	if (e->hist.bound)
		return e->hist.count;
	return e->hist.count ? e->hist.sum : e->nfigures ? e->figure[0].sum : 0;
}

/* Sorts newest first; otherwise many old keys would crowd out the new ones. */
static int by_report_and_weight(const void *a, const void *b)
{
	const struct keyed *x = *(struct keyed *const *)a, *y = *(struct keyed *const *)b;

	if (x->report != y->report)
		return x->report > y->report ? -1 : 1;
	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* Drops entries from the end of the sorted list until most are left, but none that is in the last report. */
static void forget_idle(struct openmetrics *m, size_t most)
{
	struct keyed *e;

	while (m->n > most && m->entry[m->n - 1]->report != m->reports) {
		e = m->entry[--m->n];
		tdelete(e, &m->by_id, compare_entries);
		entry__free(e);
	}
}

/* Copies the parts of a report that describe the whole measurement. Without memory, the previous copy remains. */
static int note_head(struct openmetrics *m, const struct report *r)
{
	const char *const said[] = { r->tool, r->value, r->metric, r->source };
	char **const kept[ARRAY_SIZE(said)] = { &m->tool, &m->value, &m->metric, &m->source };
	char *copy[ARRAY_SIZE(said)];
	bool fits = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(said); i++) {
		copy[i] = said[i] ? strdup(said[i]) : NULL;
		fits = fits && (copy[i] || !said[i]);
	}
	for (i = 0; i < ARRAY_SIZE(said); i++) {
		free(fits ? *kept[i] : copy[i]);
		if (fits)
			*kept[i] = copy[i];
	}
	if (!fits)
		return -ENOMEM;
	m->unit = r->unit;
	m->table = r->table;
	m->has_events = r->has_events;
	m->has_losses = r->has_losses;
	m->ended_ns = r->start_ns + r->duration_ns;
	return 0;
}

int openmetrics__add(struct openmetrics *m, const struct report *r, u64 top)
{
	int err = note_head(m, r);

	m->top = top ?: OPENMETRICS_TOP;
	if (!err)
		err = add_report(m, r);
	if (m->n)
		qsort(m->entry, m->n, sizeof(*m->entry), by_report_and_weight);
	forget_idle(m, m->top * KEPT_FOR_EACH_SHOWN);
	return err;
}

int openmetrics__put(const struct openmetrics *m, struct exposition *x)
{
	size_t n = m->n < m->top ? m->n : m->top, i;

	if (!m->reports)
		return 0;
	if (!m->table && m->value)
		put_histograms(x, m, n);
	for (i = 0; i < m->nfamilies; i++)
		put_column(x, m, i, n);
	return put_of_run(x, m, m->n - n);
}

const char *openmetrics__label(const struct openmetrics *m)
{
	return m->label;
}

/* Formats the label, with quotes. Returns NULL without memory. */
static char *label_of(const char *measurement)
{
	char *text = NULL;
	size_t n;
	FILE *f;
	int err;

	if (!measurement)
		return strdup("");
	f = open_memstream(&text, &n);
	if (!f)
		return NULL;
	fputs("measurement=\"", f);
	err = put_label_value(f, measurement);
	fputc('"', f);
	if (!fclose(f) && !err)
		return text;
	free(text);
	return NULL;
}

struct openmetrics *openmetrics__new(const char *measurement)
{
	struct openmetrics *m = calloc(1, sizeof(*m));

	if (m)
		m->label = label_of(measurement);
	if (m && m->label)
		return m;
	free(m);
	return NULL;
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
	free(m->label);
	free(m->tool);
	free(m->value);
	free(m->metric);
	free(m->source);
	free(m);
}

/*
 * --- the Prometheus text format ----------------------------------------------------------------
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
