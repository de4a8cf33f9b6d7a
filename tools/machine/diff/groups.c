// SPDX-License-Identifier: BSD-2-Clause
/* Compares the histograms of two runs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/diff/pair.h"

/*
 * --- reading -----------------------------------------------------------------------------------
 */

/* Marks a histogram with custom bounds, whose buckets are not read. */
static const s64 own_bounds[1];

/* [first value, last value, count], in the standard layout only. */
static int read_bucket(struct histogram *h, const json_t *b)
{
	u64 first, count;
	u32 index;

	if (json_array_size(b) != 3 || saved_number(json_array_get(b, 0), &first) ||
	    saved_number(json_array_get(b, 2), &count) || !count)
		return -EINVAL;
	index = hist_index(first);
	if (histogram_bucket_first(index) != first ||
	    (h->nbuckets && h->bucket[h->nbuckets - 1].index >= index) ||
	    __builtin_add_overflow(h->count, count, &h->count))
		return -EINVAL;
	h->bucket[h->nbuckets++] = (struct histogram_bucket){ index, count };
	return 0;
}

static int read_buckets(struct histogram *h, const json_t *list)
{
	size_t n = json_array_size(list), i;
	int err = json_is_array(list) && n <= HIST_BUCKETS ? 0 : -EINVAL;

	if (err)
		return err;
	h->bucket = calloc(n ?: 1, sizeof(*h->bucket));
	if (!h->bucket)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = read_bucket(h, json_array_get(list, i));
	return err;
}

/* Sum, minimum and maximum are signed in histograms with custom bounds. */
static int read_value(const json_t *o, const char *name, bool is_signed, u64 *value)
{
	const json_t *v = json_object_get(o, name);

	if (is_signed && json_is_integer(v)) {
		*value = json_integer_value(v);
		return 0;
	}
	return saved_number(v, value);
}

/* Sums wider than 64 bits are reals. */
static int read_sum(const json_t *o, bool is_signed, __int128 *sum)
{
	const json_t *v = json_object_get(o, "sum");
	double x = json_real_value(v);
	u64 value;
	int err;

	if (json_is_real(v) && x == floor(x) && fabs(x) < 0x1p126 && (is_signed || x >= 0)) {
		*sum = x;
		return 0;
	}
	err = read_value(o, "sum", is_signed, &value);
	if (!err)
		*sum = is_signed ? (__int128)(s64)value : (__int128)value;
	return err;
}

static int read_histogram(struct histogram *h, const json_t *o)
{
	bool own = !json_object_get(o, "p50");
	u64 count;
	int err = saved_member(o, "count", &count);

	*h = (struct histogram){ .min_exact = true, .max_exact = true };
	if (!err && own) {
		h->bound = own_bounds;
		h->count = count;
	} else if (!err) {
		err = read_buckets(h, json_object_get(o, "buckets"));
	}
	if (!err && h->count != count)
		err = -EINVAL;
	if (!err)
		err = read_sum(o, own, &h->sum);
	if (!err)
		err = read_value(o, "min", own, &h->min);
	if (!err)
		err = read_value(o, "max", own, &h->max);
	if (json_is_false(json_object_get(o, "min_exact")))
		h->min_exact = false;
	if (json_is_false(json_object_get(o, "max_exact")))
		h->max_exact = false;
	/* No value exceeds the maximum, so percentiles end there. */
	if (!err && !own && h->count &&
	    (h->max < histogram_bucket_first(h->bucket[h->nbuckets - 1].index) || h->min > h->max))
		err = -EINVAL;
	return err;
}

static int add_part(struct pair *pair, enum side side, size_t interval, const struct histogram *h)
{
	struct pair_part *part = pair__part(pair, side, interval);

	return part ? histogram__add(&part->hist, h) : -ENOMEM;
}

static int add_group(struct pairs *pairs, enum side side, const struct saved *run, size_t interval, const json_t *o)
{
	const json_t *columns = json_object_get(run->report[interval], "columns");
	struct histogram h = {};
	struct report_row key;
	struct pair *pair;
	int err = saved_fields(&key, json_object_get(o, "key"), columns);

	if (err)
		return err;
	pair = pairs__find(pairs, &key, &err);
	if (!err)
		err = read_histogram(&h, o);
	if (!err && h.count && pair->hist[side].count && !h.bound != !pair->hist[side].bound)
		err = -EINVAL;
	if (!err)
		err = histogram__add(&pair->hist[side], &h);
	if (!err && pairs->apart && !h.bound)
		err = add_part(pair, side, interval, &h);
	if (!err)
		pair->has[side] |= h.count != 0;
	histogram__free(&h);
	return err;
}

int pairs__add_groups(struct pairs *pairs, enum side side, const struct saved *run)
{
	const json_t *list;
	size_t i, k;
	int err;

	for (i = 0; i < run->n; i++) {
		list = saved__list(run, i);
		for (k = 0; k < json_array_size(list); k++) {
			err = add_group(pairs, side, run, i, json_array_get(list, k));
			if (err == -EINVAL)
				saved__wrong(run, i, "a group is malformed, or has other keys");
			if (err)
				return err;
		}
	}
	return 0;
}

/*
 * --- comparing ---------------------------------------------------------------------------------
 */

enum unit saved__unit(const struct saved *run)
{
	if (run->unit && !strcmp(run->unit, unit_name(UNIT_NS)))
		return UNIT_NS;
	return run->unit && !strcmp(run->unit, unit_name(UNIT_BYTES)) ? UNIT_BYTES : UNIT_COUNT;
}

/* by: the difference, as text. Returns an allocated string, or NULL without memory. */
static char *verdict_on_change(double before, double after, const char *by)
{
	char times[32] = "", *text;

	if (before > 0)
		snprintf(times, sizeof(times), ", to %.*f times", after < before ? 3 : 2, after / before);
	if (asprintf(&text, "%s by %s%s", after > before ? "grew" : "shrank", by, times) < 0)
		return NULL;
	return text;
}

/*
 * The verdict on a value before and after. bucketed: at least one of them has only the precision of
 * a bucket. Returns an allocated string, or NULL without memory.
 */
static char *verdict_of(u64 before, u64 after, enum unit unit, bool bucketed)
{
	u64 by = after > before ? after - before : before - after;
	u32 a = hist_index(before), b = hist_index(after);
	char size[UNITS_SPACE];

	if (before == after)
		return strdup("same");
	if (bucketed && (a > b ? a - b : b - a) <= 1)
		return strdup("within a bucket");
	return verdict_on_change(before, after, format_value(size, by, unit, false));
}

struct comparison {
	struct report *report;
	const struct pair *pair;
	enum unit unit;
	const char *unit_text;
};

/* Adds a row with the figure before and after. Takes ownership of verdict. */
static int add_figure(const struct comparison *c, const char *name, const struct field value[SIDES],
		      char *verdict)
{
	const struct pair *p = c->pair;
	struct field unit = { .name = "unit", .machine = true }, said = { .name = "verdict" };
	struct report_row row;
	int err = diff_row__begin(&row, &p->key);

	unit.text = strdup(strcmp(name, "count") ? c->unit_text : "count");
	said.text = verdict;
	if (!unit.text || !verdict)
		err = -ENOMEM;
	if (!err)
		err = report_row__add_text(&row, "figure", name);
	if (!err)
		err = diff_row__add(&row, p->has[BEFORE] ? &value[BEFORE] : NULL,
				    p->has[AFTER] ? &value[AFTER] : NULL);
	if (!err)
		err = report_row__add_field(&row, &unit);
	if (!err)
		unit.text = NULL;
	if (!err)
		err = report_row__add_field(&row, &said);
	if (!err)
		return report__add_row(c->report, &row);
	free(unit.text);
	free(verdict);
	report_row__free(&row);
	return err;
}

static struct field value_field(const struct comparison *c, const struct histogram *h, u64 value)
{
	static const enum field_kind kinds[] = {
		[UNIT_COUNT] = FIELD_NUMBER, [UNIT_NS] = FIELD_DURATION, [UNIT_BYTES] = FIELD_SIZE,
	};

	return (struct field){ .kind = h->bound ? FIELD_SIGNED : kinds[c->unit], .number = value };
}

/* Returns false if one side is missing, or if a histogram has custom bounds. */
static bool has_verdict(const struct comparison *c)
{
	const struct pair *p = c->pair;

	return p->has[BEFORE] && p->has[AFTER] && !p->hist[BEFORE].bound && !p->hist[AFTER].bound;
}

/* bucketed: as in verdict_of(). few: too few values for this percentile. */
static int add_value(const struct comparison *c, const char *name, u64 before, u64 after,
		     bool bucketed, bool few)
{
	const struct histogram *h = c->pair->hist;
	const struct field value[SIDES] = {
		value_field(c, &h[BEFORE], before), value_field(c, &h[AFTER], after),
	};
	char *verdict;

	if (!has_verdict(c))
		verdict = strdup("");
	else if (few)
		verdict = strdup("too few values to tell");
	else
		verdict = verdict_of(before, after, c->unit, bucketed);
	return add_figure(c, name, value, verdict);
}

/*
 * Whether less than one value lies above the percentile in one of the runs, in which case the
 * percentile is simply the maximum.
 */
static bool too_few(const struct pair *p, u32 per_10k)
{
	u64 least = p->hist[BEFORE].count < p->hist[AFTER].count ? p->hist[BEFORE].count
								 : p->hist[AFTER].count;

	return least < 10000 / (10000 - per_10k);
}

static int add_percentiles(const struct comparison *c)
{
	const struct histogram *h = c->pair->hist;
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(report_percentiles) && !err; i++) {
		const struct report_percentile *p = &report_percentiles[i];

		err = add_value(c, p->text, histogram__percentile(&h[BEFORE], p->per_10k),
				histogram__percentile(&h[AFTER], p->per_10k), true,
				too_few(c->pair, p->per_10k));
	}
	return err;
}

/* Averages of counts keep decimals, because a queue of 0.9 tasks differs from one of 0.1. */
static int add_average(const struct comparison *c)
{
	const struct histogram *h = c->pair->hist;
	struct field value[SIDES];
	char by[UNITS_SPACE], *verdict;
	size_t i;

	if (c->unit != UNIT_COUNT)
		return add_value(c, "avg", histogram__average(&h[BEFORE]), histogram__average(&h[AFTER]), false, false);
	for (i = 0; i < SIDES; i++)
		value[i] = (struct field){
			.kind = FIELD_REAL, .decimals = 2, .real = h[i].count ? (double)h[i].sum / h[i].count : 0,
			.exact = h[i].sum, .exact_per = h[i].count,
		};
	if (!has_verdict(c))
		verdict = strdup("");
	else if (value[BEFORE].real == value[AFTER].real)
		verdict = strdup("same");
	else
		verdict = verdict_on_change(value[BEFORE].real, value[AFTER].real,
					    format_real(by, fabs(value[AFTER].real - value[BEFORE].real), 2));
	return add_figure(c, "avg", value, verdict);
}

static int add_pair(const struct comparison *c)
{
	const struct histogram *h = c->pair->hist;
	bool new = !c->pair->has[BEFORE], gone = !c->pair->has[AFTER];
	const struct field count[SIDES] = {
		{ .number = h[BEFORE].count }, { .number = h[AFTER].count },
	};
	int err = add_figure(c, "count", count, strdup(new ? "new" : gone ? "gone" : ""));

	if (!err)
		err = add_average(c);
	if (!err && !h[BEFORE].bound && !h[AFTER].bound)
		err = add_percentiles(c);
	if (!err)
		err = add_value(c, "max", h[BEFORE].max, h[AFTER].max,
				!h[BEFORE].max_exact || !h[AFTER].max_exact, false);
	return err;
}

/* Saturates at UINT64_MAX. */
static u64 distance(__int128 a, __int128 b)
{
	__int128 d = a > b ? a - b : b - a;

	return d > UINT64_MAX ? UINT64_MAX : d;
}

int diff_groups(struct report *r, const struct saved *const run[SIDES], size_t top)
{
	struct comparison c = { r, NULL, saved__unit(run[AFTER]), run[AFTER]->unit ?: "count" };
	struct pairs pairs = {};
	size_t i;
	int err;

	err = pairs__add_groups(&pairs, BEFORE, run[BEFORE]);
	if (!err)
		err = pairs__add_groups(&pairs, AFTER, run[AFTER]);
	for (i = 0; i < pairs.n; i++)
		pairs.pair[i].weight = distance(pairs.pair[i].hist[BEFORE].sum,
						pairs.pair[i].hist[AFTER].sum);
	if (!err)
		pairs__sort(&pairs);
	for (i = 0; i < pairs.n && !err; i++) {
		if (!pairs.pair[i].has[BEFORE] && !pairs.pair[i].has[AFTER])
			continue;
		if (top && i >= top) {
			r->hidden++;
			continue;
		}
		c.pair = &pairs.pair[i];
		err = add_pair(&c);
	}
	if (!err)
		err = diff_row__columns(r, &pairs, true);
	pairs__free(&pairs);
	return err;
}
