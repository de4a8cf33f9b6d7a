/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a line of single events, as text, escaped (report/escape.h). Functions return 0 or -ENOMEM. */
#ifndef TALLY_REPORT_STREAM_VALUE_H
#define TALLY_REPORT_STREAM_VALUE_H

#include <stdio.h>

#include "report/stream.h"

#define STREAM_CUT "..."        /* follows a truncated text */

/* Writes "12:34:56.123456", in local time. */
void stream_put_time(FILE *f, u64 time_ns);

/* Writes the duration; "-" if the event began before the run. */
void stream_put_elapsed(FILE *f, const struct stream_line *line, bool milliseconds);

/* Writes a text. quoted: also escapes quotes. */
int stream_put_text(FILE *f, const char *text, bool quoted);

/*
 * Writes a value, or "-" if there is none. quoted: puts texts, but not words, in quotes, to show
 * where they end.
 */
int stream_put_value(FILE *f, const struct stream_field *v, bool quoted, bool milliseconds);

/* Whether the field has a value to show. */
bool stream_field__is_there(const struct stream_field *v);

/* Writes "a=1" or "b=\"text\"", after gap. */
int stream_put_pair(FILE *f, const struct stream_field *v, const char *gap, bool milliseconds);

/* Writes all fields like stream_put_pair(), separated by blanks, after gap. Missing values are omitted. */
int stream_put_pairs(FILE *f, const struct stream_line *line, const char *gap, bool milliseconds);

#endif /* TALLY_REPORT_STREAM_VALUE_H */
