/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples by instruction, for functions with a given name. */
#ifndef TALLY_ANNOTATE_ANNOTATE_H
#define TALLY_ANNOTATE_ANNOTATE_H

#include "report/report.h"
#include "stack/stacks.h"

/*
 * To be called between stacks__begin() and the first sample, so that code can still be read after its process has
 * exited.
 */
void annotate__begin(struct stacks *s);

/*
 * Fills in events, counters and listings from the samples since the last call. The listings are
 * those of functions whose name matches a glob, by descending number of samples, at most top (0:
 * all). A sample belongs to the function of its innermost frame, so stacks of one frame suffice.
 * C++ and Rust functions also match without their parameters. If none matches, prints to stderr the
 * functions that have samples. unit: unit of the counts, in the plural. Replaces stacks__report().
 * Returns 0 or a negative errno.
 */
int annotate__report(struct stacks *s, const char *glob, const char *unit, size_t top, struct report *r);

#endif /* TALLY_ANNOTATE_ANNOTATE_H */
