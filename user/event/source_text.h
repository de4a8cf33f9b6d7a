/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads source files to find lines by pattern. The paths come from debug information, which is untrusted: only regular
 * files of limited size are read, and their text is never shown.
 */
#ifndef TALLY_EVENT_SOURCE_TEXT_H
#define TALLY_EVENT_SOURCE_TEXT_H

#include "base/types.h"

struct source_text {
	char *path;
	char **line;            /* without blanks; line[0] is line 1 */
	size_t n;
	char *text;             /* backs line[] */
};

/*
 * Reads a file, unless it is already loaded; *t is zeroed or from an earlier call. Returns 0, or a
 * negative errno (-ENOENT, -EFBIG, ...) with *t empty.
 */
int source_text__read(struct source_text *t, const char *path);
void source_text__free(struct source_text *t);

/* True if line number (from 1) matches the glob. Blanks are ignored in both (perf-probe(1), lazy matching). */
bool source_text__matches(const struct source_text *t, u32 number, const char *glob);

/*
 * True if the path ends with these components: "/usr/src/x/main.c" ends with "main.c" and "x/main.c", not with "ain.c".
 */
bool source_path__ends_with(const char *path, const char *end);

#endif /* TALLY_EVENT_SOURCE_TEXT_H */
