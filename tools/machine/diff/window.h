/* SPDX-License-Identifier: BSD-2-Clause */
/* A window of a recording (tally record) as if it were a run that was saved. */
#ifndef TALLY_DIFF_WINDOW_H
#define TALLY_DIFF_WINDOW_H

#include "machine/diff/saved.h"

/* Is it FILE@FROM-TO, of a file that is there, and no file's name? */
bool window_is_meant(const char *text);

/*
 * Reads what the line, or the tool if there is one line of it, has come to in the window: all of it added up. Returns
 * 0, or a negative errno after saying what is wrong. Free it in both cases.
 */
int saved__read_window(struct saved *s, const char *text, const char *line);

#endif /* TALLY_DIFF_WINDOW_H */
