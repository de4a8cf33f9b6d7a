/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first lines of a page: the largest figures of a machine, regardless of limits. The figures are rules without
 * limits. A line is a text with their names.
 */
#ifndef TALLY_TRIAGE_TOP_H
#define TALLY_TRIAGE_TOP_H

#include "triage/rule.h"

/*
 * In text, {name} is the value of a figure, {name.cell} a cell of its largest row, and {name*2} its two largest keys,
 * each with its value. They become "-" if the kernel does not provide the figure, "none" if no key has more than 0.
 */
struct triage_line {
	const char *name;       /* "memory" */
	const char *text;       /* "{used} of {used.limit} used" */
};

struct triage_top {
	const struct triage_line *line;
	size_t nlines;
	const struct triage_finding *figure;
	size_t n;
};

/* Returns the figure with this name of len bytes, or NULL. */
const struct triage_finding *triage_top__figure(const struct triage_top *top, const char *name, size_t len);

/* Whether a tool has reported a figure of the line. */
bool triage_top__is_known(const struct triage_top *top, const struct triage_line *line);

/* Returns the text of a line; allocated, or NULL. Not escaped. */
char *triage_top__text(const struct triage_top *top, const struct triage_line *line);

#endif /* TALLY_TRIAGE_TOP_H */
