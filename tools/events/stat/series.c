// SPDX-License-Identifier: BSD-2-Clause
#include "events/stat/series.h"

#include <math.h>

void series__add(struct series *s, double value)
{
	double distance = value - s->mean;

	s->n++;
	s->mean += distance / s->n;
	s->squares += distance * (value - s->mean);
}

double series__relative_error(const struct series *s)
{
	if (s->n < 2 || s->mean == 0)
		return 0;
	return 100 * sqrt(s->squares / (s->n - 1) / s->n) / fabs(s->mean);
}
