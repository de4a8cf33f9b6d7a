/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums that do not end at 2^64: the kernel adds up values, of which it keeps 64 bits, and beside them
 * their upper halves (wide.bpf.h). user/agg/wide.h makes one number of both.
 */
#ifndef TALLY_WIDE_H
#define TALLY_WIDE_H

/* What of a value is added to the second sum: it is shifted right by 32, with its sign if it has one. */
static inline __attribute__((always_inline)) __u64 wide_high(__u64 value, int is_signed)
{
	return is_signed ? (__u64)((__s64)value >> 32) : value >> 32;
}

#endif /* TALLY_WIDE_H */
