/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An OpenMetrics text to which several measurements write. Each metric family appears once, with its type, unit, help
 * and all its samples, whichever measurements add them and in any order. # EOF appears once, at the end.
 *
 *   f = exposition__family(x, name, "counter", "seconds", "what it is", NULL);
 *   if (f) fprintf(f, "%s_total{tool=\"a\"} 1\n", name);
 *
 * Running out of memory is a sticky error, returned by exposition__write().
 */
#ifndef TALLY_REPORT_EXPOSITION_H
#define TALLY_REPORT_EXPOSITION_H

#include <stdio.h>

#include "base/types.h"

struct exposition;

#define METRIC_NAME_SPACE 160

/* Returns NULL without memory. */
struct exposition *exposition__new(void);
void exposition__free(struct exposition *x);

/*
 * Returns the stream for samples of a family; write whole lines to it. If a family of another type has the same name,
 * the type is appended to the name. help, more: the two parts of the help, the second may be NULL; the first caller's
 * help is used. Returns NULL without memory.
 */
FILE *exposition__family(struct exposition *x, char name[METRIC_NAME_SPACE], const char *type, const char *unit,
			 const char *help, const char *more);

/* Number of samples so far. */
size_t exposition__series(struct exposition *x);

/* Writes the whole text. Returns 0 or -ENOMEM. */
int exposition__write(struct exposition *x, FILE *f);

/*
 * Writes the value of a label, without quotes: escaped (report/escape.h), then as the format
 * requires. Returns 0 or -ENOMEM.
 */
int put_label_value(FILE *f, const char *text);

#endif /* TALLY_REPORT_EXPOSITION_H */
