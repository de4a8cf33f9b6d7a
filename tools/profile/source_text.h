/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of source files. Which files those are, debug information says that nobody vouches for:
 * only what everybody may read is read, so that no other file's contents get into a report.
 */
#ifndef TALLY_ANNOTATE_SOURCE_TEXT_H
#define TALLY_ANNOTATE_SOURCE_TEXT_H

#include "base/types.h"

#define SOURCE_TEXT_FILES 32
#define SOURCE_TEXT_MAX (4U << 20)      /* bytes of one */

struct source_text {
	const char *file;       /* its name, the caller's */
	char *text;             /* NULL: it cannot be had */
	size_t size;
};

/* All zero is an empty one; it keeps what it has read. */
struct source_texts {
	struct source_text of[SOURCE_TEXT_FILES];
	size_t n;
};

/*
 * Line number line (from 1 on) of a file, with blanks for tabs, in new memory. NULL: there is none,
 * or no memory. file is to live as long as t.
 */
char *source_texts__line(struct source_texts *t, const char *file, u32 line);
void source_texts__free(struct source_texts *t);

#endif /* TALLY_ANNOTATE_SOURCE_TEXT_H */
