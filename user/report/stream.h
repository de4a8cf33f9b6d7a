/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events, a line each, as reports are for what was summed up: as text, JSON or CSV, and text
 * also by a template. Everything goes through report/escape.h.
 *
 *   12:34:56.123456 cat               4711   0 vfs_read  count=4096 path="/etc/passwd"
 */
#ifndef TALLY_OUT_STREAM_H
#define TALLY_OUT_STREAM_H

#include "base/complaint.h"
#include "report/call_stack.h"
#include "report/report.h"
#include "base/types.h"

/* One value of an event, named as it is shown. FIELD_NONE: left out of text, else as a fault. */
struct stream_field {
	struct field field;
	bool fault;             /* it could not be read: "(fault)", null in JSON, empty in CSV */
	bool cut;               /* the text is longer: "..." follows */
	bool escaped;           /* the text has been (report/escape.h), and has its own quotes */
	bool seconds;           /* a time that people read as 0.000012 */
};

struct stream_line {
	u64 time_ns;            /* CLOCK_REALTIME */
	const char *comm;
	u32 pid, tid, cpu;
	const char *event;      /* NULL: there is only one, and its name goes without saying */
	bool has_elapsed;
	bool elapsed_unknown;   /* it began before the run */
	u64 elapsed_ns;
	const struct stream_field *field;
	size_t n;
	/* "frames" of JSON, "stack" of CSV; not in text. */
	bool has_stack;
	const struct call_stack *stack; /* NULL: none of this event */
	u32 most_frames;        /* 0: all */
};

/* How a line of text looks: pieces of text with values between them. */
struct stream_template {
	struct stream_piece {
		char *text;             /* in front of the value */
		enum stream_value {
			STREAM_TIME, STREAM_COMM, STREAM_PID, STREAM_TID, STREAM_CPU, STREAM_EVENT,
			STREAM_ELAPSED, STREAM_FIELD, STREAM_NOTHING,
		} value;
		size_t field;           /* STREAM_FIELD: which */
	} *piece;
	size_t n;
};

/*
 * Parses "TEXT {name} ...". Names are those of the n fields, then time comm pid tid cpu event
 * elapsed;
 * {{ and }} are braces. Returns 0, or -EINVAL (-ENOMEM) with *c filled in. To be freed in any case.
 */
int stream_template__parse(struct stream_template *t, const char *text, const char *const *name,
			   size_t n, struct complaint *c);
void stream_template__free(struct stream_template *t);

/*
 * Writes one line. The first one of CSV is preceded by the header (w->header): later ones are to
 * have the same fields. t: of text; NULL, or for the other formats: theirs. Nothing is flushed.
 * Returns 0 or -ENOMEM.
 */
int stream__write_line(struct writer *w, const struct stream_template *t,
		       const struct stream_line *line);

#endif /* TALLY_OUT_STREAM_H */
