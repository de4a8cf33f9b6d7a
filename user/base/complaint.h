/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is wrong with a text that somebody typed, and where: parsers fill one in and return a
 * negative errno, the caller prints it (report/diag.h: the text again, with a caret). So parsers
 * print nothing and can be tested as they are.
 */
#ifndef TALLY_BASE_COMPLAINT_H
#define TALLY_BASE_COMPLAINT_H

#include "base/types.h"

struct complaint {
	size_t at, len;         /* the bytes of the text that are meant; len 0: the end of it */
	char what[256];         /* one sentence, not escaped */
	char hint[512];         /* what to try; empty: nothing comes to mind */
};

/* Fill in the sentence, or the hint. Too long ones are cut. Both return err, for `return`. */
int complain(struct complaint *c, int err, size_t at, size_t len, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
int complain_hint(struct complaint *c, int err, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif /* TALLY_BASE_COMPLAINT_H */
