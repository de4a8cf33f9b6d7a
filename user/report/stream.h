/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events, one line each, as text, JSON or CSV; reports, in contrast, contain sums. Text may
 * use a template. All text is escaped (report/escape.h).
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

/* One value of an event, with its name. FIELD_NONE is omitted from text, and otherwise treated like fault. */
struct stream_field {
	struct field field;
	bool fault;             /* unreadable: "(fault)", null in JSON, empty in CSV */
	bool cut;               /* the text was longer: "..." follows */
	bool escaped;           /* the text is already escaped (report/escape.h) and quoted */
	bool seconds;           /* a time shown as 0.000012 in text */
	bool rest;              /* the last field: a text that fills the rest of the line */
};

struct stream_line {
	u64 time_ns;            /* CLOCK_REALTIME */
	const char *comm;
	u32 pid, tid, cpu;
	const char *event;      /* NULL if the tool has only one event, which needs no name */
	bool has_elapsed;
	bool elapsed_unknown;   /* the event began before the run */
	u64 elapsed_ns;
	const struct stream_field *field;
	size_t n;
	/* "frames" in JSON, "stack" in CSV; in text each frame is on its own line, below. */
	bool has_stack;
	const struct call_stack *stack; /* NULL if this event has none */
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
 * Parses "TEXT {name} ...". Valid names are the n fields, and time comm pid tid cpu event elapsed.
 * {{ and }} are literal braces. Returns 0, -EINVAL with *c filled in, or -ENOMEM. Free the template
 * in any case.
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

/* Returns the name of CSV column i, or NULL if there are no more. */
const char *stream__column(const struct stream_line *line, size_t i);

/*
 * Writes the CSV heading if no line has done so: CSV has a heading even without lines. like: a line with arbitrary
 * values, which is also passed to a sink. Returns 0 or -ENOMEM, or the sink's error.
 */
int stream__end_lines(struct writer *w, const struct stream_line *like);

#endif /* TALLY_OUT_STREAM_H */
