/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a report as text, for what draws the histograms in another way: heat maps. */
#ifndef TALLY_OUT_TEXT_H
#define TALLY_OUT_TEXT_H

#include "report/report.h"

/* What was measured, for how long, from which source. */
void text_put_header(struct writer *w, const struct report *r);

/* A line: "pid 123 nginx  cpu 3". */
void text_put_key(struct writer *w, const struct field *key, size_t n);

/* Count, extremes, average, percentiles. */
void text_put_figures(struct writer *w, const struct report *r, const struct histogram *h);

/* "lost 3  inexact 1": the second only where there are any. */
void text_put_lost(FILE *f, const struct loss_counters *c);

/* How many events, how many lost and why. */
void text_put_footer(struct writer *w, const struct report *r);

#endif /* TALLY_OUT_TEXT_H */
