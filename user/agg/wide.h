/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of 64-bit values, exact: what the kernel keeps as two (bpf/lib/wide.h). */
#ifndef TALLY_AGG_WIDE_H
#define TALLY_AGG_WIDE_H

#include "base/types.h"

/*
 * The kernel adds up values, of which it keeps 64 bits, and their upper halves. What the lower halves
 * add up to is the difference: below 2^63 for 2^31 events on a CPU, whatever they are, and twice that
 * without a sign. A value with a sign that is in the first sum already, and not yet in the second,
 * makes it negative.
 */
static inline __int128 wide_sum(u64 sum, u64 sum_high, bool is_signed)
{
	u64 low = sum - (sum_high << 32);

	if (is_signed)
		return (__int128)(s64)sum_high * (1LL << 32) + (s64)low;
	return ((__int128)sum_high << 32) + low;
}

/* Do 64 bits hold it? */
static inline bool wide_fits(__int128 sum, bool is_signed)
{
	return is_signed ? sum == (s64)sum : sum == (__int128)(u64)sum;
}

/* Where there is no room for more than 64 bits: UINT64_MAX stands for it and for all that is larger. */
static inline void add_saturating(u64 *to, u64 n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT64_MAX;
}

#endif /* TALLY_AGG_WIDE_H */
