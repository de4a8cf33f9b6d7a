// SPDX-License-Identifier: BSD-2-Clause
#include "agg/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

u64 histogram_bucket_first(u32 index)
{
	u32 row = index >> HIST_SUB_BITS, sub = index & (HIST_SUB - 1);

	if (!row)
		return sub;
	return (u64)(HIST_SUB + sub) << (row - 1);
}

u64 histogram_bucket_last(u32 index)
{
	if (index >= HIST_BUCKETS - 1)
		return UINT64_MAX;
	return histogram_bucket_first(index + 1) - 1;
}

u64 histogram__first(const struct histogram *h, u32 index)
{
	if (!h->bound)
		return histogram_bucket_first(index);
	return index ? h->bound[index - 1] : INT64_MIN;
}

u64 histogram__last(const struct histogram *h, u32 index)
{
	if (!h->bound)
		return histogram_bucket_last(index);
	return index < h->nbounds ? h->bound[index] - 1 : INT64_MAX;
}

/* Maps signed values to unsigned numbers in the same order, and back. */
static u64 ordered(const struct histogram *h, u64 value)
{
	return h->bound ? value ^ 1ULL << 63 : value;
}

void histogram__set_bounds(struct histogram *h, const s64 *bound, size_t nbounds)
{
	h->bound = bound;
	h->nbounds = nbounds;
	if (h->count) {
		h->min = ordered(h, h->min);
		h->max = ordered(h, h->max);
	}
}

void histogram__free(struct histogram *h)
{
	free(h->bucket);
	memset(h, 0, sizeof(*h));
}

int histogram__init(struct histogram *h, const u64 *counts, u32 first, u32 n,
		    const struct histogram_totals *totals)
{
	struct histogram new = {};
	u32 i;

	for (i = 0; i < n; i++)
		new.nbuckets += counts[i] != 0;
	if (new.nbuckets) {
		new.bucket = calloc(new.nbuckets, sizeof(*new.bucket));
		if (!new.bucket)
			return -ENOMEM;
		new.sum = totals->sum;
		new.min = ~totals->min_inv;
		new.max = totals->max;
		new.min_exact = new.max_exact = true;
	}
	new.nbuckets = 0;
	for (i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		new.count += counts[i];
		new.bucket[new.nbuckets++] = (struct histogram_bucket){ first + i, counts[i] };
	}
	*h = new;
	return 0;
}

void histogram__scale(struct histogram *h, double by)
{
	size_t i;

	h->count = 0;
	for (i = 0; i < h->nbuckets; i++) {
		h->bucket[i].count = h->bucket[i].count * by + 0.5;
		h->count += h->bucket[i].count;
	}
	h->sum = h->sum * by;
}

int histogram__add(struct histogram *h, const struct histogram *other)
{
	const struct histogram_bucket *a = h->bucket, *b = other->bucket;
	const struct histogram_bucket *a_end, *b_end;
	struct histogram_bucket *sum, *out;

	if (!other->count)
		return 0;
	sum = calloc(h->nbuckets + other->nbuckets, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	a_end = a ? a + h->nbuckets : a;        /* bucket may be NULL */
	b_end = b ? b + other->nbuckets : b;
	for (out = sum; a < a_end || b < b_end; out++) {
		if (b == b_end || (a < a_end && a->index < b->index)) {
			*out = *a++;
		} else if (a == a_end || b->index < a->index) {
			*out = *b++;
		} else {
			*out = *a++;
			out->count += b++->count;
		}
	}
	if (!h->count)
		histogram__set_bounds(h, other->bound, other->nbounds);
	if (!h->count || ordered(h, other->min) < ordered(h, h->min)) {
		h->min = other->min;
		h->min_exact = other->min_exact;
	}
	if (!h->count || ordered(h, other->max) > ordered(h, h->max)) {
		h->max = other->max;
		h->max_exact = other->max_exact;
	}
	h->count += other->count;
	h->sum += other->sum;
	free(h->bucket);
	h->bucket = sum;
	h->nbuckets = out - sum;
	return 0;
}

/*
 * Sets minimum and maximum of d = later - earlier. A new extreme belongs to this interval, unless its bucket had not
 * been counted at the time of the read. For a bucket of one value, the bound is exact.
 */
static void find_extremes(struct histogram *d, const struct histogram *later,
			  const struct histogram *earlier)
{
	u64 lowest = histogram__first(d, d->bucket[0].index);
	u64 highest = histogram__last(d, d->bucket[d->nbuckets - 1].index);
	u64 min = ordered(d, later->min), first = ordered(d, lowest);
	u64 max = ordered(d, later->max), last = ordered(d, highest);

	d->min_exact = !earlier->count || min < ordered(d, earlier->min);
	d->min = d->min_exact || min > first ? later->min : lowest;
	if (ordered(d, d->min) < first) {
		d->min = lowest;
		d->min_exact = false;
	}
	d->max_exact = !earlier->count || max > ordered(d, earlier->max);
	d->max = d->max_exact || max < last ? later->max : highest;
	if (ordered(d, d->max) > last) {
		d->max = highest;
		d->max_exact = false;
	}
	d->min_exact |= lowest == histogram__last(d, d->bucket[0].index);
	d->max_exact |= highest == histogram__first(d, d->bucket[d->nbuckets - 1].index);
}

static __int128 wide(const struct histogram *h, u64 value)
{
	return h->bound ? (__int128)(s64)value : (__int128)value;
}

/*
 * Limits the sum to the range that the buckets allow. The kernel adds a value to the sum before it counts the bucket,
 * and the read may have been in between.
 */
static __int128 bounded_sum(const struct histogram *d, __int128 sum)
{
	__int128 low = 0, high = 0;
	u64 first, last;
	size_t i;

	for (i = 0; i < d->nbuckets; i++) {
		first = histogram__first(d, d->bucket[i].index);
		last = histogram__last(d, d->bucket[i].index);
		if (ordered(d, first) < ordered(d, d->min))
			first = d->min;
		if (ordered(d, last) > ordered(d, d->max))
			last = d->max;
		low += wide(d, first) * d->bucket[i].count;
		high += wide(d, last) * d->bucket[i].count;
	}
	if (sum < low)
		return low;
	return sum > high ? high : sum;
}

int histogram__difference(struct histogram *out, struct histogram *later,
			  const struct histogram *earlier)
{
	const struct histogram_bucket *e = earlier->bucket, *e_end = e + earlier->nbuckets;
	struct histogram d = {};
	size_t i;

	d.bucket = calloc(later->nbuckets ?: 1, sizeof(*d.bucket));
	if (!d.bucket)
		return -ENOMEM;
	for (i = 0; i < later->nbuckets; i++) {
		struct histogram_bucket b = later->bucket[i];

		if (e < e_end && e->index < b.index)
			goto invalid;           /* a bucket disappeared */
		if (e < e_end && e->index == b.index) {
			if (e->count > b.count)
				goto invalid;
			b.count -= e++->count;
		}
		if (b.count) {
			d.bucket[d.nbuckets++] = b;
			d.count += b.count;
		}
	}
	if (e < e_end)
		goto invalid;
	d.bound = later->bound;
	d.nbounds = later->nbounds;
	if (d.count) {
		find_extremes(&d, later, earlier);
		d.sum = bounded_sum(&d, later->sum - earlier->sum);
	}
	later->sum = earlier->sum + d.sum;
	*out = d;
	return 0;
invalid:
	free(d.bucket);
	return -EINVAL;
}

u64 histogram__percentile(const struct histogram *h, u32 per_10k)
{
	unsigned __int128 rank = ((unsigned __int128)h->count * per_10k + 9999) / 10000;
	unsigned __int128 seen = 0;
	size_t i;
	u64 v;

	if (!h->count)
		return 0;
	if (!rank)
		return h->min;
	for (i = 0; i < h->nbuckets; i++) {
		seen += h->bucket[i].count;
		if (seen >= rank) {
			v = histogram__last(h, h->bucket[i].index);
			return ordered(h, v) > ordered(h, h->max) ? h->max : v;
		}
	}
	return h->max;
}

u64 histogram__average(const struct histogram *h)
{
	return h->count ? h->sum / (__int128)h->count : 0;
}

void histogram__by_power(const struct histogram *h, u64 rows[HISTOGRAM_POWER_ROWS])
{
	size_t i;
	u64 first;

	memset(rows, 0, HISTOGRAM_POWER_ROWS * sizeof(*rows));
	for (i = 0; i < h->nbuckets; i++) {
		first = histogram_bucket_first(h->bucket[i].index);
		rows[first ? 64 - __builtin_clzll(first) : 0] += h->bucket[i].count;
	}
}
