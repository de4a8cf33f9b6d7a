/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a line of single events, as text. All of them are escaped (report/escape.h). Errors: -ENOMEM. */
#ifndef TALLY_REPORT_STREAM_VALUE_H
#define TALLY_REPORT_STREAM_VALUE_H

#include <stdio.h>

#include "report/stream.h"

#define STREAM_CUT "..."        /* follows a truncated text */

/* "12:34:56.123456", in local time. */
void stream_put_time(FILE *f, u64 time_ns);

/* The duration; "-" if it began before the run. */
void stream_put_elapsed(FILE *f, const struct stream_line *line, bool milliseconds);

/* quoted: also escapes quotes. */
int stream_put_text(FILE *f, const char *text, bool quoted);

/*
 * A value; "-" if there is none. quoted: puts texts in quotes, to show where they end, but not
 * words.
 */
int stream_put_value(FILE *f, const struct stream_field *v, bool quoted, bool milliseconds);

/* Whether the field has a value to show. */
bool stream_field__is_there(const struct stream_field *v);

/* Writes "a=1" or "b=\"text\"", after gap. */
int stream_put_pair(FILE *f, const struct stream_field *v, const char *gap, bool milliseconds);

/* The same for all fields, separated by blanks; gap precedes the first. Missing values are omitted. */
int stream_put_pairs(FILE *f, const struct stream_line *line, const char *gap, bool milliseconds);

#endif /* TALLY_REPORT_STREAM_VALUE_H */
