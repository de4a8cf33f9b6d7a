/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Diagnostics: sentences for the person at the terminal, on stderr, one line each, with the
 * tool's name in front. The only place besides the report writers that prints. The whole line is
 * escaped (report/escape.h), so arguments may come from anywhere.
 */
#ifndef TALLY_OUT_DIAG_H
#define TALLY_OUT_DIAG_H

#include <stdarg.h>

#include "base/complaint.h"
#include "base/types.h"

/*
 * The name in front of all lines: that of the tool, or of the measurement that is at work; NULL: the one
 * from the first call again.
 */
void diag_speaker(const char *name);

/* Something cannot be done. */
void diag_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Something is done, but differently from what one would expect. */
void diag_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* What to try next; goes under an error. */
void diag_hint(const char *fmt, ...) PRINTF_LIKE(1, 2);

/*
 * What is wrong with the text of an option (NULL: of an argument), and where: the sentence, the
 * text with a caret under the part that is meant, and the hint if there is one.
 */
void diag_complaint(const char *option, const char *text, const struct complaint *c);

/*
 * Detail for -v: nothing is printed unless diag_verbose(true) was called by the tool's main.
 * libbpf's own messages come this way too.
 */
void diag_detail(const char *fmt, ...) PRINTF_LIKE(1, 2);
void diag_verbose(bool on);

#endif /* TALLY_OUT_DIAG_H */
