/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples by instruction, of functions with a certain name. */
#ifndef TALLY_ANNOTATE_ANNOTATE_H
#define TALLY_ANNOTATE_ANNOTATE_H

#include "report/report.h"
#include "stack/stacks.h"

/*
 * Call between stacks__begin() and the first sample: then code can still be read after its process
 * has gone.
 */
void annotate__begin(struct stacks *s);

/*
 * Fills in events, counters and listings from the samples since the last call: of functions whose
 * name matches a glob, those with most samples first, no more than top (0: all). A sample belongs
 * to the function of its innermost frame, so stacks of one frame suffice. C++ and Rust functions
 * also match without their parameters. If none matches, prints to stderr the functions that have
 * samples. unit: of the counts, plural. Replaces stacks__report(). Returns 0 or a negative errno.
 */
int annotate__report(struct stacks *s, const char *glob, const char *unit, size_t top, struct report *r);

#endif /* TALLY_ANNOTATE_ANNOTATE_H */
