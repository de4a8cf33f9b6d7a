/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line all tools share, in groups that a tool picks from (glibc argp children):
 *
 *   CLI_SCOPE    -p -t -u -G -C --comm --pidns -a --follow-forks      whose events
 *   CLI_TIME     [interval [count]] -I -d              how long, how often
 *   CLI_KEYS     --by -P -L --max-keys                 summed up by what
 *   CLI_TOP      --top                                 how many of those are shown
 *   CLI_GROUPS   --sort --heat (CLI_SORT, CLI_HEAT)    in which order, or over time (histograms)
 *   CLI_EVENTS   -e -x --filter                        which events
 *   CLI_OUTPUT   --json --csv --format -o -T -v        how it is written (every tool)
 *   CLI_RUN      -n --strict --ready-fd --overhead --budget --listen    things a measurement has
 *   CLI_TIMES    -m                                    values are times
 *   CLI_LINES    --template                            how a line of a single event looks
 *   CLI_COMMAND  -- command args...                    run it and measure it
 *
 * One letter has one meaning in all tools. A tool adds its own options with an argp of its own.
 * Unknown options are refused with the nearest name; numbers are strict.
 */
#ifndef TALLY_CLI_OPTIONS_H
#define TALLY_CLI_OPTIONS_H

#include <argp.h>

#include "cli/address.h"
#include "cli/task_key.h"
#include "host/scope.h"
#include "report/report.h"
#include "base/types.h"

enum cli_groups {
	CLI_SCOPE = 1 << 0,
	CLI_TIME = 1 << 1,
	CLI_KEYS = 1 << 2,
	CLI_SORT = 1 << 3,
	CLI_OUTPUT = 1 << 4,
	CLI_RUN = 1 << 5,
	CLI_TIMES = 1 << 6,
	CLI_COMMAND = 1 << 7,
	CLI_TOP = 1 << 8,
	CLI_EVENTS = 1 << 9,
	CLI_LINES = 1 << 10,
	CLI_HEAT = 1 << 11,
	CLI_GROUPS = CLI_SORT | CLI_HEAT,
};

/* What most measurements take. */
#define CLI_HISTOGRAM                                                                              \
	(CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_GROUPS | CLI_OUTPUT | CLI_RUN |           \
	 CLI_COMMAND)

/* Everything that was asked for; zero where nothing was. */
struct cli {
	struct scope_options scope;
	bool asked_follow;      /* --follow-forks or --no-follow-forks */
	u64 interval_ns;        /* 0: one report at the end */
	u64 count;              /* reports; 0: no limit */
	u64 duration_ns;        /* 0: until interrupted, or the command ends */
	u32 by;                 /* enum task_key_part and BY_OWN(), ORed */
	const char *by_text; /* --by as typed, where the tool's keys are its own (spec->own_keys) */
	bool own_keys;
	bool has_max_keys;      /* CLI_KEYS */
	const struct own_parts *own_parts;
	const char *keys;       /* as in the spec */
	u32 usual_keys;         /* likewise */
	u32 max_keys;           /* --max-keys, or CLI_DEFAULT_MAX_KEYS */
	u32 asked_keys;         /* --max-keys; 0: not given */
	u64 top;                /* 0: all */
	bool heat;              /* --heat; an interval is set with it if none is given */
	bool heat_live;         /* one was given */
	u64 heat_top;           /* --top of heat maps: top is 0 then */
	u64 metrics_top;        /* likewise of OpenMetrics, which choose by the whole run */
	int sort;               /* a report_sort_column(); -1: the tool's own order */
	const char **events;    /* the texts of -e, in order; they point into argv */
	size_t nevents;
	const char *binary;     /* -x */
	const char *filter;     /* --filter, the first of several */
	bool filter_each;       /* as in the spec */
	struct cli_filter {
		const char *text;
		size_t end;     /* events[] in front of it */
	} *filters;             /* all of --filter, in order */
	size_t nfilters;
	enum report_format format;
	char separator;
	bool milliseconds;
	bool timestamps;
	bool explain;
	bool verbose;
	bool strict;
	int ready_fd;           /* -1: none */
	struct listen_addresses listen;         /* --listen; format is FORMAT_OPENMETRICS then */
	bool on_demand;         /* and no interval given: one ends when somebody asks (run/run.c) */
	bool overhead;          /* --overhead, or implied by: */
	double budget;          /* --budget: percent of the machine; 0: none */
	const char *template_text;      /* --template */
	u64 ring_bytes;         /* --ring-size; 0: as the tool needs */
	const char *output;     /* file name; NULL: standard output */
	char **command;         /* NULL-terminated, points into argv; NULL: none */
	char *command_line;     /* all of argv, for the report's header; not escaped */
	char *meant;            /* the same in our own words */
	char **translated;      /* argv in our own words (cli/habits.h); what points into argv may point here */
};

struct cli_spec {
	u32 groups;             /* enum cli_groups, ORed */
	const char *doc;        /* what the tool does: the help text, argp's conventions */
	const struct argp *own; /* the tool's own options, or NULL; with args_doc it takes the
				 * positional arguments, too */
	void *own_input;        /* state->input of own's parser */
	bool own_keys;          /* --by is read by the tool: cli->by_text */
	bool filter_each;       /* several --filter: each is for the -e in front of it */
	/* What --by takes beside the parts of task keys (cli/task_key.h), or NULL. */
	const struct own_parts *own_parts;
	/* What --help says that --by takes, of a tool that does not take all parts of task keys; NULL: all. */
	const char *keys;
	/* What --help says that there is room for without --max-keys; 0: CLI_DEFAULT_MAX_KEYS. */
	u32 usual_keys;
	bool keys_of_no_task;   /* and none of those by which -P and -L are */
	bool follows;           /* -p stands for later children, too: --follow-forks is the default */
	/*
	 * Which positional arguments are the tool's; the others are interval and count. NULL: all.
	 */
	bool (*takes)(void *own_input, char *arg);
};

#define CLI_DEFAULT_MAX_KEYS 10240

/*
 * Parses argv. Returns 0, or -EINVAL after saying what is wrong. --help and --version print and
 * exit(0), as argp does. The caller frees with cli__free().
 */
int cli__parse(struct cli *cli, const struct cli_spec *spec, int argc, char **argv);
void cli__free(struct cli *cli);

/* Does a tool with this command line have the long option of which these are all len characters? */
bool cli__has_option(const struct cli_spec *spec, const char *name, size_t len);

/* Another tool that does what is typed for this one, or NULL (cli/habits.h). */
const char *cli__other_tool(const struct cli_spec *spec, int argc, char **argv);

/* Are only some tasks in scope, or those of a command? -C alone leaves all of them. */
bool cli__picks_tasks(const struct cli *cli);

/*
 * Opens the place reports go to. A file of -o is made anew with mode 0600 and never through a
 * symbolic link; an existing regular file of that name is replaced. One of OpenMetrics is replaced
 * by each report as a whole (report/replace.h), and has none at first. Says what is wrong. Returns 0
 * or a negative errno.
 */
int MUST_CHECK cli__open_writer(const struct cli *cli, struct writer *w);

/*
 * Closes it, which may have been opened or be all zeros, at the end of what came to err, and says
 * what has gone wrong with writing. Returns what the whole has come to: 0 if it ended because nobody
 * reads any more, what went wrong with writing, or err.
 */
int MUST_CHECK cli__close_writer(struct writer *w, int err);

#endif /* TALLY_CLI_OPTIONS_H */
