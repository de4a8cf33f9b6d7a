/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An error in a text that a user typed, and its position. Parsers fill in a complaint and return a
 * negative errno; the caller prints it (report/diag.h: the text with a caret). Parsers therefore never
 * print, and tests can call them directly.
 */
#ifndef TALLY_BASE_COMPLAINT_H
#define TALLY_BASE_COMPLAINT_H

#include "base/types.h"

struct complaint {
	size_t at, len;         /* the invalid bytes of the text; len 0: its end */
	char what[256];         /* one sentence, not escaped */
	char hint[512];         /* suggestion; empty if none */
};

/* Set the sentence or the hint, truncated if too long. Both return err, for `return`. */
int complain(struct complaint *c, int err, size_t at, size_t len, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
int complain_hint(struct complaint *c, int err, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif /* TALLY_BASE_COMPLAINT_H */
