/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums that do not wrap at 2^64: the kernel sums the values modulo 2^64 and, separately, their upper halves
 * (wide.bpf.h). user/agg/wide.h combines the two sums.
 */
#ifndef TALLY_WIDE_H
#define TALLY_WIDE_H

/* The part of a value for the second sum: the value shifted right by 32, arithmetically if signed. */
static inline __attribute__((always_inline)) __u64 wide_high(__u64 value, int is_signed)
{
	return is_signed ? (__u64)((__s64)value >> 32) : value >> 32;
}

#endif /* TALLY_WIDE_H */
