/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Diagnostics: messages for the user on stderr, one line each, prefixed with the tool's name. Only this module and the
 * report writers print. The whole line is escaped (report/escape.h), so arguments may be untrusted.
 */
#ifndef TALLY_OUT_DIAG_H
#define TALLY_OUT_DIAG_H

#include <stdarg.h>

#include "base/complaint.h"
#include "base/types.h"

/*
 * Sets the prefix of all lines: the name of the tool, or of the active measurement; NULL restores the name of the first
 * call.
 */
void diag_speaker(const char *name);

/* Reports that something cannot be done. */
void diag_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Warns that something is not done as the user would expect. */
void diag_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Advice on what to try next; follows an error. */
void diag_hint(const char *fmt, ...) PRINTF_LIKE(1, 2);

/*
 * Reports an error in the text of an option (NULL: of an argument): prints the message, the text with
 * a caret under the wrong part, and the hint, if any.
 */
void diag_complaint(const char *option, const char *text, const struct complaint *c);

/*
 * Detail for -v, including messages of libbpf. Printed only after the tool's main() has called diag_verbose(true).
 */
void diag_detail(const char *fmt, ...) PRINTF_LIKE(1, 2);
void diag_verbose(bool on);

#endif /* TALLY_OUT_DIAG_H */
