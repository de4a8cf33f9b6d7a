// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/figures.h"

#include <math.h>
#include <stdlib.h>

#define CONFIDENCE 0.95

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The median is outside the range from the k-th smallest to the k-th largest of n values if fewer
 * than k of them are on one side of it: a binomial distribution with p = 1/2. Returns the largest k
 * whose interval still has the confidence; at least 1.
 */
static size_t find_interval(size_t n, double *confidence)
{
	double term = pow(0.5, n), below = term, next;
	size_t k = 1;

	for (;;) {
		term *= (double)(n - k + 1) / k;
		next = below + term;
		if (1 - 2 * next < CONFIDENCE)
			break;
		below = next;
		k++;
	}
	*confidence = 1 - 2 * below;
	return k;
}

void figures__make(struct figures *f, double *values, size_t n)
{
	size_t k;

	qsort(values, n, sizeof(*values), compare);
	*f = (struct figures){
		.n = n,
		.median = (values[(n - 1) / 2] + values[n / 2]) / 2,
		.min = values[0],
		.max = values[n - 1],
	};
	k = find_interval(n, &f->confidence);
	f->low = values[k - 1];
	f->high = values[n - k];
}

double figures__spread_percent(const struct figures *f)
{
	return f->median > 0 ? 100 * (f->max - f->min) / f->median : 0;
}

enum verdict figures__compare(const struct figures *before, const struct figures *after)
{
	if (before->n < FIGURES_FEWEST || after->n < FIGURES_FEWEST)
		return VERDICT_TOO_FEW;
	if (after->low > before->high)
		return VERDICT_MORE;
	return after->high < before->low ? VERDICT_LESS : VERDICT_SAME;
}
