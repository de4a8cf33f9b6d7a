/* SPDX-License-Identifier: BSD-2-Clause */
/* Repeated measurements of one value: their mean, and its standard error. */
#ifndef TALLY_COUNT_SERIES_H
#define TALLY_COUNT_SERIES_H

#include "base/types.h"

/* Welford's running mean and sum of squares (Technometrics 4, 1962): stable for large values. */
struct series {
	u64 n;
	double mean, squares;
};

void series__add(struct series *s, double value);

/*
 * The standard error of the mean, sqrt(variance / n) with n - 1 degrees of freedom, relative to the
 * mean, in percent. 0 for fewer than two values, or a mean of 0.
 */
double series__relative_error(const struct series *s);

#endif /* TALLY_COUNT_SERIES_H */
