/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds of histogram buckets, as typed. Numbers are those of expr/expr.h, with an optional sign:
 * 100, -5, 4K, 10ms. Each function makes an increasing list: bucket 0 is below the first bound, and
 * the last bucket begins at the last bound.
 *
 * The functions return 0, in which case the caller frees *bounds, or -EINVAL (-ENOMEM) after
 * describing the fault of the text in *c.
 */
#ifndef TALLY_PROBE_BOUNDS_H
#define TALLY_PROBE_BOUNDS_H

#include "base/complaint.h"
#include "base/types.h"

struct bounds {
	s64 *bound;
	size_t n;
};

#define BOUNDS_MOST 900         /* of the 976 buckets available (bpf/lib/hist.h) */

/* Parses "FROM:TO:STEP": bounds from FROM to TO inclusive. */
int bounds__linear(struct bounds *b, const char *text, struct complaint *c);

/* Parses "N": bounds 0, 1, N, N * N and so on, up to 2^63. */
int bounds__powers(struct bounds *b, const char *text, struct complaint *c);

/* Parses "100 1000 10ms": bounds separated by blanks or commas. */
int bounds__list(struct bounds *b, const char *text, struct complaint *c);

void bounds__free(struct bounds *b);

#endif /* TALLY_PROBE_BOUNDS_H */
