/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples by the instruction they were taken at, of functions with a certain name. */
#ifndef TALLY_ANNOTATE_ANNOTATE_H
#define TALLY_ANNOTATE_ANNOTATE_H

#include "report/report.h"
#include "stack/stacks.h"

/*
 * To be called between stacks__begin() and the first sample: code can then be read after its
 * process has gone.
 */
void annotate__begin(struct stacks *s);

/*
 * Fills in events, counters and listings from what came since the last call: of functions whose
 * name matches a glob, the one with most samples first, no more than top (0: all). A sample belongs
 * to the function of its innermost frame, so a stack need be no deeper than one. C++ and Rust
 * functions match without their parameters, too. If none matches, says on stderr what has samples.
 * unit: of counts, in the plural. Takes the place of stacks__report(). Returns 0 or a negative
 * errno.
 */
int annotate__report(struct stacks *s, const char *glob, const char *unit, size_t top,
		     struct report *r);

#endif /* TALLY_ANNOTATE_ANNOTATE_H */
