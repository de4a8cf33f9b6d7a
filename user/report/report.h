/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One report model, with one writer per format. A tool fills in a report and passes it to a writer;
 * it never prints. Strings are stored raw: the writers escape them (report/escape.h).
 *
 * A report covers one interval (or the whole run) and contains histogram groups, table rows or
 * stacks. JSON: one object per line, see docs/json.md. CSV: one header for the whole output, then
 * lines. Text is human-readable, with stacks as a tree.
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

/* How to interpret a field without text. JSON and CSV show raw numbers; "text" below means text output. */
enum field_kind {
	FIELD_NUMBER,
	FIELD_ID,               /* number of a task, user or CPU: text without digit separators */
	FIELD_SIGNED,           /* number, two's complement */
	FIELD_TIME,             /* number, ns; text: "1,234.567 ms" */
	FIELD_DURATION,         /* number, ns; text: "1.23 us", each scaled to a fitting unit */
	FIELD_SIZE,             /* number, bytes; text: scaled to a fitting unit */
	FIELD_SIGNED_SIZE,      /* number, bytes, two's complement; like FIELD_SIZE */
	FIELD_REAL,             /* real, shown with this many decimals in text */
	FIELD_NONE,             /* unknown: null in JSON, empty otherwise */
};

static inline bool field_is_signed(enum field_kind kind)
{
	return kind == FIELD_SIGNED || kind == FIELD_SIGNED_SIZE;
}

/*
 * The meaning of a cell in its row. Readers that merge reports, compare them or convert them to metrics use the role,
 * never the name or the kind of number (report/role.h).
 */
enum field_role {
	ROLE_UNSAID,            /* default: report__add_row() makes texts and ids keys, other numbers gauges */
	/*
	 * Rows with equal keys are the same row. With "of": distinguishes rows with equal keys of that name, and is
	 * valid in this run only (an address); comparisons of runs ignore it.
	 */
	ROLE_KEY,
	ROLE_LABEL,             /* belongs to the preceding key, and may change, like the comm of a pid */
	ROLE_COUNTER,           /* adds up over intervals */
	ROLE_GAUGE,             /* cannot be computed from the values of parts: a percentile, a level */
	ROLE_MINIMUM,
	ROLE_MAXIMUM,
	ROLE_MEAN,              /* the column "of" divided by the column "per" */
	ROLE_PERCENT,           /* 100 times that quotient; without "per": divided by the report's duration */
	ROLE_AT,                /* time of the maximum in the column "of" */
	ROLE_REMARK,            /* about other cells: their unit, or why they have no value */
	FIELD_ROLES,
};

/* A part of a key, or a cell of a table. Owned by the report once added. */
struct field {
	const char *name;       /* constant, e.g. "pid" */
	char *text;             /* NULL if the field is a number */
	u64 number;
	double real;
	/* FIELD_REAL: real is the double nearest to exact / exact_per. These integers are unknown if exact_per is 0. */
	__int128 exact;
	u64 exact_per;
	enum field_kind kind;
	u8 decimals;
	enum field_role role;
	const char *of, *per;   /* names of other columns, or sums of them: "hits+misses"; constant, or NULL */
	bool machine;           /* only in machine formats: text shows it elsewhere */
	bool word;              /* text shown unquoted: 0x1f */
	u8 indent;              /* columns to indent the text by, in text output */
	bool spare;             /* omitted first on narrow terminals */
	bool no_metric;         /* omitted from OpenMetrics: its unit differs between rows, or its name is a key */
};

/* Whether the field is an integer that does not fit into 64 bits. */
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
	bool is_total;          /* total of all preceding rows; always shown */
	bool later;             /* report__sort_rows() sorts it after all rows without this flag */
	struct histogram *hist; /* described by the row's figures (run/tabulate.h); owned; NULL if none */
};

/* Kind of a stack frame. */
enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,
	FRAME_NOTE,             /* not a frame, but a note about missing frames */
	FRAME_INLINED,          /* function inlined into its caller */
	FRAME_PYTHON,           /* Python function: file and line of its definition, or the line that ran */
	FRAME_KINDS,
};

/* The function of a frame. Texts are owned by the resolver. */
struct report_frame {
	const char *name;       /* NULL if it has no symbol */
	const char *module;     /* file name or "[kernel]"; NULL if unknown */
	u64 offset;             /* within the module, if name is NULL */
	enum frame_kind kind;
	const char *file;       /* source file with its directory; NULL if not requested or unknown */
	u32 line;               /* 0 if not requested or unknown */
};

/*
 * First frames of stacks in reports that combine on-CPU and off-CPU time; the second is followed by
 * a state and ']'.
 */
#define NOTE_ON_CPU "[on-CPU]"
#define NOTE_OFF_CPU "[off-CPU: "

bool report_frame__is_off_cpu(const struct report_frame *f);

/* Position of a frame. Both members are FRAME_PLACES if merged stacks differ in it. */
struct report_place {
	u64 address;
	u64 offset;             /* from the start of the named function, or of the module without one */
};

#define FRAME_PLACES UINT64_MAX

/*
 * One of several events of a report. Their values have different units and are never added up. The value of a stack
 * belongs to one event. The stack's key begins with the field "event", which trees, pictures and profiles omit, since
 * they show the event elsewhere.
 */
struct report_event {
	const char *name;       /* "page-faults"; borrowed, not escaped */
	const char *share_name; /* "page-faults%": title of its column of shares; borrowed, not escaped */
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
	u32 event;              /* index into events, if the report has several */
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
	struct report_event *event;     /* array of nevents, borrowed; NULL if all values are of one event */
	size_t nevents;
	u64 total;              /* including stacks cut by --top; with several events, only for report.events */
	const char *unit;       /* of values, plural: "samples"; "value" with several events */
	const char *type;       /* type of values, for other programs: "off-cpu"; NULL if the unit implies it */
	u64 period;             /* weight of one sample: ns if unit is "samples", otherwise events; 0 if unknown */
	bool compared;          /* with an earlier run */
	u64 before;             /* total of the earlier run */
	bool callee_first;      /* trees and pictures start from the innermost frames */
};

/* Whether two runs differ by more than chance (`tally diff --test`). */
struct report_verdict {
	const char *text;       /* a line */
	u64 tested, different;  /* numbers of rows */
	double least_percent;   /* smaller changes are ignored */
	double reach_percent;   /* change that would be detected in half of the rows; not finite if unknown */
	u64 intervals[2], block[2];     /* per run: number of intervals, and length of the resampled blocks */
};

struct report {
	const char *tool;
	const char *source;     /* source of the numbers, and the attach points */
	const char *caveat;     /* a warning to the reader, or NULL */
	const char *begun;      /* meaning of counters.begun_before, printed after it; NULL: events that ended */
	const char *value;      /* the subject, in words: "wait for a CPU" */
	/*
	 * The subject in metric names, which must not change if value is reworded: "wait" and its unit become
	 * tally_runqlat_wait_seconds. NULL: derived from value.
	 */
	const char *metric;
	enum unit unit;         /* of histograms */
	bool table;             /* the rows are the measurement; text prints their titles */
	const char *no_table;   /* option that shows histograms instead of the rows, or NULL to not mention it */
	bool standing;          /* state at the end of the interval: no row adds up over intervals */
	u64 read_ns;            /* of a picture: time to read the events, whose plural is value */
	const char *command;    /* the tool's command line, or NULL */
	const char *kernel;     /* uname -r */
	int cpus;
	u64 start_ns;           /* CLOCK_REALTIME */
	u64 duration_ns;
	u64 measured_ns;        /* counts are estimated from this part of duration_ns; 0 if they cover all of it */
	bool has_events;        /* events, filtered and lost apply */
	bool has_losses;        /* lost applies; events and filtered do not */
	bool has_max_keys;      /* the tool has --max-keys */
	const char *room_by;    /* options that enlarge full maps; NULL: --max-keys */
	u64 events;             /* in the groups or rows, including those cut by --top */
	struct loss_counters counters;
	bool is_sampled;        /* events are samples of a clock or a counter */
	bool is_estimate;       /* each count represents several events; source states how many */
	u64 throttled;          /* lower bound on how often the kernel throttled sampling, over all CPUs */
	size_t hidden;          /* number of groups or rows cut by --top */
	const char *nothing;    /* explanation if there are no events; NULL: none happened in scope */
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
	 * groups or stacks: the cells of their keys. Empty if unknown or not needed.
	 */
	struct report_row columns;
	bool columns_of_lines;  /* the report has only single events, and columns are theirs */
	struct report_stacks *stacks;   /* the measurement, if it has stacks; otherwise NULL */
	struct report_listings *listings;       /* of functions (report/listing.h); NULL if none */
	const struct report_overhead *overhead; /* --overhead; borrowed; NULL if not requested */
	const struct report_verdict *verdict;   /* borrowed; NULL if not requested */
};

/*
 * Append a cell to a row under construction: a text (copied; NULL: none) or a number. Return 0 or
 * -ENOMEM.
 */
int report_row__add_text(struct report_row *row, const char *name, const char *text);
int report_row__add_number(struct report_row *row, const char *name, u64 number,
			   enum field_kind kind);
int report_row__add_field(struct report_row *row, const struct field *f);
/* Adds a text (NULL: none) with the other members of f. f->kind is only used if text is not NULL. */
int report_row__add_text_as(struct report_row *row, const struct field *f, const char *text);

/* Adds a number that adds up over intervals. */
int report_row__add_sum(struct report_row *row, const char *name, u64 number, enum field_kind kind);
int report_row__add_fields(struct report_row *row, const struct field *f, size_t n);

/* Adds a number with a role. kind is FIELD_NONE if the value is unknown. */
int report_row__add_figure(struct report_row *row, const char *name, u64 number, enum field_kind kind,
			   enum field_role role);

/* Adds a mean: the column "of" divided by the column "per". */
int report_row__add_mean(struct report_row *row, const char *name, u64 number, enum field_kind kind, const char *of,
			 const char *per);

/* Makes all cells so far, including numbers but except labels, the row's key. */
void report_row__end_key(struct report_row *row);

/* Take ownership of the contents of g or row. On failure (-ENOMEM), free them. */
int report__add_group(struct report *r, struct report_group *g);
int report__add_row(struct report *r, struct report_row *row);

/* Adds the row if err, the result of building it, is 0. Otherwise frees it and returns err. */
int report__end_row(struct report *r, struct report_row *row, int err);

/* Like report__end_row(), for the columns of a report without rows. Values in row are ignored. */
int report__end_columns(struct report *r, struct report_row *row, int err);

/* Begins a total of the rows so far: the first of its nkeys key cells is "total", the others are empty. */
int report_row__begin_total(struct report_row *row, const struct report *r, size_t nkeys);

/* If err, the result of adding the last row, is 0, turns that row into the columns. */
int report__keep_columns(struct report *r, int err);

/* Adds a row of n texts, which are copied. Returns 0 or -ENOMEM. */
int report__add_texts(struct report *r, const char *const *names, const char *const *texts,
		      size_t n);

/* Sort columns of groups: the name of a figure ("sum", "p99") or "key". */
int report_sort_column(const char *name);       /* -EINVAL: unknown */
const char *report_sort_columns(void);          /* all of them, for messages */
const char *report_sort_column_name(size_t i);  /* NULL if there are no more */

/* Sorts by a column, largest first ("key": ascending), and keeps the first top (0: all). */
void report__sort_groups(struct report *r, int column, size_t top);

/*
 * Sorts rows by the cell named column, largest first, cells without a value last. Sorts ties, or all
 * rows if column is NULL, by their first nkeys cells, ascending. Keeps the first top (0: all).
 */
void report__sort_rows(struct report *r, const char *column, size_t nkeys, size_t top);

/*
 * Returns the default sort column for rows of several intervals: "total", or the first column that
 * adds up; NULL if neither exists.
 */
const char *report__usual_column(const struct report *r);

/* Returns the total that the share of a stack refers to: of its event, or of all stacks. */
u64 report_stacks__total(const struct report_stacks *s, const struct report_stack *stack);

/*
 * Sorts stacks by value, or by share with several events, largest first; ties by the names of frames. Keeps the first
 * top (0: all).
 */
void report__sort_stacks(struct report *r, size_t top);

void report__free(struct report *r);

/* Returns the caveat, or the basis of an estimate, or NULL. The text may be stored in room. */
#define REPORT_NOTE_SPACE (64 + 2 * UNITS_SPACE)
const char *report__note(const struct report *r, char room[REPORT_NOTE_SPACE]);

/* Returns the end of a heading, after the value: " during 3.00 s", or ", read in 1.20 ms". */
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
	FORMAT_OPENMETRICS,     /* histograms and tables; single events are only counted. Whole run: run/metrics.h */
	FORMAT_PROMETHEUS,      /* the same in the older text format; only as a name: see cli__set_format() */
	FORMAT_HTML,            /* one page of all reports and events (report/html.h) */
	FORMAT_CSV,
	FORMAT_FOLDED,          /* this and the next formats: stacks only */
	FORMAT_FLAME,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_SVG,             /* heat maps only */
	FORMATS,
};

/*
 * report_format() and report_stack_format() return -EINVAL for an unknown format, the latter also for a format that
 * does not support stacks ("tree" is text).
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
 * Receives reports in place of a file, for users that combine several measurements. Arguments are
 * valid only during the call. end() is called after all reports of an interval. All return 0 or a
 * negative errno.
 */
struct writer_sink {
	void *context;
	int (*report)(void *context, const struct report *r);
	/* w->of_tool and w->of_command identify the measurement. */
	int (*line)(void *context, const struct writer *w, const struct stream_line *line);
	/* Receives the columns of lines, before the report on them. May be NULL. */
	int (*columns)(void *context, const struct writer *w, const struct stream_line *like);
	int (*end)(void *context);
	bool ignores_frames;    /* frames need not be symbolized */
};

/* Destination and format of reports; set up by the output options. */
struct writer {
	FILE *file;
	const char *path;       /* file that each report replaces (report/replace.h), or NULL */
	struct replacement replacement; /* of that file, once the first report is written */
	int failed;             /* first write error; -EPIPE: the reader has closed, -ECANCELED: it stopped reading */
	/* Readable once the run must end (signalfd(2)): then a reader that has stopped is not waited for. 0 if none. */
	int stop_fd;
	/*
	 * Receives the text of each report in place of a file. Returns 0 or a negative errno. May be
	 * NULL.
	 */
	int (*publish)(void *publisher, const char *text, size_t n);
	void *publisher;
	struct openmetrics *metrics;    /* FORMAT_OPENMETRICS with a sink: collects the reports; or NULL */
	const struct writer_sink *sink; /* borrowed; NULL: reports and lines are written */
	struct html *html;      /* FORMAT_HTML: the page so far; written on close */
	const char *host;       /* host of the reports, for the head of a page, or NULL */
	const char *tool;       /* in a run of several: the tool whose single events are written; otherwise NULL */
	const char *of_tool, *of_command;       /* tool and command line of single events, for a sink, in any run */
	enum report_format format;
	char separator;         /* CSV */
	bool milliseconds;
	bool timestamps;
	bool only_lines;        /* the output has lines of single events; text reports go to standard error */
	const char *more;       /* how to see the omitted rows; NULL: "--top N" */
	/*
	 * Text for a terminal: omits the kernel, the source of the numbers unless they are estimates, and repetitions
	 * in trees.
	 */
	bool brief;
	bool header;            /* the CSV or text header has been written */
	bool follows;           /* text: a report has been written; a blank line precedes the next one */
	bool is_last;           /* the run has ended: this is the last output */
	bool prometheus;        /* FORMAT_OPENMETRICS: write the older text format to files and standard output */
	struct terminal terminal;       /* of text output; its rows are 0 to show all rows */
	struct stream_columns *columns; /* single events of all tools on a terminal; NULL before the first event */
};

/* Writes one report and flushes it. Returns 0 or a negative errno (-EPIPE: the reader has closed). */
int MUST_CHECK writer__write(struct writer *w, const struct report *r);

/*
 * Output in one piece. writer__begin() redirects the writer to memory. writer__end() writes that
 * memory if err is 0, and flushes. Both return 0 or a negative errno; writer__end() returns err if
 * it is not 0.
 */
struct writing {
	FILE *file;
	char *text;
	size_t n;
};

/*
 * Appends n bytes to the file and flushes it. Returns 0 or a negative errno; w->failed keeps the
 * first error.
 */
int MUST_CHECK writer__emit(struct writer *w, const char *text, size_t n);

/* Writes the page, if any, and closes the file unless it is standard output. w->failed keeps errors of closing. */
void writer__close(struct writer *w);

int MUST_CHECK writer__begin(struct writer *w, struct writing *writing);
int MUST_CHECK writer__end(struct writer *w, struct writing *writing, int err);

/* The writers. They return 0 or -ENOMEM; write errors are kept by the file (ferror()). */
int write_text(struct writer *w, const struct report *r);
int write_json(struct writer *w, const struct report *r);
int write_csv(struct writer *w, const struct report *r);

/* Writes the listings of a report as text. */
void write_listings(struct writer *w, const struct report *r);

/* Writes one CSV cell, quoted if necessary. */
void csv_put_text(struct writer *w, const char *text);

/*
 * Writers of stacks. Tree: callers first, with shares of the total. Folded: one line per stack, with
 * the frames joined by ';', then the value. Flame: a standalone SVG file. Pprof: report/pprof.h.
 * Speedscope: a standalone JSON file.
 */
int write_tree(struct writer *w, const struct report *r);
int write_folded(struct writer *w, const struct report *r);
int write_flame(struct writer *w, const struct report *r);
int write_pprof(struct writer *w, const struct report *r);
int write_speedscope(struct writer *w, const struct report *r);

#endif /* TALLY_OUT_REPORT_H */
