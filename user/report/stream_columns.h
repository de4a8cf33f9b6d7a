/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events on a terminal, in columns below a heading that is repeated on each screen:
 *
 *   time          comm      tid  error  path
 *   12:34:56.123  cat      4711         /etc/passwd
 *
 * In a run of several tools, headings and lines begin with the name of the tool once a second tool has lines, and each
 * tool has a heading on each screen. After a report, all headings are repeated.
 *
 * A column is as wide as its widest value so far. A text in the last column is continued below its start. If the
 * terminal is too narrow, the CPU column is omitted first, then spare columns, with a notice. Other values that do not
 * fit are printed on the next line, with their names. The same applies to a value in a spare column that is not spare
 * itself. No line is wider than the terminal.
 */
#ifndef TALLY_REPORT_STREAM_COLUMNS_H
#define TALLY_REPORT_STREAM_COLUMNS_H

#include "report/stream.h"

struct stream_columns;

/*
 * Whether the line can be shown in columns: only on a terminal, and only while all lines of the tool have the same
 * fields.
 */
bool stream_columns__fit(struct writer *w, const struct stream_line *line);

/* Writes a line in columns. Returns 0 or -ENOMEM. */
int stream_columns__write(struct writer *w, const struct stream_line *line);

/* Writes a line of another kind, wrapped at the width of the terminal. */
void stream_columns__put_wrapped(FILE *f, const struct terminal *t, const char *line);

/* Makes headings be repeated. Call it after writing other output. c may be NULL. */
void stream_columns__interrupt(struct stream_columns *c);

/* c may be NULL. */
void stream_columns__free(struct stream_columns *c);

#endif /* TALLY_REPORT_STREAM_COLUMNS_H */
