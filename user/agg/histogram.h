/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram in user space: the non-empty buckets of the layout in bpf/lib/hist.h, in ascending
 * order, with count, sum, minimum and maximum. Counts are 64-bit, the sum is exact.
 *
 * Invariants: bucket[] is sorted by index without duplicates or zero counts; count is the sum of
 * the buckets; while count is 0, min, max and sum are 0.
 */
#ifndef TALLY_AGG_HISTOGRAM_H
#define TALLY_AGG_HISTOGRAM_H

#include "base/types.h"

#include "bpf/lib/hist.h"

/*
 * A histogram may have its own bounds: bucket i contains values in [bound[i - 1], bound[i]), the first
 * bucket all values below, the last one all above. Values, minimum, maximum and sum are then signed
 * (two's complement), and buckets are too coarse for percentiles.
 */
struct histogram_bucket {
	u32 index;
	u64 count;
};

struct histogram {
	u64 count;
	__int128 sum;
	u64 min;
	u64 max;
	bool min_exact;         /* false: min is a lower bound, max an upper bound, each at most */
	bool max_exact;         /* one bucket (6.25 %) off; see histogram__difference() */
	size_t nbuckets;
	struct histogram_bucket *bucket;
	const s64 *bound;       /* ascending, borrowed; NULL: the layout of bpf/lib/hist.h */
	size_t nbounds;
};

/* Totals of the counted values over several elements. min_inv: as in struct hist_totals. */
struct histogram_totals {
	__int128 sum;
	u64 max;
	u64 min_inv;
};

/* Smallest and largest value of a bucket, both inclusive. */
u64 histogram__first(const struct histogram *h, u32 index);
u64 histogram__last(const struct histogram *h, u32 index);

/* Like the above, for the layout of bpf/lib/hist.h. */
u64 histogram_bucket_first(u32 index);
u64 histogram_bucket_last(u32 index);

void histogram__free(struct histogram *h);

/*
 * Sets the bounds. Converts minimum and maximum, which the kernel keeps as value ^ 2^63 so that it
 * can compare them unsigned.
 */
void histogram__set_bounds(struct histogram *h, const s64 *bound, size_t nbounds);

/*
 * Makes *h from dense counts: counts[i] belongs to bucket first + i. Returns 0, or -ENOMEM with *h
 * untouched.
 */
int histogram__init(struct histogram *h, const u64 *counts, u32 first, u32 n,
		    const struct histogram_totals *totals);

/* Multiplies the count of each bucket and the sum, and rounds them. by: at least 1. */
void histogram__scale(struct histogram *h, double by);

/* Adds other to h, exactly. Returns 0, or -ENOMEM with h untouched. */
int histogram__add(struct histogram *h, const struct histogram *other);

/*
 * The difference of two snapshots of a cumulative histogram: *out = later - earlier.
 *
 * Count, sum and buckets are exact. The maximum is exact if the interval set a new one; otherwise it is the upper end
 * of the highest bucket that grew (max_exact is false). The same applies to the minimum. A value whose bucket was not
 * counted yet at the time of the read is also excluded from the sum: it is subtracted from later, so it appears in the
 * next difference. Returns 0, -ENOMEM, or -EINVAL if earlier is not an earlier state of later.
 */
int histogram__difference(struct histogram *out, struct histogram *later,
			  const struct histogram *earlier);

/*
 * Returns the value at or below which per_10k / 10000 of the values lie (nearest rank: the smallest
 * value whose rank is at least ceil(count * per_10k / 10000); 5000 is the median). Exact below 32,
 * otherwise at most 6.25 % above the true value, never above max. 0 without values.
 */
u64 histogram__percentile(const struct histogram *h, u32 per_10k);

/* sum / count, 0 without values; signed if the values are. */
u64 histogram__average(const struct histogram *h);

/* Regroups by powers of two: row 0 counts the value 0, row e + 1 values in [2^e, 2^(e+1)). */
#define HISTOGRAM_POWER_ROWS 65
void histogram__by_power(const struct histogram *h, u64 rows[HISTOGRAM_POWER_ROWS]);

#endif /* TALLY_AGG_HISTOGRAM_H */
