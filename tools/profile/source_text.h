/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of source files. Debug information names these files, but is not trusted: only files that
 * everyone may read are read, so that no other contents get into a report.
 */
#ifndef TALLY_ANNOTATE_SOURCE_TEXT_H
#define TALLY_ANNOTATE_SOURCE_TEXT_H

#include "base/types.h"

#define SOURCE_TEXT_FILES 32
#define SOURCE_TEXT_MAX (4U << 20)      /* limit of bytes per file */

struct source_text {
	const char *file;       /* its name, borrowed */
	char *text;             /* NULL if it is not available */
	size_t size;
};

/* A cache of files. A zeroed struct is an empty cache. */
struct source_texts {
	struct source_text of[SOURCE_TEXT_FILES];
	size_t n;
};

/*
 * Returns line number `line` (from 1) of a file, with tabs expanded, allocated. Returns NULL if
 * there is no such line, or no memory. file must live as long as t.
 */
char *source_texts__line(struct source_texts *t, const char *file, u32 line);
void source_texts__free(struct source_texts *t);

#endif /* TALLY_ANNOTATE_SOURCE_TEXT_H */
