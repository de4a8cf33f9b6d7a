/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several rounds say together. No single round is taken for the truth, and no distribution is
 * assumed: the figures are order statistics.
 */
#ifndef TALLY_BENCH_FIGURES_H
#define TALLY_BENCH_FIGURES_H

#include "base/types.h"

struct figures {
	size_t n;
	double median, min, max;
	/*
	 * Between these lies the median of all rounds that could be made, with this probability: at
	 * least 0.95 from six rounds on; of fewer they are the smallest and the largest one.
	 */
	double low, high, confidence;
};

/* Of n values, at least one; sorts them. */
void figures__make(struct figures *f, double *values, size_t n);

/* From the smallest to the largest, in percent of the median. */
double figures__spread_percent(const struct figures *f);

/* Of one state against another one. */
enum verdict {
	VERDICT_TOO_FEW,        /* rounds: of less than FIGURES_FEWEST nothing can be said */
	VERDICT_SAME,           /* low to high overlap: they cannot be told apart */
	VERDICT_MORE,
	VERDICT_LESS,
};

#define FIGURES_FEWEST 5

enum verdict figures__compare(const struct figures *before, const struct figures *after);

#endif /* TALLY_BENCH_FIGURES_H */
