/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports and single events as markup: the body of a section of a page (report/html.h). */
#ifndef TALLY_OUT_HTML_REPORT_H
#define TALLY_OUT_HTML_REPORT_H

#include "report/report.h"
#include "report/stream.h"

/* Limits on the part of a report that a page shows. */
struct html_room {
	size_t rows;            /* per table */
	size_t histograms;
	size_t flame_bytes;
};

/* Writes histograms, tables, stacks, listings and losses. Returns 0 or -ENOMEM. */
int html_put_report(FILE *f, const struct writer *w, const struct report *r, const struct html_room *room);

/* Writes only the histograms. */
int html_put_groups(FILE *f, const struct report *r, const struct html_room *room, bool milliseconds);

/* Write a table of single events: its heading, a row, and its end. */
void html_put_line_heading(FILE *f, const struct stream_line *line);
int html_put_line(FILE *f, const struct stream_line *line, size_t columns);
void html_end_lines(FILE *f, size_t rows);

#endif /* TALLY_OUT_HTML_REPORT_H */
