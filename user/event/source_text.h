/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of source files, to find lines by what they look like. Their paths come from debug
 * information, which is not trusted: only regular files of some size are read, and nothing of them
 * is ever shown.
 */
#ifndef TALLY_EVENT_SOURCE_TEXT_H
#define TALLY_EVENT_SOURCE_TEXT_H

#include "base/types.h"

struct source_text {
	char *path;
	char **line;            /* without their blanks; line 1 is the first */
	size_t n;
	char *text;             /* what they point into */
};

/*
 * Reads a file, unless it is there already; *t is zeroed or from an earlier call. 0, or a negative
 * errno: -ENOENT, -EFBIG, ...; then *t is empty.
 */
int source_text__read(struct source_text *t, const char *path);
void source_text__free(struct source_text *t);

/* Is line number (from 1) like the glob? Blanks in either do not count (lazy, perf-probe(1)). */
bool source_text__matches(const struct source_text *t, u32 number, const char *glob);

/* "/usr/src/x/main.c" ends with "main.c" and "x/main.c", not with "ain.c". */
bool source_path__ends_with(const char *path, const char *end);

#endif /* TALLY_EVENT_SOURCE_TEXT_H */
