/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line options that tools share, in groups from which a tool selects (glibc argp children):
 *
 *   CLI_SCOPE    -p -t -u -G -C --comm --pidns -a --follow-forks      tasks and CPUs to measure
 *   CLI_TIME     [interval [count]] -I -d --reports    duration, and number of reports
 *   CLI_KEYS     --by -P -L --max-keys                 grouping
 *   CLI_TOP      --top                                 number of groups shown
 *   CLI_GROUPS   --sort --heat (CLI_SORT, CLI_HEAT)    order of groups, or change over time (histograms)
 *   CLI_ORDER    --sort                             order of a table, by its columns (report/column.h)
 *   CLI_TABLE    --table                               histograms as rows of a table
 *   CLI_HIST     --hist                                histograms instead of a table
 *   CLI_LIVE     --live                                reports on the whole terminal, with keys
 *   CLI_EVENTS   -e -x --filter                        events to measure
 *   CLI_OUTPUT   --json --csv --format -o --append -T -v    output format (every tool)
 *   CLI_MEASURE  -n --strict --ready-fd --delay --overhead --budget    options of a measurement
 *   CLI_METRICS  --format openmetrics, prometheus      figures, or the number of lines, as metrics
 *   CLI_LISTEN   --listen                              metrics over HTTP
 *   CLI_RUN      CLI_MEASURE, CLI_METRICS and CLI_LISTEN
 *   CLI_TIMES    -m                                    unit of values that are times
 *   CLI_LINES    --template                            layout of the lines of single events
 *   CLI_COMMAND  --env, -- command args...             command to run and measure
 *
 * A letter has the same meaning in all tools. A tool adds its own options as rows (cli_spec.rows).
 * Unknown options are rejected with the nearest name as a hint; numbers are parsed strictly.
 */
#ifndef TALLY_CLI_OPTIONS_H
#define TALLY_CLI_OPTIONS_H

#include <argp.h>

#include "cli/address.h"
#include "cli/complete.h"
#include "cli/option_row.h"
#include "cli/task_key.h"
#include "host/scope.h"
#include "report/column.h"
#include "report/report.h"
#include "base/types.h"

enum cli_groups {
	CLI_SCOPE = 1 << 0,
	CLI_TIME = 1 << 1,
	CLI_KEYS = 1 << 2,
	CLI_SORT = 1 << 3,
	CLI_OUTPUT = 1 << 4,
	CLI_MEASURE = 1 << 5,
	CLI_TIMES = 1 << 6,
	CLI_COMMAND = 1 << 7,
	CLI_TOP = 1 << 8,
	CLI_EVENTS = 1 << 9,
	CLI_LINES = 1 << 10,
	CLI_HEAT = 1 << 11,
	CLI_TABLE = 1 << 12,
	CLI_HIST = 1 << 13,
	CLI_FORM = CLI_TABLE | CLI_HIST,
	CLI_LIVE = 1 << 14,
	CLI_GROUPS = CLI_SORT | CLI_HEAT,
	CLI_LISTEN = 1 << 15,
	CLI_METRICS = 1 << 17,
	CLI_RUN = CLI_MEASURE | CLI_METRICS | CLI_LISTEN,
	CLI_ORDER = 1 << 16,
};

/*
 * Headings of --help, in order. A tool numbers its own headings 1 to 3. Two headings must not share a number: argp
 * would print nothing below one of them.
 */
enum help_heading { HELP_EVENTS = 4, HELP_STACKS, HELP_SCOPE, HELP_TIME, HELP_GROUPING, HELP_OUTPUT, HELP_RUN };

/* The groups of most measurements. */
#define CLI_HISTOGRAM                                                                              \
	(CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_GROUPS | CLI_FORM | CLI_OUTPUT |          \
	 CLI_RUN | CLI_COMMAND | CLI_LIVE)

/* Form in which the distributions of several keys are shown. */
enum cli_form {
	FORM_USUAL,             /* the tool's default; a table for many keys on a terminal (run/tabulate.h) */
	FORM_TABLE,             /* --table */
	FORM_HISTOGRAMS,        /* --hist */
};

/* The parsed options; zero if not given, unless stated otherwise. */
struct cli {
	struct scope_options scope;
	bool asked_follow;      /* --follow-forks or --no-follow-forks was given */
	u64 interval_ns;        /* 0: one report at the end */
	u64 count;              /* reports; 0: no limit */
	u64 duration_ns;        /* 0: until interrupted, or until the command ends */
	u64 delay_ns;           /* --delay: from the start of the command or the tool until measuring begins */
	u32 by;                 /* enum task_key_part and BY_OWN(), ORed */
	const char *by_text;    /* --by as typed, if the tool has its own keys (spec->own_keys) */
	bool own_keys;
	bool has_max_keys;      /* CLI_KEYS */
	const struct own_parts *own_parts;
	const char *keys;       /* from the spec */
	const char *formats;    /* from the spec */
	u32 groups;             /* from the spec */
	u32 usual_keys, usual_stacks;   /* from the spec */
	u32 max_keys;           /* --max-keys, or CLI_DEFAULT_MAX_KEYS */
	u32 asked_keys;         /* --max-keys; 0 if not given */
	u64 top;                /* 0: all */
	bool heat;              /* --heat; sets an interval if none is given */
	bool heat_live;         /* --heat with an interval given by the user */
	u64 heat_top;           /* --top with --heat; top is 0 then */
	u64 metrics_top;        /* --top with OpenMetrics, which ranks over the whole run; top is 0 then */
	enum cli_form form;
	bool live;              /* --live: reports have all rows, and the screen shows live_top of them */
	u64 live_top;           /* --top with --live, 0: all; top is 0 then */
	int sort;               /* a report_sort_column(); -1: the tool's default order */
	const struct column *columns;   /* from the spec */
	const char *order;      /* CLI_ORDER: the column to sort by; NULL: by key */
	const char **events;    /* arguments of -e, in order; pointers into argv */
	size_t nevents;
	const char *binary;     /* -x */
	const char *filter;     /* first --filter */
	bool filter_each;       /* from the spec */
	struct cli_filter {
		const char *text;
		size_t end;     /* number of events[] that precede it */
	} *filters;             /* all --filter, in order */
	size_t nfilters;
	enum report_format format;
	bool has_format;                /* format was given explicitly, not derived from the name of -o */
	char separator;
	bool prometheus;                /* FORMAT_OPENMETRICS: written as Prometheus text 0.0.4 */
	bool milliseconds;
	bool timestamps;
	bool explain;
	bool verbose;
	bool strict;
	int ready_fd;           /* -1 if none */
	struct listen_addresses listen;         /* --listen; format is FORMAT_OPENMETRICS */
	bool profiles;          /* --listen also serves profiles */
	bool on_demand;         /* --listen without an interval: each request ends one (run/run.c) */
	bool overhead;          /* --overhead; implied by --budget */
	bool overhead_sliced;   /* overhead not requested by the user: may be estimated (run/overhead.h) */
	double budget;          /* --budget: percent of the machine; 0 if none */
	const char *template_text;      /* --template, or the tool's own */
	bool only_lines;        /* --template: the output consists of these lines only */
	u64 ring_bytes;         /* --ring-size; 0: the tool's default */
	const char *output;     /* file name; NULL: standard output */
	bool append;            /* append to the existing file */
	char **env;             /* --env: NAME=VALUE to set, or NAME to remove, for the command; pointers into argv */
	size_t nenv;
	char **command;         /* NULL-terminated, pointers into argv; NULL if none */
	char *command_line;     /* all of argv, for the report header; not escaped */
	char *meant;            /* command_line after translation */
	char **translated;      /* argv after translation (cli/habits.h); pointers into argv may point here */
};

struct cli_spec {
	u32 groups;             /* enum cli_groups, ORed */
	const char *doc;        /* description for --help, in argp's format */
	/*
	 * The tool's own options (cli/option_row.h), which set own_input, or NULL. They replace options of its groups.
	 */
	const struct option_row *rows;
	const char *args_doc;   /* the tool's own positional arguments, for --help; NULL if it has none */
	/* Takes a positional argument. Reports and returns errors. NULL if takes() does so, or if there are none. */
	int (*argument)(void *own_input, char *arg);
	/* Checks the combination of all words after parsing. May be NULL. */
	int (*end)(void *own_input);
	void *own_input;        /* the struct that rows set */
	bool own_keys;          /* the tool parses --by: cli->by_text */
	bool filter_each;       /* each --filter applies to the preceding -e */
	/* Keys of --by beyond the parts of task keys (cli/task_key.h), or NULL. */
	const struct own_parts *own_parts;
	/* Keys that --help lists for --by, if some parts of task keys do not apply; NULL: all. */
	const char *keys;
	/* Formats that --help lists for --format, if the tool lacks some formats of its groups; NULL: all. */
	const char *formats;
	/* CLI_ORDER: columns to sort by, and the default. */
	const struct column *columns;
	const char *order;
	/* Default of --max-keys shown by --help; 0: CLI_DEFAULT_MAX_KEYS. */
	u32 usual_keys;
	u32 usual_stacks;       /* default for stacks (-g) in a tool that also has other keys; 0: usual_keys */
	bool keys_of_no_task;   /* keys are not tasks: -P and -L do not apply */
	bool keys_without_room; /* keys are made in user space: --max-keys does not apply */
	bool follows;           /* -p includes later children: --follow-forks is the default */
	/*
	 * Whether a positional argument belongs to the tool; the others are interval and count.
	 * NULL: all belong to the tool.
	 */
	bool (*takes)(void *own_input, char *arg);
	/* Adds candidates for a positional argument (cli/complete.h). NULL: none. */
	void (*arguments)(struct completion *c);
};

#define CLI_DEFAULT_MAX_KEYS 10240

/*
 * Parses argv. Returns 0, or -EINVAL after reporting the error. With --help, --version and --complete (cli/complete.h),
 * prints the answer and calls exit(0), like argp. The caller frees *cli with cli__free().
 */
int cli__parse(struct cli *cli, const struct cli_spec *spec, int argc, char **argv);
void cli__free(struct cli *cli);

/* Sets the format, for tools with their own formats. FORMAT_PROMETHEUS sets FORMAT_OPENMETRICS and cli->prometheus. */
void cli__set_format(struct cli *cli, enum report_format format);

/*
 * Whether a tool with this spec has a long option whose whole name is the first len characters of
 * name.
 */
bool cli__has_option(const struct cli_spec *spec, const char *name, size_t len);

/* Returns another tool that does what was requested from this one, or NULL (cli/habits.h). */
const char *cli__other_tool(const struct cli_spec *spec, int argc, char **argv);

/* Whether the name of -o ends with what, and is longer. */
bool cli__output_ends_with(const struct cli *cli, const char *what);

/* Whether the scope selects tasks or a command. -C alone does not. */
bool cli__picks_tasks(const struct cli *cli);

/* Whether the opened writer writes to a program, rather than to a terminal or a file of -o. */
bool cli__is_piped(const struct cli *cli, const struct writer *w);

/*
 * Opens the output of reports. -o creates a new file with mode 0600, never through a symbolic link,
 * and replaces an existing regular file of that name. An OpenMetrics file is replaced atomically by
 * each report (report/replace.h), and is not created before the first. Reports errors. Returns 0 or
 * a negative errno.
 */
int MUST_CHECK cli__open_writer(const struct cli *cli, struct writer *w);

/*
 * Closes a writer, opened or all zeros, and reports write errors. err: the result so far. Returns 0
 * if the run ended because the reader has closed its end, otherwise the write error, otherwise err.
 */
int MUST_CHECK cli__close_writer(struct writer *w, int err);

#endif /* TALLY_CLI_OPTIONS_H */
