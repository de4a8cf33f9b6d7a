/* SPDX-License-Identifier: BSD-2-Clause */
/* A window of a recording (tally record), read as if it were a saved run. */
#ifndef TALLY_DIFF_WINDOW_H
#define TALLY_DIFF_WINDOW_H

#include "machine/diff/saved.h"

/* Whether text is FILE@FROM-TO of an existing file, and not a file's name itself. */
bool window_is_meant(const char *text);

/*
 * Reads the sum over the window of a line, or of the tool if it has one line. Returns 0, or a
 * negative errno after reporting the error. Call saved__free() in either case.
 */
int saved__read_window(struct saved *s, const char *text, const char *line);

/* The same, each interval as a report of its own. */
int saved__read_intervals(struct saved *s, const char *text, const char *line);

#endif /* TALLY_DIFF_WINDOW_H */
