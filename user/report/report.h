/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One report model, one writer per format. A tool fills a report and hands it over; it never
 * prints. Strings go in as they are: the writers escape them (report/escape.h).
 *
 * A report is about one interval (or the whole run) and holds histogram groups, table rows or
 * stacks. JSON: one object per line, as docs/json.md says. CSV: one header for the whole output,
 * then lines. Text: for people; of stacks, a tree.
 */
#ifndef TALLY_OUT_REPORT_H
#define TALLY_OUT_REPORT_H

#include <stdio.h>

#include "agg/histogram.h"
#include "agg/loss.h"
#include "report/overhead.h"
#include "report/replace.h"
#include "report/units.h"
#include "base/types.h"

/* How a field without text is to be read. JSON and CSV have numbers as they are. */
enum field_kind {
	FIELD_NUMBER,
	FIELD_ID,               /* number, of a task, user, CPU: no separators between its digits */
	FIELD_SIGNED,           /* number, in two's complement */
	FIELD_TIME,             /* number, in ns; "1,234.567 ms" for people */
	FIELD_DURATION,         /* number, in ns; "1.23 us" for people: each in the unit that fits */
	FIELD_SIZE,             /* number, in bytes; likewise */
	FIELD_SIGNED_SIZE,      /* number, in bytes, in two's complement; likewise */
	FIELD_REAL,             /* real, with so many decimals for people */
	FIELD_NONE,             /* not known: null in JSON, empty otherwise */
};

static inline bool field_is_signed(enum field_kind kind)
{
	return kind == FIELD_SIGNED || kind == FIELD_SIGNED_SIZE;
}

/* One part of a key, or one cell of a table. Owned by the report once added. */
struct field {
	const char *name;       /* constant, e.g. "pid" */
	char *text;             /* NULL: the field is a number */
	u64 number;
	double real;
	enum field_kind kind;
	u8 decimals;
	bool label;             /* goes with the field before it (the comm of a pid) */
	bool machine;           /* left out of text: people read it elsewhere */
	bool word;              /* a text that is no text to people: 0x1f */
	bool adds_up;           /* over intervals: a counter for monitoring; else it stands, a gauge */
};

/* What a figure is, as near as a double comes. */
static inline double field_real(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return f->real;
	return field_is_signed(f->kind) ? (double)(s64)f->number : (double)f->number;
}

/* Adds f to sum exactly. False, and sum stays: one is real, or 64 bits do not hold the result. */
bool field__add_whole(struct field *sum, const struct field *f);

/* That of its number: times and sizes have one, by kind or by name (read_bytes, wait_ns). */
enum unit field_unit(const struct field *f);

struct report_group {
	struct field *key;
	size_t nkey;
	struct histogram hist;
};

struct report_row {
	struct field *cell;
	size_t ncells;
};

/* What a frame of a stack is, for those who show it. */
enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,
	FRAME_NOTE,             /* no frame: the name says what is missing here */
	FRAME_INLINED,          /* a function inlined in the one that calls it */
	FRAME_KINDS,
};

/* A function, or as much as is known of one. The texts belong to whoever resolved them. */
struct report_frame {
	const char *name;       /* NULL: no symbol */
	const char *module;     /* file name, "[kernel]"; NULL: not known */
	u64 offset;             /* without a name: where in the module */
	enum frame_kind kind;
	const char *file;       /* of the source, with its directory; NULL: not asked for or known */
	u32 line;               /* 0 likewise */
};

/* Where in its function a frame was; FRAME_PLACES for both where stacks merged into one differ. */
struct report_place {
	u64 address;
	u64 offset;             /* from the start of the name, or without one in the module */
};

#define FRAME_PLACES UINT64_MAX

/* Equal to no other one of its report in key and frames. */
struct report_stack {
	u32 key;                /* index into keys */
	u32 nframes;
	u32 *frame;             /* indexes into frames, the outermost caller first */
	struct report_place *place;     /* of each frame */
	u64 value;
	u64 before;             /* where two runs are compared: that of the first one */
};

struct report_stacks {
	const struct report_frame *frame;       /* not the report's */
	size_t nframes;
	struct report_row *key; /* what stacks are grouped by; rows without cells if nothing */
	size_t nkeys;
	struct report_stack *stack;     /* the largest first */
	size_t n;
	u64 total;              /* of all, those that --top leaves out included */
	const char *unit;       /* of values, in the plural: "samples" */
	const char *type;       /* what they are, in a word for other programs: "off-cpu"; NULL: the unit says it */
	u64 period;             /* how much one sample stands for: ns of "samples", else so many; 0: not known */
	bool compared;          /* with a run before */
	u64 before;             /* the total of that */
	bool callee_first;      /* trees and pictures begin with the innermost frames */
};

struct report {
	const char *tool;
	const char *source;     /* where the numbers come from, and how it is attached */
	const char *caveat;     /* a sentence the reader of the numbers must know, or NULL */
	const char *value;      /* what is measured: "wait" */
	enum unit unit;         /* of histograms */
	bool table;             /* the rows are what is measured; they have titles in text */
	bool standing;          /* of what there is when it ends: no row adds up over intervals */
	const char *command;    /* the tool's command line, or NULL */
	const char *kernel;     /* uname -r */
	int cpus;
	u64 start_ns;           /* CLOCK_REALTIME */
	u64 duration_ns;
	bool has_events;        /* events, filtered and lost mean something here */
	bool has_losses;        /* lost does, the others do not */
	bool has_max_keys;      /* the tool has that option */
	u64 events;             /* in the groups or rows, those that --top leaves out included */
	struct loss_counters counters;
	bool is_sampled;        /* events are looks at what runs, by a clock or a counter */
	u64 throttled;          /* so often, at least, the kernel held samples back; of all CPUs */
	size_t hidden;          /* groups or rows left out by --top */
	const char *nothing;    /* what it means that there are no events, or NULL: none happened in scope */
	const char *left_out_by; /* what stacks are chosen by, or NULL; their values are not in the others */
	u64 left_out;           /* the value of those that do not belong to the choice */
	u64 chosen;             /* and of those that do */
	struct report_group *group;
	size_t ngroups;
	struct report_row *row;
	size_t nrows;
	struct report_stacks *stacks;   /* what is measured; NULL: nothing with stacks */
	struct report_listings *listings;       /* of functions (report/listing.h); NULL: none */
	const struct report_overhead *overhead; /* --overhead; not the report's; NULL: not asked for */
};

/*
 * Appends a cell to a row that is being made: text (copied; NULL: none) or a number. Returns 0 or
 * -ENOMEM.
 */
int report_row__add_text(struct report_row *row, const char *name, const char *text);
int report_row__add_number(struct report_row *row, const char *name, u64 number,
			   enum field_kind kind);
int report_row__add_field(struct report_row *row, const struct field *f);

/* A number that adds up over intervals. */
int report_row__add_sum(struct report_row *row, const char *name, u64 number, enum field_kind kind);
int report_row__add_fields(struct report_row *row, const struct field *f, size_t n);

/* Takes over the contents of what is added; on failure (-ENOMEM) frees them. */
int report__add_group(struct report *r, struct report_group *g);
int report__add_row(struct report *r, struct report_row *row);

/* The same for a row that err came of making: unless that is 0, frees it and returns err. */
int report__end_row(struct report *r, struct report_row *row, int err);

/* Adds a row of n texts, which are copied. Returns 0 or -ENOMEM. */
int report__add_texts(struct report *r, const char *const *names, const char *const *texts,
		      size_t n);

/* What groups can be sorted by: the name of a figure ("sum", "p99") or "key". */
int report_sort_column(const char *name);       /* -EINVAL if there is none */
const char *report_sort_columns(void);          /* all of them, for messages */

/* Sorts by a column, largest first ("key": rising), and keeps the first top (0: all). */
void report__sort_groups(struct report *r, int column, size_t top);

/*
 * Sorts rows by the cell called column, largest first, where cells without a value come last; equal
 * ones, and all where column is NULL, by their first nkeys cells, rising. Keeps the first top (0:
 * all).
 */
void report__sort_rows(struct report *r, const char *column, size_t nkeys, size_t top);

/*
 * Sorts stacks, the largest first, equal ones by their frames' names. Keeps the first top (0: all).
 */
void report__sort_stacks(struct report *r, size_t top);

void report__free(struct report *r);
void report_stacks__free(struct report_stacks *s);
void report_group__free(struct report_group *g);
void report_row__free(struct report_row *row);

/* Percentiles every writer shows. */
struct report_percentile {
	const char *json;       /* "p999" */
	const char *text;       /* "p99.9" */
	u32 per_10k;
};
extern const struct report_percentile report_percentiles[4];

enum report_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_OPENMETRICS,     /* of histograms and tables; of single events their number */
	FORMAT_CSV,
	FORMAT_FOLDED,          /* from here on of stacks only */
	FORMAT_FLAME,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_SVG,             /* of heat maps only */
	FORMATS,
};

/*
 * -EINVAL if there is no such format, or, of the second function, none for stacks ("tree" is text).
 */
int report_format(const char *name);
int report_stack_format(const char *name);

struct stream_line;
struct writer;

/*
 * Takes what is measured instead of a file: whoever makes something of several measurements. What it is
 * given is the caller's and gone afterwards. end() comes when an interval's reports are all there. All return 0
 * or a negative errno.
 */
struct writer_sink {
	void *context;
	int (*report)(void *context, const struct report *r);
	int (*line)(void *context, const struct writer *w, const struct stream_line *line);     /* w: of_tool, of_command */
	int (*end)(void *context);
};

/* Where and how reports are written; made by the output options. */
struct writer {
	FILE *file;
	const char *path;       /* each report replaces this file (report/replace.h), or NULL */
	struct replacement replacement; /* of what had the file's name, from the first report on */
	int failed;             /* the first error of writing; -EPIPE: the reader has gone away */
	/* Or NULL: takes the text of each report, too, which then goes to no other file. 0 or negative. */
	int (*publish)(void *publisher, const char *text, size_t n);
	void *publisher;
	const struct writer_sink *sink; /* not the writer's; NULL: reports and lines are written */
	struct openmetrics *metrics;    /* FORMAT_OPENMETRICS: all there was up to now; see there */
	u64 top;                /* and how many keys are written; 0: see there */
	const char *tool;       /* whose single events come now, in a run of several; else NULL */
	const char *of_tool, *of_command;       /* the same for a sink, of any run */
	enum report_format format;
	char separator;         /* CSV */
	bool milliseconds;
	bool timestamps;
	bool header;            /* the header has been written */
};

/*
 * Writes one report and flushes it. Returns 0 or a negative errno (-EPIPE when the reader has
 * gone away).
 */
int MUST_CHECK writer__write(struct writer *w, const struct report *r);

/*
 * A report is written at once: begin has everything go to memory, end writes it if err is 0 and
 * flushes. Both return 0 or a negative errno, end also err.
 */
struct writing {
	FILE *file;
	char *text;
	size_t n;
};

/*
 * Writes n bytes behind what the file has been given, and flushes all. Returns 0 or a negative errno,
 * and keeps the first one in failed.
 */
int MUST_CHECK writer__emit(struct writer *w, const char *text, size_t n);

/* Now that there will be reports: metrics of another run leave the file that path names. */
int MUST_CHECK writer__begin_metrics(struct writer *w);

/* Closes the file, keeping in failed what only that brings out, unless it is standard output. */
void writer__close(struct writer *w);

int MUST_CHECK writer__begin(struct writer *w, struct writing *writing);
int MUST_CHECK writer__end(struct writer *w, struct writing *writing, int err);

/* The writers; -ENOMEM is their only error, the file keeps its own. */
int write_text(struct writer *w, const struct report *r);
int write_json(struct writer *w, const struct report *r);
int write_csv(struct writer *w, const struct report *r);

/* The listings of a report as text. */
void write_listings(struct writer *w, const struct report *r);

/* One cell of CSV, in quotes if it needs them. */
void csv_put_text(struct writer *w, const char *text);

/*
 * Of reports with stacks. Tree: callers first, shares of all. Folded: a line a stack, its frames
 * with ';' between them and its value. Flame: an SVG file of its own. Pprof: report/pprof.h.
 * Speedscope: a JSON file of its own.
 */
int write_tree(struct writer *w, const struct report *r);
int write_folded(struct writer *w, const struct report *r);
int write_flame(struct writer *w, const struct report *r);
int write_pprof(struct writer *w, const struct report *r);
int write_speedscope(struct writer *w, const struct report *r);

#endif /* TALLY_OUT_REPORT_H */
