/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One report model, one writer per format. A tool fills in a report and hands it over; it never
 * prints. Strings are stored raw: the writers escape them (report/escape.h).
 *
 * A report covers one interval (or the whole run) and holds histogram groups, table rows or stacks.
 * JSON: one object per line, see docs/json.md. CSV: one header for the whole output, then lines.
 * Text: for people; stacks as a tree.
 */
#ifndef TALLY_OUT_REPORT_H
#define TALLY_OUT_REPORT_H

#include <stdio.h>

#include "agg/histogram.h"
#include "agg/loss.h"
#include "report/overhead.h"
#include "report/replace.h"
#include "report/terminal.h"
#include "report/units.h"
#include "base/types.h"

/* How to read a field without text. JSON and CSV show raw numbers; "text" below is text output. */
enum field_kind {
	FIELD_NUMBER,
	FIELD_ID,               /* number of a task, user or CPU: text without digit separators */
	FIELD_SIGNED,           /* number, two's complement */
	FIELD_TIME,             /* number, ns; text: "1,234.567 ms" */
	FIELD_DURATION,         /* number, ns; text: "1.23 us", each in the unit that fits */
	FIELD_SIZE,             /* number, bytes; text: in the unit that fits */
	FIELD_SIGNED_SIZE,      /* number, bytes, two's complement; as FIELD_SIZE */
	FIELD_REAL,             /* real, shown with this many decimals in text */
	FIELD_NONE,             /* unknown: null in JSON, empty otherwise */
};

static inline bool field_is_signed(enum field_kind kind)
{
	return kind == FIELD_SIGNED || kind == FIELD_SIGNED_SIZE;
}

/*
 * The meaning of a cell for its row. Readers that merge reports, compare them or convert them to metrics use the role,
 * never the name or the kind of number (report/role.h).
 */
enum field_role {
	ROLE_UNSAID,            /* report__add_row() makes texts and ids keys, other numbers gauges */
	/*
	 * Rows with equal keys are the same row. With "of": distinguishes rows with equal keys of that name, and is
	 * valid in this run only (an address); comparisons of runs leave it out.
	 */
	ROLE_KEY,
	ROLE_LABEL,             /* belongs to the key before it, and may change, as the comm of a pid */
	ROLE_COUNTER,           /* adds up over intervals */
	ROLE_GAUGE,             /* cannot be computed from the values of parts: a percentile, a level */
	ROLE_MINIMUM,
	ROLE_MAXIMUM,
	ROLE_MEAN,              /* the column "of" divided by the column "per" */
	ROLE_PERCENT,           /* 100 times that quotient; without "per": divided by the report's duration */
	ROLE_AT,                /* belongs to the maximum in the column "of": when it happened */
	ROLE_REMARK,            /* about other cells: their unit, or why there is no value */
	FIELD_ROLES,
};

/* A part of a key, or a cell of a table. Owned by the report once added. */
struct field {
	const char *name;       /* constant, e.g. "pid" */
	char *text;             /* NULL: the field is a number */
	u64 number;
	double real;
	/* FIELD_REAL: real is the double nearest to this quotient of integers, which are unknown if exact_per is 0 */
	__int128 exact;
	u64 exact_per;
	enum field_kind kind;
	u8 decimals;
	enum field_role role;
	const char *of, *per;   /* names of other columns, or sums of them: "hits+misses"; constant, or NULL */
	bool machine;           /* omitted from text, which shows it elsewhere */
	bool word;              /* text shown unquoted: 0x1f */
	u8 indent;              /* columns to indent the text by, in text output */
	bool spare;             /* narrow terminals leave it out first */
	bool no_metric;         /* omitted from OpenMetrics: its unit differs between rows, or its name is a key */
};

/* Whether it is an integer that does not fit into 64 bits. */
static inline bool field_is_wide(const struct field *f)
{
	return f->kind == FIELD_REAL && f->exact_per == 1 && !f->decimals;
}

/* Writes a FIELD_REAL as in text output into text[UNITS_SPACE], and returns text. */
const char *field_real_text(char *text, const struct field *f);

/* The value as the nearest double. */
static inline double field_real(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return f->real;
	return field_is_signed(f->kind) ? (double)(s64)f->number : (double)f->number;
}

/* The unit of a time or size, from its kind or its name (read_bytes, wait_ns). */
enum unit field_unit(const struct field *f);

struct report_group {
	struct field *key;
	size_t nkey;
	struct histogram hist;
};

struct report_row {
	struct field *cell;
	size_t ncells;
	bool is_total;          /* total of all rows before it: always shown */
	bool later;             /* report__sort_rows() puts it after the rows without this */
	/* the histogram that its figures describe (run/tabulate.h); owned; NULL: there is none */
	struct histogram *hist;
};

/* Kind of a stack frame. */
enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,
	FRAME_NOTE,             /* not a frame: a note about what is missing here */
	FRAME_INLINED,          /* function inlined into its caller */
	FRAME_PYTHON,           /* Python function: file and line of its definition, or the line that ran */
	FRAME_KINDS,
};

/* A function, as far as it is known. Texts belong to the resolver. */
struct report_frame {
	const char *name;       /* NULL: no symbol */
	const char *module;     /* file name, "[kernel]"; NULL: unknown */
	u64 offset;             /* within the module, if there is no name */
	enum frame_kind kind;
	const char *file;       /* source file with its directory; NULL: not requested or unknown */
	u32 line;               /* 0: not requested or unknown */
};

/*
 * First frames of stacks in reports that combine on-CPU and off-CPU time; the second is followed by
 * a state and ']'.
 */
#define NOTE_ON_CPU "[on-CPU]"
#define NOTE_OFF_CPU "[off-CPU: "

bool report_frame__is_off_cpu(const struct report_frame *f);

/* Position of a frame; both are FRAME_PLACES if merged stacks differ in it. */
struct report_place {
	u64 address;
	u64 offset;             /* from the start of the named function, or of the module without one */
};

#define FRAME_PLACES UINT64_MAX

/*
 * One of several events of a report, whose values have different units and are never added up. Each stack has a value
 * of one event. Its key begins with the field "event", which trees, pictures and profiles leave out, since they show
 * the event elsewhere.
 */
struct report_event {
	const char *name;       /* "page-faults"; borrowed, not escaped */
	const char *share_name; /* "page-faults%": the title of a column of shares; borrowed, not escaped */
	const char *unit;       /* of values, plural: "samples" */
	u64 period;             /* as in report_stacks */
	u64 total;              /* of all its stacks, including those cut by --top */
	u64 chosen, left_out;   /* as in the report */
	u64 missed;             /* events that the kernel counted but did not sample */
};

#define REPORT_MOST_EVENTS 8

/* Key and frames are unique in a report. */
struct report_stack {
	u32 key;                /* index into keys */
	u32 event;              /* index into events, if there are several */
	u32 nframes;
	u32 *frame;             /* indexes into frames, outermost caller first */
	struct report_place *place;     /* per frame */
	u64 value;
	u64 before;             /* for comparisons of two runs: value in the first run */
};

struct report_stacks {
	const struct report_frame *frame;       /* borrowed */
	size_t nframes;
	struct report_row *key; /* grouping keys; rows without cells if not grouped */
	size_t nkeys;
	struct report_stack *stack;     /* largest first */
	size_t n;
	struct report_event *event;     /* nevents of them, borrowed; NULL: all values are of one event */
	size_t nevents;
	/* of all stacks, including those cut by --top; with several events it only serves as their number */
	u64 total;
	const char *unit;       /* of values, plural: "samples"; of several events: "value" */
	const char *type;       /* what values are, for other programs: "off-cpu"; NULL: the unit says it */
	u64 period;             /* weight of one sample: ns if unit is "samples", else events; 0: unknown */
	bool compared;          /* with an earlier run */
	u64 before;             /* total of the earlier run */
	bool callee_first;      /* trees and pictures start from the innermost frames */
};

/* Whether two runs differ by more than chance (`tally diff --test`). */
struct report_verdict {
	const char *text;       /* a line */
	u64 tested, different;  /* rows */
	double least_percent;   /* smaller changes are ignored */
	double reach_percent;   /* change that would be detected in half of the rows; not finite: unknown */
	u64 intervals[2], block[2];     /* of each run; length of the blocks that are drawn */
};

struct report {
	const char *tool;
	const char *source;     /* where the numbers come from, and the attach points */
	const char *caveat;     /* a sentence that the reader must know, or NULL */
	const char *begun;      /* meaning of counters.begun_before, behind its number; NULL: events that ended */
	const char *value;      /* what is measured, for people: "wait for a CPU" */
	/*
	 * The same in names of metrics, which must not change if value is reworded: "wait" and its unit become
	 * tally_runqlat_wait_seconds. NULL: derived from value.
	 */
	const char *metric;
	enum unit unit;         /* of histograms */
	bool table;             /* the rows are the measurement; text prints their titles */
	const char *no_table;   /* option that shows histograms instead of the rows, or NULL: do not mention it */
	bool standing;          /* state at the end of the interval: no row adds up over intervals */
	u64 read_ns;            /* of a picture: time to read the events, which value names in the plural */
	const char *command;    /* the tool's command line, or NULL */
	const char *kernel;     /* uname -r */
	int cpus;
	u64 start_ns;           /* CLOCK_REALTIME */
	u64 duration_ns;
	u64 measured_ns;        /* counts are estimated from this part of it; 0: they cover all of it */
	bool has_events;        /* events, filtered and lost apply */
	bool has_losses;        /* lost applies; events and filtered do not */
	bool has_max_keys;      /* the tool has --max-keys */
	const char *room_by;    /* the options that make room if maps are full; NULL: --max-keys */
	u64 events;             /* in the groups or rows, including those cut by --top */
	struct loss_counters counters;
	bool is_sampled;        /* events are samples, by a clock or a counter */
	bool is_estimate;       /* counts stand for more events; the source tells all readers for how many */
	u64 throttled;          /* least number of times the kernel throttled sampling, over all CPUs */
	size_t hidden;          /* groups or rows cut by --top */
	const char *nothing;    /* explanation if there are no events, or NULL: none happened in scope */
	const char *left_out_by; /* option that selects the stacks, or NULL; other values omit excluded stacks */
	u64 left_out;           /* value of the excluded stacks */
	u64 chosen;             /* value of the selected ones */
	struct report_group *group;
	size_t ngroups;
	struct report_row *row;
	size_t nrows;
	u32 total_from;         /* text has a total of this many rows and more; 0: it has none */
	/*
	 * For the heading of a report without rows: the cells that a row would have; only their names are used. Without
	 * groups or stacks: the cells of their keys. No cells: unknown, or not needed.
	 */
	struct report_row columns;
	bool columns_of_lines;  /* the report has only single events, and these are their columns */
	struct report_stacks *stacks;   /* the measurement, if it has stacks; else NULL */
	struct report_listings *listings;       /* of functions (report/listing.h); NULL: none */
	const struct report_overhead *overhead; /* --overhead; borrowed; NULL: not requested */
	const struct report_verdict *verdict;   /* borrowed; NULL: not requested */
};

/*
 * Append a cell to a row under construction: a text (copied; NULL: none) or a number. Return 0 or
 * -ENOMEM.
 */
int report_row__add_text(struct report_row *row, const char *name, const char *text);
int report_row__add_number(struct report_row *row, const char *name, u64 number,
			   enum field_kind kind);
int report_row__add_field(struct report_row *row, const struct field *f);
/* The same for a text with the other members of f; f->kind counts only if there is a text. */
int report_row__add_text_as(struct report_row *row, const struct field *f, const char *text);

/* A number that adds up over intervals. */
int report_row__add_sum(struct report_row *row, const char *name, u64 number, enum field_kind kind);
int report_row__add_fields(struct report_row *row, const struct field *f, size_t n);

/* A number with a role; FIELD_NONE: the value is unknown. */
int report_row__add_figure(struct report_row *row, const char *name, u64 number, enum field_kind kind,
			   enum field_role role);

/* The mean of the column of per the column per. */
int report_row__add_mean(struct report_row *row, const char *name, u64 number, enum field_kind kind, const char *of,
			 const char *per);

/* Makes all cells so far the row's key, including numbers, except labels. */
void report_row__end_key(struct report_row *row);

/* Take over the contents of g or row; on failure (-ENOMEM) free them. */
int report__add_group(struct report *r, struct report_group *g);
int report__add_row(struct report *r, struct report_row *row);

/* Adds the row if err, from building it, is 0; otherwise frees it and returns err. */
int report__end_row(struct report *r, struct report_row *row, int err);

/* The same for the columns of a report without rows; values in row are ignored. */
int report__end_columns(struct report *r, struct report_row *row, int err);

/* Begins the total of the rows so far: "total" in the first of their nkeys key cells, nothing in the others. */
int report_row__begin_total(struct report_row *row, const struct report *r, size_t nkeys);

/* If err, from adding the last row, is 0: makes that row the columns. */
int report__keep_columns(struct report *r, int err);

/* Adds a row of n texts, which are copied. Returns 0 or -ENOMEM. */
int report__add_texts(struct report *r, const char *const *names, const char *const *texts,
		      size_t n);

/* Sort columns of groups: the name of a figure ("sum", "p99") or "key". */
int report_sort_column(const char *name);       /* -EINVAL: unknown */
const char *report_sort_columns(void);          /* all of them, for messages */
const char *report_sort_column_name(size_t i);  /* NULL: there are no more */

/* Sorts by a column, largest first ("key": ascending), and keeps the first top (0: all). */
void report__sort_groups(struct report *r, int column, size_t top);

/*
 * Sorts rows by the cell named column, largest first, cells without a value last; ties, or all rows
 * if column is NULL, by their first nkeys cells, ascending. Keeps the first top (0: all).
 */
void report__sort_rows(struct report *r, const char *column, size_t nkeys, size_t top);

/*
 * Default sort column for rows of several intervals: "total", or the first column that adds up;
 * NULL: neither.
 */
const char *report__usual_column(const struct report *r);

/* The whole that the shares of a stack refer to: the total of its event, or of all. */
u64 report_stacks__total(const struct report_stacks *s, const struct report_stack *stack);

/*
 * Sorts stacks, largest first, with several events by share; ties by the names of frames. Keeps the first top (0: all).
 */
void report__sort_stacks(struct report *r, size_t top);

void report__free(struct report *r);

/* The caveat, or the basis of an estimate; NULL if there is neither. May be written to room. */
#define REPORT_NOTE_SPACE (64 + 2 * UNITS_SPACE)
const char *report__note(const struct report *r, char room[REPORT_NOTE_SPACE]);

/* The end of a heading, behind the value: " during 3.00 s", or ", read in 1.20 ms". */
const char *report__when(const struct report *r, char room[REPORT_NOTE_SPACE]);
void report_stacks__free(struct report_stacks *s);
void report_group__free(struct report_group *g);
void report_row__free(struct report_row *row);

/* The percentiles that every writer shows. */
struct report_percentile {
	const char *json;       /* "p999" */
	const char *text;       /* "p99.9" */
	u32 per_10k;
};
extern const struct report_percentile report_percentiles[4];

enum report_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_OPENMETRICS,     /* histograms and tables; events only as a number. Whole run: run/metrics.h */
	FORMAT_PROMETHEUS,      /* the same in the older text format; a name only: see cli__set_format() */
	FORMAT_HTML,            /* one page of all reports and events (report/html.h) */
	FORMAT_CSV,
	FORMAT_FOLDED,          /* from here on, stacks only */
	FORMAT_FLAME,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_SVG,             /* heat maps only */
	FORMATS,
};

/*
 * report_format() and report_stack_format() return -EINVAL for an unknown format; the latter also for a format that is
 * not for stacks ("tree" is text).
 */
int report_format(const char *name);
const char *report_format_name(enum report_format format);

static inline bool format_is_metrics(int format)
{
	return format == FORMAT_OPENMETRICS || format == FORMAT_PROMETHEUS;
}

int report_stack_format(const char *name);

struct stream_line;
struct writer;

/*
 * Receives reports in place of a file, for callers that combine several measurements. Arguments
 * belong to the caller and are valid only during the call. end() follows all reports of an
 * interval. All return 0 or a negative errno.
 */
struct writer_sink {
	void *context;
	int (*report)(void *context, const struct report *r);
	/* w: of_tool, of_command */
	int (*line)(void *context, const struct writer *w, const struct stream_line *line);
	/* The columns of lines, before the report on them; NULL: not wanted. */
	int (*columns)(void *context, const struct writer *w, const struct stream_line *like);
	int (*end)(void *context);
	bool ignores_frames;    /* names of frames need not be looked up */
};

/* Destination and format of reports; set up by the output options. */
struct writer {
	FILE *file;
	const char *path;       /* file that each report replaces (report/replace.h), or NULL */
	struct replacement replacement; /* of that file, from the first report on */
	int failed;             /* first write error; -EPIPE: the reader is gone, -ECANCELED: it stopped reading */
	/* Readable once the run must end (signalfd(2)): a reader that does not read is then not waited for. 0: none */
	int stop_fd;
	/*
	 * May be NULL. Receives the text of each report in place of a file. Returns 0 or a negative
	 * errno.
	 */
	int (*publish)(void *publisher, const char *text, size_t n);
	void *publisher;
	struct openmetrics *metrics;    /* FORMAT_OPENMETRICS with a sink: collects the reports; or NULL */
	const struct writer_sink *sink; /* borrowed; NULL: reports and lines are written */
	struct html *html;      /* FORMAT_HTML: the page so far; written on close */
	const char *host;       /* host of the reports, for the head of a page; or NULL */
	const char *tool;       /* in a run of several tools: the tool whose single events are written; else NULL */
	const char *of_tool, *of_command;       /* the same for a sink, in any run */
	enum report_format format;
	char separator;         /* CSV */
	bool milliseconds;
	bool timestamps;
	bool only_lines;        /* the output has lines of single events; text reports go to standard error */
	const char *more;       /* how to see rows that were left out; NULL: "--top N" */
	/*
	 * text for a terminal: without the kernel and, unless they are estimates, the source of the numbers; trees
	 * without repetitions
	 */
	bool brief;
	bool header;            /* the CSV or text header has been written */
	bool follows;           /* text: a report has been written, and a blank line separates the next */
	bool is_last;           /* the run has ended: this is the last output */
	bool prometheus;        /* FORMAT_OPENMETRICS: files and standard output get the older text format */
	struct terminal terminal;       /* of text output; rows: 0 to show all of them */
	/* columns of single events of all tools on a terminal, from the first event on; else NULL */
	struct stream_columns *columns;
};

/* Writes one report and flushes it. Returns 0 or a negative errno (-EPIPE: the reader is gone). */
int MUST_CHECK writer__write(struct writer *w, const struct report *r);

/*
 * Output in one piece: begin redirects the writer to memory; end writes that memory if err is 0,
 * and flushes. Both return 0 or a negative errno; end returns err if it is set.
 */
struct writing {
	FILE *file;
	char *text;
	size_t n;
};

/*
 * Appends n bytes to the file and flushes it. Returns 0 or a negative errno; failed keeps the first
 * error.
 */
int MUST_CHECK writer__emit(struct writer *w, const char *text, size_t n);

/* Writes the page, if any, and closes the file unless it is standard output. Errors of closing are stored in failed. */
void writer__close(struct writer *w);

int MUST_CHECK writer__begin(struct writer *w, struct writing *writing);
int MUST_CHECK writer__end(struct writer *w, struct writing *writing, int err);

/* The writers. They only return -ENOMEM; write errors stay with the file (ferror()). */
int write_text(struct writer *w, const struct report *r);
int write_json(struct writer *w, const struct report *r);
int write_csv(struct writer *w, const struct report *r);

/* Writes the listings of a report as text. */
void write_listings(struct writer *w, const struct report *r);

/* Writes one CSV cell, quoted if necessary. */
void csv_put_text(struct writer *w, const char *text);

/*
 * Writers of stacks. Tree: callers first, shares of the total. Folded: one line per stack, frames
 * joined by ';', then the value. Flame: a standalone SVG file. Pprof: report/pprof.h. Speedscope: a
 * standalone JSON file.
 */
int write_tree(struct writer *w, const struct report *r);
int write_folded(struct writer *w, const struct report *r);
int write_flame(struct writer *w, const struct report *r);
int write_pprof(struct writer *w, const struct report *r);
int write_speedscope(struct writer *w, const struct report *r);

#endif /* TALLY_OUT_REPORT_H */
