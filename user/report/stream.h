/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events, one line each, as text, JSON or CSV; the counterpart of reports, which hold sums.
 * Text may use a template. All text is escaped (report/escape.h).
 *
 *   12:34:56.123456 cat               4711   0 vfs_read  count=4096 path="/etc/passwd"
 *
 * A terminal gets columns with a heading: report/stream_columns.h.
 */
#ifndef TALLY_OUT_STREAM_H
#define TALLY_OUT_STREAM_H

#include "base/complaint.h"
#include "report/call_stack.h"
#include "report/report.h"
#include "base/types.h"

/* One value of an event, with its name. FIELD_NONE: omitted from text, otherwise treated like fault. */
struct stream_field {
	struct field field;
	bool fault;             /* unreadable: "(fault)", null in JSON, empty in CSV */
	bool cut;               /* the text was longer: "..." follows */
	bool escaped;           /* the text is already escaped (report/escape.h) and quoted */
	bool seconds;           /* a time shown as 0.000012 in text */
	bool rest;              /* the last field: a text that takes the rest of the line */
};

struct stream_line {
	u64 time_ns;            /* CLOCK_REALTIME */
	const char *comm;
	u32 pid, tid, cpu;
	const char *event;      /* NULL: the tool has only one event, which needs no name */
	bool has_elapsed;
	bool elapsed_unknown;   /* the event began before the run */
	u64 elapsed_ns;
	const struct stream_field *field;
	size_t n;
	/* "frames" in JSON, "stack" in CSV; in text each frame has a line of its own, below. */
	bool has_stack;
	const struct call_stack *stack; /* NULL: none for this event */
	u32 most_frames;        /* 0: all */
};

/* Template of a text line: pieces of text, each followed by a value. */
struct stream_template {
	struct stream_piece {
		char *text;             /* before the value */
		enum stream_value {
			STREAM_TIME, STREAM_EPOCH, STREAM_COMM, STREAM_PID, STREAM_TID, STREAM_CPU,
			STREAM_EVENT, STREAM_ELAPSED, STREAM_FIELD, STREAM_NOTHING,
		} value;
		size_t field;           /* index, for STREAM_FIELD */
	} *piece;
	size_t n;
};

/*
 * Parses "TEXT {name} ...". Names: the n fields, then time comm pid tid cpu event elapsed; {{ and
 * }} are literal braces. Returns 0, -EINVAL with *c filled in, or -ENOMEM. Free the template in any
 * case.
 */
int stream_template__parse(struct stream_template *t, const char *text, const char *const *name,
			   size_t n, struct complaint *c);
void stream_template__free(struct stream_template *t);

/*
 * Writes one line. In CSV, a header precedes the first line (w->header), so later lines must have
 * the same fields. t: a template, for text only; NULL: the default layout. Does not flush. Returns
 * 0 or -ENOMEM.
 */
int stream__write_line(struct writer *w, const struct stream_template *t,
		       const struct stream_line *line);

/* The name of the column of that index in CSV; NULL: there are no more. */
const char *stream__column(const struct stream_line *line, size_t i);

/*
 * CSV has a heading even if there are no lines: writes it if no line has done so. like: a line with any values. A sink
 * gets that line. Returns 0 or -ENOMEM, or the sink's error.
 */
int stream__end_lines(struct writer *w, const struct stream_line *like);

#endif /* TALLY_OUT_STREAM_H */
