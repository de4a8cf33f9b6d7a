/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the text report, for writers that replace the histograms: heat maps. */
#ifndef TALLY_OUT_TEXT_H
#define TALLY_OUT_TEXT_H

#include "report/report.h"

/* Writes value, duration and source. */
void text_put_header(struct writer *w, const struct report *r);

/* Writes a line: "pid 123 nginx  cpu 3". */
void text_put_key(struct writer *w, const struct field *key, size_t n);

/* Writes count, minimum, maximum, average, percentiles. */
void text_put_figures(struct writer *w, const struct report *r, const struct histogram *h);

/* Like loss_sentence(), for this report: missed samples have their own reasons. */
const char *text_loss_sentence(const struct report *r, enum loss_reason reason);

/* Writes "lost 3  inexact 1"; the second part only if nonzero. */
void text_put_lost(FILE *f, const struct loss_counters *c);

/*
 * Writes the rows, in columns as wide as their widest cell. On a terminal, figures have three digits and a fitting
 * unit, texts are truncated, and columns and rows that do not fit are omitted, with a note below. Returns 0 or -ENOMEM.
 */
int text_put_table(struct writer *w, const struct report *r);

/*
 * Returns the heading of a column: "hit_percent" becomes "hit%", "max_at" becomes "max at".
 * Allocated; NULL without memory.
 */
char *text_heading(const char *name);

/* Writes the number of events, and losses with their reasons. */
void text_put_footer(struct writer *w, const struct report *r);

#endif /* TALLY_OUT_TEXT_H */
