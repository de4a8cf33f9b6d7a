/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports as one self-contained HTML page. It needs no network and no other file, and is readable without scripts. Its
 * script sorts and filters tables, zooms and searches flame graphs and copies commands. A Content-Security-Policy
 * blocks every other script and resource.
 *
 * A page covers a whole run. Additions are converted to markup at once, grouped by measurement (tool and command line),
 * and all of it is written when the writer is closed. With many intervals, the last HTML_INTERVALS reports are kept;
 * heat maps cover all. The size of the page is bounded, and it states what it omits.
 *
 * Texts are written only by put_xml_escaped() (report/xml.h), and never as names of elements, ids, addresses, styles or
 * scripts.
 */
#ifndef TALLY_OUT_HTML_H
#define TALLY_OUT_HTML_H

#include "report/heat.h"
#include "report/report.h"
#include "report/stream.h"

#define HTML_BYTES 2600000      /* size limit of a page; further reports are omitted */
#define HTML_INTERVALS 30

/* w->html is created by the first call. All return 0 or -ENOMEM. */
int html__add_report(struct writer *w, const struct report *r);
/*
 * Adds one interval of a measurement, for the heat map only; the report of the whole run follows
 * later.
 */
int html__add_interval(struct writer *w, const struct report *r);
int html__add_line(struct writer *w, const struct stream_line *line);

/*
 * Adds a part before the measurements, with its own heading, and sets the title of the page. html:
 * markup made with the functions below, in allocated memory; the writer takes ownership.
 */
int html__add_part(struct writer *w, const char *title, const char *heading, char *html);

/* Adds a tool that could not be measured. */
int html__add_absent(struct writer *w, const char *tool);

/* Writes the page, unless it is empty, and frees it. Returns like writer__write(). */
int MUST_CHECK html__end(struct writer *w);

/*
 * --- for makers of parts -------------------------------------------------------------------------
 */

/* Writes a short number that shows the exact one on hover. heading: as a th instead of a td. */
void html_put_cell(FILE *f, const struct field *field, bool heading);

/* Writes a command for the user to type: "tally " and command. */
void html_put_command(FILE *f, const char *command);

/* Writes the local time, "2026-11-23 20:45:01 UTC". */
void html_put_time(FILE *f, u64 realtime_ns);

#endif /* TALLY_OUT_HTML_H */
