/* SPDX-License-Identifier: BSD-2-Clause */
/* A window of a recording (tally record), read as if it were a saved run. */
#ifndef TALLY_DIFF_WINDOW_H
#define TALLY_DIFF_WINDOW_H

#include "machine/diff/saved.h"

/* Whether text is FILE@FROM-TO of an existing file, and not itself the name of a file. */
bool window_is_meant(const char *text);

/*
 * Reads the sum of a line over the window. The line may be named by its tool if this tool has only
 * one. Returns 0, or a negative errno after reporting the error. Call saved__free() in either case.
 */
int saved__read_window(struct saved *s, const char *text, const char *line);

/* The same, with each interval as a separate report. */
int saved__read_intervals(struct saved *s, const char *text, const char *line);

#endif /* TALLY_DIFF_WINDOW_H */
