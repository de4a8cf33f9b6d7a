/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds to a 128-bit sum (wide.h). */
#ifndef TALLY_WIDE_BPF_H
#define TALLY_WIDE_BPF_H

#include "compat.bpf.h"
#include "wide.h"

/* is_alone: nothing else can write n at the same time, on any CPU. */
static __always_inline void add_to(u64 *n, u64 value, bool is_alone)
{
	if (is_alone)
		*n += value;
	else
		__sync_fetch_and_add(n, value);
}

/*
 * Kernels before 5.12 have no atomic add that returns the old value, so no carry is available. For most values the
 * upper half is zero and costs only a branch.
 */
static __always_inline void wide_add(u64 *sum, u64 *sum_high, u64 value, bool is_signed, bool is_alone)
{
	u64 high = wide_high(value, is_signed);

	add_to(sum, value, is_alone);
	if (high)
		add_to(sum_high, high, is_alone);
}

#endif /* TALLY_WIDE_BPF_H */
