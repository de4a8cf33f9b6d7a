/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the text report, for writers that replace the histograms: heat maps. */
#ifndef TALLY_OUT_TEXT_H
#define TALLY_OUT_TEXT_H

#include "report/report.h"

/* Value, duration and source. */
void text_put_header(struct writer *w, const struct report *r);

/* A line: "pid 123 nginx  cpu 3". */
void text_put_key(struct writer *w, const struct field *key, size_t n);

/* Count, extremes, average, percentiles. */
void text_put_figures(struct writer *w, const struct report *r, const struct histogram *h);

/* loss_sentence() for this report, where missed samples have their own reasons. */
const char *text_loss_sentence(const struct report *r, enum loss_reason reason);

/* "lost 3  inexact 1"; the second only if nonzero. */
void text_put_lost(FILE *f, const struct loss_counters *c);

/*
 * The rows, in columns as wide as their widest cell. On a terminal, figures have three digits and a fitting unit, texts
 * are cut, and columns and rows that do not fit are left out, which a line below reports. Returns 0 or -ENOMEM.
 */
int text_put_table(struct writer *w, const struct report *r);

/*
 * Heading of a column: "hit_percent" becomes "hit%", "max_at" becomes "max at". Allocated; NULL: no
 * memory.
 */
char *text_heading(const char *name);

/* Number of events, losses and their reasons. */
void text_put_footer(struct writer *w, const struct report *r);

#endif /* TALLY_OUT_TEXT_H */
