/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of several rounds. No distribution is assumed, so all figures are order statistics. */
#ifndef TALLY_BENCH_FIGURES_H
#define TALLY_BENCH_FIGURES_H

#include "base/types.h"

struct figures {
	size_t n;
	double median, min, max;
	/*
	 * The interval that contains the true median with this probability: at least 0.95 from six
	 * rounds on; with fewer rounds, the minimum and the maximum.
	 */
	double low, high, confidence;
};

/* Computes the figures of n values, at least one; sorts them. */
void figures__make(struct figures *f, double *values, size_t n);

/* The range from minimum to maximum, in percent of the median. */
double figures__spread_percent(const struct figures *f);

/* Compares one state with another one. */
enum verdict {
	VERDICT_TOO_FEW,        /* fewer than FIGURES_FEWEST rounds: no conclusion is possible */
	VERDICT_SAME,           /* the intervals low to high overlap: no difference is visible */
	VERDICT_MORE,
	VERDICT_LESS,
};

#define FIGURES_FEWEST 5

enum verdict figures__compare(const struct figures *before, const struct figures *after);

#endif /* TALLY_BENCH_FIGURES_H */
