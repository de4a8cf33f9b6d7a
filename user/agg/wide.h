/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact sums of 64-bit values, which the kernel keeps as two sums (bpf/lib/wide.h). */
#ifndef TALLY_AGG_WIDE_H
#define TALLY_AGG_WIDE_H

#include "base/types.h"

/*
 * The kernel keeps the sum of the values, modulo 2^64, and the sum of their upper halves. Their
 * difference is the sum of the lower halves: below 2^63 for 2^31 events per CPU, and twice that if
 * unsigned. A signed value already in the first sum but not yet in the second can make the
 * difference negative.
 */
static inline __int128 wide_sum(u64 sum, u64 sum_high, bool is_signed)
{
	u64 low = sum - (sum_high << 32);

	if (is_signed)
		return (__int128)(s64)sum_high * (1LL << 32) + (s64)low;
	return ((__int128)sum_high << 32) + low;
}

/* Whether the sum fits into 64 bits. */
static inline bool wide_fits(__int128 sum, bool is_signed)
{
	return is_signed ? sum == (s64)sum : sum == (__int128)(u64)sum;
}

/* For 64-bit counters that saturate: UINT64_MAX means UINT64_MAX or more. */
static inline void add_saturating(u64 *to, u64 n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT64_MAX;
}

#endif /* TALLY_AGG_WIDE_H */
