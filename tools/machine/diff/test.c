// SPDX-License-Identifier: BSD-2-Clause
/* diff --test: tests each figure of each key of two runs against chance (agg/bootstrap.h). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg/bootstrap.h"
#include "base/array.h"
#include "machine/diff/pair.h"
#include "report/diag.h"
#include "report/role.h"

/* A figure of a pair: a row of the test. */
struct figure {
	const struct pair *pair;
	char *name;
	enum field_kind kind;
	struct bootstrap_figure of[SIDES];
	struct bootstrap_change change;
	double p;               /* p-value after Holm's correction */
	bool different;
	size_t order;
};

struct figures {
	const struct saved *const *run;
	struct figure *figure;
	size_t n;
	double *per[SIDES];     /* seconds of each interval */
	double *of[SIDES];      /* scratch: a number for each interval */
	double *by[SIDES];
};

static void figures__free(struct figures *f)
{
	size_t i;
	int side;

	for (i = 0; i < f->n; i++)
		free(f->figure[i].name);
	for (side = 0; side < SIDES; side++) {
		free(f->per[side]);
		free(f->of[side]);
		free(f->by[side]);
	}
	free(f->figure);
}

static int read_seconds(double *seconds, const struct saved *run)
{
	u64 ns;
	size_t i;

	for (i = 0; i < run->n; i++) {
		if (saved_member(run->report[i], "duration_ns", &ns) || !ns)
			return saved__wrong(run, i, "the report has no duration");
		seconds[i] = ns / 1e9;
	}
	return 0;
}

static int figures__init(struct figures *f, const struct saved *const run[SIDES])
{
	int side, err = 0;

	*f = (struct figures){ .run = run };
	for (side = 0; side < SIDES && !err; side++) {
		f->per[side] = calloc(run[side]->n, sizeof(double));
		f->of[side] = calloc(run[side]->n, sizeof(double));
		f->by[side] = calloc(run[side]->n, sizeof(double));
		if (!f->per[side] || !f->of[side] || !f->by[side])
			return -ENOMEM;
		err = read_seconds(f->per[side], run[side]);
	}
	return err;
}

/* Takes ownership of name. value: result of bootstrap__...() */
static int add_figure(struct figures *f, const struct pair *pair, char *name, enum field_kind kind,
		      const struct bootstrap_figure value[SIDES], double grain)
{
	struct figure *new = name ? ARRAY_ADD(f->figure, f->n) : NULL;

	if (!new) {
		free(name);
		return -ENOMEM;
	}
	*new = (struct figure){ .pair = pair, .name = name, .kind = kind, .order = f->n };
	new->of[BEFORE] = value[BEFORE];
	new->of[AFTER] = value[AFTER];
	bootstrap__compare(&new->change, &value[BEFORE], &value[AFTER], grain);
	return 0;
}

static char *rate_name(const char *name)
{
	char *text;

	return asprintf(&text, "%s/s", name) < 0 ? NULL : text;
}

static size_t present(const double *number, size_t n)
{
	size_t found = 0, i;

	for (i = 0; i < n; i++)
		found += number[i] != 0;
	return found;
}

/*
 * A difference in a figure of so few intervals could hardly be detected, and testing it makes the level of all other
 * tests stricter. Since the intervals of both runs are added, leaving out a figure does not depend on its difference
 * (Bourgon, Gentleman, Huber, "Independent filtering increases detection power for high-throughput experiments", PNAS
 * 107, 2010).
 */
static bool is_rare(const struct figures *f, double *const of[SIDES])
{
	return present(of[BEFORE], f->run[BEFORE]->n) + present(of[AFTER], f->run[AFTER]->n) < BOOTSTRAP_LEAST / 2;
}

/* Adds the quotient of the numbers, unless it has no value or is rare. Takes ownership of name. */
static int add_quotient(struct figures *f, const struct pair *pair, char *name, enum field_kind kind,
			double *const of[SIDES], double *const per[SIDES])
{
	struct bootstrap_figure value[SIDES];
	int side, err = !name ? -ENOMEM : is_rare(f, of) ? -ENODATA : 0;

	for (side = 0; side < SIDES && !err; side++)
		err = bootstrap__quotient(&value[side], of[side], per[side], f->run[side]->n);
	if (!err)
		return add_figure(f, pair, name, kind, value, 0);
	free(name);
	return err == -ENODATA ? 0 : err;
}

/*
 * --- tables ------------------------------------------------------------------------------------
 */

/* Sums the columns in each interval, with 0 for absent rows. Returns false if the sum is unknown in an interval. */
static bool read_columns(double *number, const struct pair *p, enum side side, const char *columns, size_t n)
{
	size_t i;

	memset(number, 0, n * sizeof(*number));
	for (i = 0; i < p->nparts[side]; i++)
		if (!report_row__operand(&p->part[side][i].row, columns, &number[p->part[side][i].interval]))
			return false;
	return true;
}

/* A mean over too few intervals is not tested, just as a run of too few intervals is not. */
static bool are_enough(const double *number, size_t n)
{
	return present(number, n) >= BOOTSTRAP_LEAST;
}

static enum field_kind kind_of_mean(const struct field *f)
{
	return f->kind == FIELD_DURATION || f->kind == FIELD_SIZE ? f->kind : FIELD_REAL;
}

static int test_cell(struct figures *f, const struct pair *p, const struct field *cell)
{
	bool is_rate = cell->role == ROLE_COUNTER, is_percent = cell->role == ROLE_PERCENT && cell->of;
	const char *of = is_rate ? cell->name : cell->of;
	double *const *per = f->per;
	size_t n, i;
	int side;

	if (!is_rate && !is_percent && !(cell->role == ROLE_MEAN && of && cell->per))
		return 0;
	for (side = 0; side < SIDES; side++) {
		n = f->run[side]->n;
		if (!read_columns(f->of[side], p, side, of, n))
			return 0;
		for (i = 0; i < n && is_percent; i++)
			f->of[side][i] *= cell->per ? 100 : 100 / 1e9;
		if (is_rate || !cell->per)
			continue;
		if (!read_columns(f->by[side], p, side, cell->per, n) || !are_enough(f->by[side], n))
			return 0;
		per = f->by;
	}
	return add_quotient(f, p, is_rate ? rate_name(cell->name) : strdup(cell->name),
			    is_percent ? FIELD_REAL : is_rate ? cell->kind : kind_of_mean(cell), f->of, per);
}

static int test_row(struct figures *f, const struct pair *p)
{
	enum side side = p->row[BEFORE].ncells ? BEFORE : AFTER;
	const struct report_row *row = &p->row[side];
	size_t i;
	int err = 0;

	for (i = 0; i < row->ncells && !err; i++)
		if (!row->cell[i].text)
			err = test_cell(f, p, &row->cell[i]);
	return err;
}

/*
 * --- histograms --------------------------------------------------------------------------------
 */

static enum field_kind kind_of_unit(enum unit unit)
{
	return unit == UNIT_NS ? FIELD_DURATION : unit == UNIT_BYTES ? FIELD_SIZE : FIELD_REAL;
}

/* Reads the counts (by) and the sums (of) of each interval. */
static void read_sums(struct figures *f, const struct pair *p, enum side side)
{
	size_t i;

	memset(f->of[side], 0, f->run[side]->n * sizeof(double));
	memset(f->by[side], 0, f->run[side]->n * sizeof(double));
	for (i = 0; i < p->nparts[side]; i++) {
		f->of[side][p->part[side][i].interval] = p->part[side][i].hist.sum;
		f->by[side][p->part[side][i].interval] = p->part[side][i].hist.count;
	}
}

static int percentiles_of(struct bootstrap_figure *value, const u32 *per_10k, size_t n, const struct pair *p,
			  enum side side, size_t intervals)
{
	struct histogram *h = calloc(intervals, sizeof(*h));
	size_t i;
	int err;

	if (!h)
		return -ENOMEM;
	for (i = 0; i < p->nparts[side]; i++)
		h[p->part[side][i].interval] = p->part[side][i].hist; /* borrowed */
	err = bootstrap__percentiles(value, per_10k, n, h, intervals);
	free(h);
	return err;
}

/* As without --test: if less than one value lies above the percentile, it is the maximum. */
static bool is_maximum(const struct pair *p, u32 per_10k)
{
	u64 least = p->hist[BEFORE].count < p->hist[AFTER].count ? p->hist[BEFORE].count : p->hist[AFTER].count;

	return least < 10000 / (10000 - per_10k);
}

static int test_percentiles(struct figures *f, const struct pair *p, enum unit unit)
{
	struct bootstrap_figure value[SIDES][ARRAY_SIZE(report_percentiles)];
	u32 per_10k[ARRAY_SIZE(report_percentiles)];
	size_t i;
	int side, err = 0;

	for (i = 0; i < ARRAY_SIZE(per_10k); i++)
		per_10k[i] = report_percentiles[i].per_10k;
	for (side = 0; side < SIDES && !err; side++)
		err = percentiles_of(value[side], per_10k, ARRAY_SIZE(per_10k), p, side, f->run[side]->n);
	for (i = 0; i < ARRAY_SIZE(per_10k) && !err; i++) {
		const struct bootstrap_figure of[SIDES] = { value[BEFORE][i], value[AFTER][i] };

		if (!is_maximum(p, per_10k[i]))
			err = add_figure(f, p, strdup(report_percentiles[i].text), kind_of_unit(unit), of,
					 BOOTSTRAP_BUCKET);
	}
	return err == -ENODATA ? 0 : err;
}

static int test_group(struct figures *f, const struct pair *p)
{
	bool enough = true;
	int side, err;

	for (side = 0; side < SIDES; side++) {
		read_sums(f, p, side);
		enough &= are_enough(f->by[side], f->run[side]->n);
	}
	err = add_quotient(f, p, strdup("count/s"), FIELD_NUMBER, f->by, f->per);
	if (err || !enough)
		return err;
	err = add_quotient(f, p, strdup("avg"), kind_of_unit(saved__unit(f->run[AFTER])), f->of, f->by);
	return err ?: test_percentiles(f, p, saved__unit(f->run[AFTER]));
}

/*
 * --- all of them -------------------------------------------------------------------------------
 */

static int test_pairs(struct figures *f, struct pairs *pairs)
{
	bool groups = f->run[BEFORE]->kind == SAVED_GROUPS;
	int side, err = 0;
	size_t i;

	for (side = 0; side < SIDES && !err; side++)
		err = groups ? pairs__add_groups(pairs, side, f->run[side])
			     : pairs__add_rows(pairs, side, f->run[side]);
	for (i = 0; i < pairs->n && !err; i++)
		if (pairs->pair[i].nparts[BEFORE] || pairs->pair[i].nparts[AFTER])
			err = groups ? test_group(f, &pairs->pair[i]) : test_row(f, &pairs->pair[i]);
	if (!err && !f->n) {
		diag_error("nothing can be tested: no row of %s and %s has a count, a mean or a percentile",
			   f->run[BEFORE]->path, f->run[AFTER]->path);
		err = -EINVAL;
	}
	return err;
}

static int correct(struct figures *f)
{
	double *p = calloc(f->n, sizeof(*p));
	size_t i;
	int err = p ? 0 : -ENOMEM;

	for (i = 0; i < f->n && !err; i++)
		p[i] = f->figure[i].change.p;
	if (!err)
		err = bootstrap__holm(p, f->n);
	for (i = 0; i < f->n && !err; i++)
		f->figure[i].p = p[i];
	free(p);
	return err;
}

/* Halving counts as much as doubling. A value that appears or disappears is the largest change. */
static double size_of(const struct figure *f)
{
	const struct bootstrap_change *c = &f->change;

	return c->change == 0 ? 0 : c->logarithmic ? fabs(log1p(c->change)) : INFINITY;
}

static int different_first(const void *a, const void *b)
{
	const struct figure *x = a, *y = b;

	if (x->different != y->different)
		return x->different ? -1 : 1;
	if (!x->different && x->p != y->p)
		return x->p < y->p ? -1 : 1;
	if (size_of(x) != size_of(y))
		return size_of(x) > size_of(y) ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Finds the median of the smallest change that would be beyond noise in each row, if it were the only change. */
static int find_reach(const struct figures *f, struct report_verdict *v)
{
	double *reach = calloc(f->n, sizeof(*reach)), one;
	size_t i;

	if (!reach)
		return -ENOMEM;
	for (i = 0; i < f->n; i++) {
		one = bootstrap__reach(&f->figure[i].change, BOOTSTRAP_LEVEL / f->n);
		reach[i] = isnan(one) ? INFINITY : 100 * one;
	}
	qsort(reach, f->n, sizeof(*reach), by_size);
	v->reach_percent = fmax(reach[(f->n - 1) / 2], v->least_percent);
	free(reach);
	return 0;
}

static int judge(struct figures *f, struct report_verdict *v)
{
	int err = correct(f);
	size_t i;

	for (i = 0; i < f->n; i++) {
		struct figure *one = &f->figure[i];

		one->different = one->p < BOOTSTRAP_LEVEL && 100 * fabs(one->change.change) >= v->least_percent;
		v->different += one->different;
	}
	v->tested = f->n;
	qsort(f->figure, f->n, sizeof(*f->figure), different_first);
	return err ?: find_reach(f, v);
}

/*
 * --- words -------------------------------------------------------------------------------------
 */

static const char *said(const struct figure *f)
{
	if (!f->different)
		return f->p < BOOTSTRAP_LEVEL ? "below --least" : "within noise";
	if (f->of[BEFORE].value == 0)
		return "new";
	if (f->of[AFTER].value == 0)
		return "gone";
	return f->change.change > 0 ? "grew" : "shrank";
}

static void put_percent(FILE *f, double percent)
{
	fprintf(f, fabs(percent) < 10 ? "%.1f %%" : "%.0f %%", percent);
}

static void put_largest(FILE *f, const struct figure *one)
{
	const struct report_row *key = &one->pair->key;
	char digits[UNITS_SPACE];
	size_t i;

	fputs(" (largest: ", f);
	for (i = 0; i < key->ncells; i++) {
		const struct field *cell = &key->cell[i];

		if (cell->machine || (!cell->text && cell->kind == FIELD_NONE))
			continue;
		fprintf(f, "%s %s, ", cell->name,
			cell->text ?: format_digits(digits, field_is_signed(cell->kind) ? (__int128)(s64)cell->number
										       : (__int128)cell->number));
	}
	fprintf(f, "%s %s", one->name, said(one));
	if (one->change.logarithmic) {
		fputs(" by ", f);
		put_percent(f, 100 * fabs(one->change.change));
	}
	fputc(')', f);
}

static const char *rows_of(u64 n)
{
	return n == 1 ? "row" : "rows";
}

static void put_verdict(FILE *f, const struct figures *all, const struct report_verdict *v)
{
	if (v->different) {
		fprintf(f, "different: %llu of %llu %s beyond noise", v->different, v->tested, rows_of(v->tested));
		put_largest(f, &all->figure[0]);
		return;
	}
	fprintf(f, "no difference beyond noise in %llu %s", v->tested, rows_of(v->tested));
	if (!isfinite(v->reach_percent))
		return;
	fputs("; a change of ", f);
	put_percent(f, v->reach_percent);
	fputs(v->tested == 1 ? " would have been seen" : " would have been seen in half of them", f);
}

static char *verdict_text(const struct figures *all, const struct report_verdict *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	put_verdict(f, all, v);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static struct field value_field(const char *name, const struct figure *f, enum side side)
{
	double value = f->of[side].value;
	struct field cell = { .name = name, .kind = FIELD_REAL, .real = value, .decimals = 2 };

	if ((f->kind == FIELD_DURATION || f->kind == FIELD_SIZE) && value >= 0 && value < 0x1p63) {
		cell.kind = f->kind;
		cell.number = llround(value);
	}
	return cell;
}

static struct field percent_field(const char *name, double part)
{
	const double percent = 100 * part;

	return isfinite(percent) ? (struct field){ .name = name, .kind = FIELD_REAL, .real = percent, .decimals = 1 }
				 : (struct field){ .name = name, .kind = FIELD_NONE };
}

static int add_row(struct report *r, const struct figure *f)
{
	static const char *const units[] = { "count", "ns", "bytes" };
	const enum unit unit = f->kind == FIELD_DURATION ? UNIT_NS : f->kind == FIELD_SIZE ? UNIT_BYTES : UNIT_COUNT;
	const struct field cells[] = {
		value_field("before", f, BEFORE),
		value_field("after", f, AFTER),
		percent_field("change_percent", f->change.change),
		percent_field("low_percent", f->change.low),
		percent_field("high_percent", f->change.high),
		{ .name = "p", .kind = FIELD_REAL, .real = f->p, .decimals = 4 },
	};
	struct report_row row;
	int err = diff_row__begin(&row, &f->pair->key);

	if (!err)
		err = report_row__add_text(&row, "figure", f->name);
	if (!err)
		err = report_row__add_fields(&row, cells, ARRAY_SIZE(cells));
	if (!err)
		err = report_row__add_text(&row, "unit", units[unit]);
	if (!err)
		row.cell[row.ncells - 1].machine = true;
	if (!err)
		err = report_row__add_text(&row, "verdict", said(f));
	return report__end_row(r, &row, err);
}

static int add_rows(struct report *r, const struct figures *f, size_t top, bool all)
{
	size_t i, shown = 0;
	int err = 0;

	for (i = 0; i < f->n && !err; i++) {
		if (!f->figure[i].different && !all)
			continue;
		if (top && shown == top)
			r->hidden++;
		else
			err = add_row(r, &f->figure[i]);
		shown += !top || shown < top;
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_row(r, &f->figure[0]));
	return err;
}

static int check_intervals(const struct saved *run)
{
	if (run->kind == SAVED_STACKS) {
		diag_error("%s has stacks: --test compares tables and histograms", run->tool);
		diag_hint("without --test their shares are compared");
		return -EINVAL;
	}
	if (run->n >= BOOTSTRAP_LEAST)
		return 0;
	diag_error("%s has %zu interval%s; --test needs at least %d",
		   run->path, run->n, run->n == 1 ? "" : "s", BOOTSTRAP_LEAST);
	diag_hint("for more intervals: %s -I 1000 -d 30 --json -o FILE, or a longer window of tally record",
		  run->tool);
	return -EINVAL;
}

int diff_test(struct report *r, const struct saved *const run[SIDES], size_t top, struct diff_test *test)
{
	struct pairs pairs = { .apart = true };
	struct report_verdict *v = &test->verdict;
	struct figures f = {};
	int side, err = 0;

	for (side = 0; side < SIDES && !err; side++) {
		err = check_intervals(run[side]);
		v->intervals[side] = run[side]->n;
		v->block[side] = bootstrap__block(run[side]->n);
	}
	if (!err)
		err = figures__init(&f, run);
	if (!err)
		err = test_pairs(&f, &pairs);
	if (!err)
		err = judge(&f, v);
	if (!err)
		err = add_rows(r, &f, top, test->all);
	if (!err)
		v->text = test->text = verdict_text(&f, v);
	if (!err && !v->text)
		err = -ENOMEM;
	r->verdict = v;
	figures__free(&f);
	pairs__free(&pairs);
	return err;
}
