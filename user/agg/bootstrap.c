// SPDX-License-Identifier: BSD-2-Clause
#include "agg/bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * --- Student's t -------------------------------------------------------------------------------
 */

/* Evaluates the continued fraction of the incomplete beta function (Abramowitz, Stegun, 26.5.8), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), f, by, m;
	int i, odd;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	f = d;
	for (i = 2; i < 1000; i++) {
		m = i / 2;
		odd = i & 1;
		by = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
			 : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + by * d;
		c = 1 + by / c;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = fabs(c) < 1e-300 ? 1e-300 : c;
		f *= c * d;
		if (fabs(c * d - 1) < 1e-14)
			break;
	}
	return f;
}

/*
 * Computes the regularized incomplete beta function, for x where the fraction converges: x < (a + 1) / (a + b + 2). y
 * is 1 - x.
 */
static double beta_part(double a, double b, double x, double y)
{
	int sign;

	if (x <= 0)
		return 0;
	return exp(a * log(x) + b * log(y) + lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign)) *
	       beta_fraction(a, b, x) / a;
}

double student_tails(double t, double freedom)
{
	double x = freedom / (freedom + t * t), y = t * t / (freedom + t * t), a = freedom / 2;

	if (isinf(t))
		return 0;
	return x < (a + 1) / (a + 2.5) ? beta_part(a, 0.5, x, y) : 1 - beta_part(0.5, a, y, x);
}

double student_bound(double tails, double freedom)
{
	double low = 0, high = 1, middle;
	int i;

	while (student_tails(high, freedom) > tails && high < 1e12)
		high *= 2;
	for (i = 0; i < 60; i++) {
		middle = (low + high) / 2;
		if (student_tails(middle, freedom) > tails)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * --- drawing -----------------------------------------------------------------------------------
 */

size_t bootstrap__block(size_t n)
{
	return n ? lround(1.5 * cbrt(n)) : 0;
}

/* Draws a number below n, by splitmix64 (Steele, Lea, Flood, 2014). The sequence is the same each time. */
static size_t draw(u64 *state, size_t n)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (unsigned __int128)(z ^ z >> 31) * n >> 64;
}

/* Prefix sums of columns over intervals: row i is the sum of the i intervals before it. */
struct sums {
	double *sum;
	size_t n, columns;      /* n intervals */
};

static int sums__init(struct sums *s, size_t n, size_t columns)
{
	*s = (struct sums){ .n = n, .columns = columns };
	if (n + 1 > SIZE_MAX / sizeof(double) / (columns ?: 1))
		return -ENOMEM;
	s->sum = calloc((n + 1) * (columns ?: 1), sizeof(double));
	return s->sum ? 0 : -ENOMEM;
}

static double *sums__row(const struct sums *s, size_t i)
{
	return s->sum + i * s->columns;
}

/* Turns rows into prefix sums; row i + 1 holds the numbers of interval i. */
static void sums__add_up(struct sums *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->columns; k++)
			sums__row(s, i + 1)[k] += sums__row(s, i)[k];
}

/* Adds count intervals, beginning with first. After the last interval, continues with interval 0. */
static void add_block(const struct sums *s, double *total, size_t first, size_t count)
{
	size_t end = first + count, k;
	const double *from = sums__row(s, first), *to = sums__row(s, end < s->n ? end : s->n), *all;

	for (k = 0; k < s->columns; k++)
		total[k] += to[k] - from[k];
	if (end <= s->n)
		return;
	all = sums__row(s, end - s->n);
	for (k = 0; k < s->columns; k++)
		total[k] += all[k];
}

/* Draws blocks with n intervals in all, and returns their sums. */
static void resample(const struct sums *s, u64 *state, double *total)
{
	size_t block = bootstrap__block(s->n), left = s->n, count;

	memset(total, 0, s->columns * sizeof(*total));
	for (; left; left -= count) {
		count = left < block ? left : block;
		add_block(s, total, draw(state, s->n), count);
	}
}

/*
 * --- figures -----------------------------------------------------------------------------------
 */

/* Mean and variance of a figure over the resamples. Resamples without a value do not count. */
struct spread {
	double mean, squares;   /* by Welford's method */
	size_t n;
};

static void spread__add(struct spread *s, double value)
{
	double by = value - s->mean;

	s->mean += by / ++s->n;
	s->squares += by * (value - s->mean);
}

static int take_spread(struct bootstrap_figure *figure, const struct spread *s, size_t n)
{
	double block = bootstrap__block(n);

	if (s->n < BOOTSTRAP_RESAMPLES / 2 || n < 2 * block)
		return -ENODATA;
	figure->variance = s->squares / (s->n - 1) * n / (n - block);
	figure->freedom = n / block - 1;
	return isfinite(figure->variance) ? 0 : -ENODATA;
}

int bootstrap__quotient(struct bootstrap_figure *figure, const double *of, const double *per, size_t n)
{
	struct spread spread = {};
	struct sums sums;
	double total[2];
	u64 state = 0;
	size_t i;
	int err = sums__init(&sums, n, 2);

	if (err)
		return err;
	for (i = 0; i < n; i++) {
		sums__row(&sums, i + 1)[0] = of[i];
		sums__row(&sums, i + 1)[1] = per[i];
	}
	sums__add_up(&sums);
	figure->value = sums__row(&sums, n)[0] / sums__row(&sums, n)[1];
	if (!isfinite(figure->value))
		err = -ENODATA;
	for (i = 0; i < BOOTSTRAP_RESAMPLES && !err; i++) {
		resample(&sums, &state, total);
		if (isfinite(total[0] / total[1]))
			spread__add(&spread, total[0] / total[1]);
	}
	free(sums.sum);
	return err ?: take_spread(figure, &spread, n);
}

/* All buckets that occur in any of the histograms, ascending, as columns. */
struct buckets {
	u32 *index;
	size_t n;
	u64 max;
};

static int buckets__init(struct buckets *b, const struct histogram *h, size_t n)
{
	u8 *seen = calloc(HIST_BUCKETS, 1);
	size_t i, k;
	int err = seen ? 0 : -ENOMEM;

	*b = (struct buckets){};
	for (i = 0; i < n && !err; i++) {
		for (k = 0; k < h[i].nbuckets; k++)
			seen[h[i].bucket[k].index] = 1;
		b->max = h[i].max > b->max ? h[i].max : b->max;
	}
	for (i = 0; i < HIST_BUCKETS && !err; i++)
		if (seen[i])
			err = ARRAY_APPEND(b->index, b->n, i);
	free(seen);
	return err;
}

static void fill(struct sums *sums, const struct buckets *b, const struct histogram *h)
{
	size_t i, k, column;

	for (i = 0; i < sums->n; i++)
		for (k = column = 0; k < h[i].nbuckets; k++) {
			while (b->index[column] != h[i].bucket[k].index)
				column++;
			sums__row(sums, i + 1)[column] = h[i].bucket[k].count;
		}
	sums__add_up(sums);
}

/* Returns the percentile of counts by column; negative if all counts are zero. */
static double percentile(const struct buckets *b, const double *count, u32 per_10k)
{
	double all = 0, rank, below = 0;
	size_t i;
	u64 last;

	for (i = 0; i < b->n; i++)
		all += count[i];
	rank = ceil(all * per_10k / 10000);
	for (i = 0; i < b->n && all > 0; i++) {
		below += count[i];
		if (below < rank || below <= 0)
			continue;
		last = histogram_bucket_last(b->index[i]);
		return last < b->max ? last : b->max;
	}
	return -1;
}

static int spread_percentiles(struct bootstrap_figure *figure, const u32 *per_10k, size_t npercentiles,
			      const struct sums *sums, const struct buckets *b)
{
	struct spread *spread = calloc(npercentiles, sizeof(*spread));
	double *total = calloc(b->n ?: 1, sizeof(*total)), value;
	int err = spread && total ? 0 : -ENOMEM;
	u64 state = 0;
	size_t i, k;

	for (i = 0; i < BOOTSTRAP_RESAMPLES && !err; i++) {
		resample(sums, &state, total);
		for (k = 0; k < npercentiles; k++) {
			value = percentile(b, total, per_10k[k]);
			if (value >= 0)
				spread__add(&spread[k], value);
		}
	}
	for (k = 0; k < npercentiles && !err; k++) {
		figure[k].value = percentile(b, sums__row(sums, sums->n), per_10k[k]);
		err = figure[k].value < 0 ? -ENODATA : take_spread(&figure[k], &spread[k], sums->n);
	}
	free(spread);
	free(total);
	return err;
}

int bootstrap__percentiles(struct bootstrap_figure *figure, const u32 *per_10k, size_t npercentiles,
			   const struct histogram *h, size_t n)
{
	struct buckets buckets;
	struct sums sums = {};
	int err = buckets__init(&buckets, h, n);

	if (!err)
		err = sums__init(&sums, n, buckets.n);
	if (!err) {
		fill(&sums, &buckets, h);
		err = spread_percentiles(figure, per_10k, npercentiles, &sums, &buckets);
	}
	free(sums.sum);
	free(buckets.index);
	return err;
}

/*
 * --- comparing ---------------------------------------------------------------------------------
 */

/* Differences below this are within the rounding errors of the sums. */
#define SAME 1e-9

static double welch(double a, double b, const struct bootstrap_figure *before, const struct bootstrap_figure *after)
{
	double sum = a + b;

	if (sum <= 0 || !isfinite(sum))
		return fmin(before->freedom, after->freedom);
	a /= sum;
	b /= sum;
	return 1 / (a * a / before->freedom + b * b / after->freedom);
}

static double probability(double difference, const struct bootstrap_change *c)
{
	double beyond = fabs(difference) - c->grain;

	if (beyond <= SAME * (c->logarithmic ? 1 : fabs(difference)))
		return 1;
	return c->error > 0 ? student_tails(beyond / c->error, c->freedom) : 0;
}

static void compare_logarithms(struct bootstrap_change *c, const struct bootstrap_figure *before,
			       const struct bootstrap_figure *after, double grain)
{
	double a = before->variance / (before->value * before->value), by;
	double b = after->variance / (after->value * after->value), d = log(after->value / before->value);

	*c = (struct bootstrap_change){ .change = expm1(d), .error = sqrt(a + b), .grain = grain, .logarithmic = true };
	c->freedom = welch(a, b, before, after);
	by = student_bound(BOOTSTRAP_LEVEL, c->freedom) * c->error + grain;
	c->low = expm1(d - by);
	c->high = expm1(d + by);
	c->p = probability(d, c);
}

static void compare_differences(struct bootstrap_change *c, const struct bootstrap_figure *before,
				const struct bootstrap_figure *after)
{
	double d = after->value - before->value, size = fabs(before->value), by;

	*c = (struct bootstrap_change){ .error = sqrt(before->variance + after->variance), .low = NAN, .high = NAN };
	c->freedom = welch(before->variance, after->variance, before, after);
	c->change = d == 0 ? 0 : d / size;
	c->p = probability(d, c);
	if (size == 0 || after->value == 0)
		return;
	by = student_bound(BOOTSTRAP_LEVEL, c->freedom) * c->error;
	c->low = (d - by) / size;
	c->high = (d + by) / size;
}

void bootstrap__compare(struct bootstrap_change *change, const struct bootstrap_figure *before,
			const struct bootstrap_figure *after, double grain)
{
	if (before->value > 0 && after->value > 0)
		compare_logarithms(change, before, after, grain);
	else
		compare_differences(change, before, after);
}

double bootstrap__reach(const struct bootstrap_change *change, double level)
{
	if (!change->logarithmic)
		return NAN;
	return expm1(student_bound(level, change->freedom) * change->error + change->grain);
}

static int by_p(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	return *x < *y ? -1 : *x > *y;
}

int bootstrap__holm(double *p, size_t n)
{
	double **order = calloc(n ?: 1, sizeof(*order)), least = 0;
	size_t i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		order[i] = &p[i];
	qsort(order, n, sizeof(*order), by_p);
	for (i = 0; i < n; i++) {
		least = fmax(least, fmin(1, *order[i] * (n - i)));
		*order[i] = least;
	}
	free(order);
	return 0;
}
