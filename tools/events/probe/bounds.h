/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds of a histogram's buckets as they are typed. Numbers are those of expr.h, a sign in front:
 * 100, -5, 4K, 10ms. Each makes a rising list: bucket 0 is below the first, the last one at and
 * above the last.
 *
 * Return 0 with *bounds to be freed, or -EINVAL (-ENOMEM) with *c about the text.
 */
#ifndef TALLY_PROBE_BOUNDS_H
#define TALLY_PROBE_BOUNDS_H

#include "base/complaint.h"
#include "base/types.h"

struct bounds {
	s64 *bound;
	size_t n;
};

#define BOUNDS_MOST 900         /* of the 976 buckets that there are (bpf/lib/hist.h) */

/* "FROM:TO:STEP": from FROM to TO, both included. */
int bounds__linear(struct bounds *b, const char *text, struct complaint *c);

/* "N": 0, 1, N, N * N and so on, up to 2^63. */
int bounds__powers(struct bounds *b, const char *text, struct complaint *c);

/* "100 1000 10ms", with blanks or commas between. */
int bounds__list(struct bounds *b, const char *text, struct complaint *c);

void bounds__free(struct bounds *b);

#endif /* TALLY_PROBE_BOUNDS_H */
