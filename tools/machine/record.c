// SPDX-License-Identifier: BSD-2-Clause
/*
 * record: writes measurements to a file (record/store.h), by interval. show, diff and triage read
 * windows of this file.
 */
#include <string.h>

#include "machine/triage/rules.h"
#include "record/store.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/several.h"
#include "tools.h"

#define DEFAULT_INTERVAL_NS (10 * NSEC_PER_SEC)
#define DEFAULT_KEEP_NS (24 * 3600 * NSEC_PER_SEC)
#define DEFAULT_BYTES (256ULL << 20)
#define LEAST_BYTES (1ULL << 20)

struct recording {
	const char *path;
	struct store_limits limits;
	struct several_lines lines;
	struct store *store;
	u64 interval_ns;
};

static int take_report(void *context, const struct report *r)
{
	struct recording *rec = context;

	return store__add_report(rec->store, r);
}

static int take_line(void *context, const struct writer *w, const struct stream_line *line)
{
	struct recording *rec = context;

	return store__add_line(rec->store, w->of_tool, w->of_command, line);
}

static int take_columns(void *context, const struct writer *w, const struct stream_line *like)
{
	struct recording *rec = context;

	return store__add_columns(rec->store, w->of_tool, w->of_command, like);
}

static int end(void *context)
{
	struct recording *rec = context;

	return store__end_interval(rec->store);
}

static int begin(void *context, struct run *run)
{
	struct recording *rec = context;
	const struct store_origin origin = {
		.kernel = run->host.uts.release, .host = run->host.uts.nodename, .cpus = run->host.cpus_online,
		.interval_ns = rec->interval_ns,
	};

	return store__create(&rec->store, rec->path, &origin, &rec->limits);
}

/* Reports the result. The exit status shows whether intervals are missing. */
static int conclude(const struct recording *rec, int code)
{
	struct store_progress p = store__progress(rec->store);
	char intervals[UNITS_SPACE], bytes[UNITS_SPACE];

	if (p.left_out)
		diag_warn("%llu %s not written: there was no room", p.left_out,
			  p.left_out == 1 ? "interval was" : "intervals were");
	if (p.intervals)
		diag_hint("%s %s, %s: tally show %s; tally triage %s", format_count(intervals, p.intervals),
			  p.intervals == 1 ? "interval" : "intervals", format_value(bytes, p.bytes, UNIT_BYTES, false),
			  rec->path, rec->path);
	return code == EXIT_DONE && p.left_out ? EXIT_LOST : code;
}

static int record_lines(struct recording *rec, struct cli *cli)
{
	struct several_plan plan = {
		.line = rec->lines.n ? rec->lines.line : triage_lines, .n = rec->lines.n ?: triage_line_count,
		.needed = rec->lines.n ? 0 : triage_lines_needed,
		.sink = { rec, take_report, take_line, take_columns, end }, .begin = begin,
	};
	int code;

	rec->interval_ns = cli->interval_ns;
	code = several__run(find_tool_spec, &plan, cli);
	if (rec->store)
		code = conclude(rec, code);
	store__close(rec->store);
	return code;
}

/*
 * --- the command line --------------------------------------------------------------------------
 */

static bool takes(void *input, char *arg)
{
	struct recording *rec = input;

	return several_lines__take(&rec->lines, arg);
}

static int end_options(void *own)
{
	const struct recording *rec = own;

	if (rec->path)
		return 0;
	diag_error("-o FILE is required");
	return -EINVAL;
}

static const struct option_row rows[] = {
	{ "output", 'o', "FILE", ROW_TEXT,
	  "The recording: created with mode 0600, or continued", 1, FIELD(struct recording, path) },
	{ "keep", 0, "TIME", ROW_TIME, "Keep the newest intervals for this long (default 24h)", 1,
	  FIELD(struct recording, limits.keep_ns), .unit_ns = NSEC_PER_SEC, .least = 1, .wanted = "a time like 24h" },
	{ "size", 0, "BYTES", ROW_SIZE,
	  "Drop the oldest intervals above this size; the log beside the file takes at most as much (default 256M)", 1,
	  FIELD(struct recording, limits.bytes), .least = LEAST_BYTES, .most = 1ULL << 50,
	  .wanted = "a size like 256M, of at least 1M" },
	{},
};

static int record(int argc, char **argv)
{
	struct recording rec = { .limits = { DEFAULT_KEEP_NS, DEFAULT_BYTES } };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_MEASURE | CLI_COMMAND,
		.rows = rows,
		.args_doc = "['TOOL [OPTION...]'...] [INTERVAL [COUNT]]\n"
		    "['TOOL [OPTION...]'...] -- COMMAND [ARG...]",
		.own_input = &rec,
		.takes = takes,
		.end = end_options,
		.arguments = complete_tools,
		.doc = "Records the measurements of triage, or of the given lines, interval by interval (10 s) into a "
		       "file of bounded size, until interrupted. tally show FILE prints any window of it, and tally "
		       "triage FILE says when something was wrong. The file can be read while it is written.",
	};
	struct cli cli;
	int code = EXIT_USAGE;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (!several_lines__check(&rec.lines)) {
		if (!cli.interval_ns)
			cli.interval_ns = DEFAULT_INTERVAL_NS;
		code = record_lines(&rec, &cli);
	}
	cli__free(&cli);
	return code;
}

TOOL(record, AREA_MACHINE, "a file of the last hours: measurements interval by interval");
