// SPDX-License-Identifier: BSD-2-Clause
/* show: any window of a recording, as the tools would have printed it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "record/merge.h"
#include "record/store.h"
#include "record/when.h"
#include "report/diag.h"
#include "report/html.h"
#include "report/stream.h"
#include "run/run.h"
#include "run/tabulate.h"
#include "tools.h"

#define TOP_OF_TEXT 30          /* rows shown without --top; the others are only counted */

struct show {
	const char *path, *line;
	bool whole_line;        /* line is that of a measurement, not the name of a tool */
	struct when when;
	const char *sort;
	bool each;
	int format;             /* -1 if not given */
	const struct cli *cli;
	struct writer writer;
	struct merge *merge;
};

/*
 * --- contents ----------------------------------------------------------------------------------
 */

static int add_measurement(struct report *r, const struct store_measurement *m)
{
	char from[WHEN_SPACE], to[WHEN_SPACE];
	enum field_kind kind = m->events == UINT64_MAX ? FIELD_NONE : FIELD_NUMBER;
	struct report_row row = {};
	int err = report_row__add_text(&row, "line", m->command);

	if (!err)
		err = report_row__add_number(&row, "intervals", m->reports, FIELD_NUMBER);
	if (!err)
		err = report_row__add_figure(&row, "events", m->events, kind, ROLE_COUNTER);
	if (!err)
		err = report_row__add_number(&row, "measured", m->duration_ns, FIELD_DURATION);
	if (!err)
		err = report_row__add_text(&row, "from", m->reports ? when__text(from, m->begin_ns) : NULL);
	if (!err)
		err = report_row__add_text(&row, "to", m->reports ? when__text(to, m->end_ns) : NULL);
	return report__end_row(r, &row, err);
}

static int list_measurements(struct show *show, const struct store_measurement *m, size_t n, u64 begin_ns, u64 end_ns)
{
	struct report r = {
		.tool = "show", .value = "measurements", .table = true, .standing = true, .command = show->path,
		.start_ns = begin_ns, .duration_ns = end_ns - begin_ns,
	};
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++)
		err = add_measurement(&r, &m[i]);
	if (!err)
		err = writer__write(&show->writer, &r);
	report__free(&r);
	return err;
}

/*
 * --- a window ----------------------------------------------------------------------------------
 */

static bool has_column(const struct report *r, const char *name)
{
	size_t i;

	for (i = 0; r->nrows && i < r->row[0].ncells; i++)
		if (!strcmp(r->row[0].cell[i].name, name))
			return true;
	return false;
}

static int tabulate(const struct show *show, struct report *r, int column, u64 top)
{
	static const struct tabulation table = { .full = true };
	struct cli cli = *show->cli;

	cli.sort = column;
	cli.top = top;
	r->no_table = cli.form == FORM_TABLE ? NULL : "--hist";
	return report__tabulate(r, &table, &cli);
}

static bool is_table(const struct show *show, const struct report *r)
{
	return show->cli->form == FORM_TABLE ||
	       (!show->cli->form && tabulate__has_many(r, show->cli, &show->writer));
}

/* The total is of all rows, including those cut. */
static int sort_rows(const struct show *show, struct report *r, u64 top)
{
	bool totalled = show->cli->format == FORMAT_TEXT && r->total_from && r->nrows >= r->total_from;
	struct report_row total = {};
	int err = totalled ? merge__total(r, &total) : 0;

	if (err)
		return err;
	report__sort_rows(r, show->sort ?: report__usual_column(r), 1, top);
	return totalled ? report__add_row(r, &total) : 0;
}

static int sort(const struct show *show, struct report *r)
{
	int err;
	u64 top = show->cli->top ?: show->cli->format == FORMAT_TEXT ? TOP_OF_TEXT : 0;
	int column = report_sort_column(show->sort ?: "count");

	if (show->sort && r->nrows && !has_column(r, show->sort)) {
		diag_error("--sort: %s has no column '%s'", r->command, show->sort);
		return -EINVAL;
	}
	if (show->sort && r->ngroups && column < 0) {
		diag_error("--sort: unknown column '%s'; expected one of %s", show->sort, report_sort_columns());
		return -EINVAL;
	}
	err = r->nrows ? sort_rows(show, r, top) : 0;
	if (err)
		return err;
	if (r->ngroups && is_table(show, r))
		return tabulate(show, r, column, top);
	if (r->ngroups)
		report__sort_groups(r, column, top);
	if (r->stacks)
		report__sort_stacks(r, show->cli->top);
	return 0;
}

static int write_report(struct show *show, struct report *r)
{
	int err = 0;

	if (show->writer.format >= FORMAT_FOLDED && !r->stacks) {
		diag_error("%s has no stacks, and this format needs them", r->command);
		return -EINVAL;
	}
	if (merge__count(show->merge) > 1 || show->sort || show->cli->top || show->cli->format == FORMAT_TEXT ||
	    show->cli->form == FORM_TABLE)
		err = sort(show, r);
	return err ?: writer__write(&show->writer, r);
}

static int take_report(void *context, const struct report *r)
{
	struct show *show = context;

	if (show->writer.format == FORMAT_HTML && !show->each && html__add_interval(&show->writer, r))
		return -ENOMEM;
	return merge__add(show->merge, r);
}

static int take_line(void *context, const char *tool, const struct stream_line *line)
{
	struct show *show = context;

	(void)tool;
	show->writer.only_lines = cli__is_piped(show->cli, &show->writer);
	return stream__write_line(&show->writer, NULL, line);
}

/* Writes the report of the interval, or of all intervals. */
static int write_merged(struct show *show)
{
	struct report *r = merge__report(show->merge);
	int err = r ? write_report(show, r) : 0;

	merge__free(show->merge);
	show->merge = merge__new();
	return err ?: show->merge ? 0 : -ENOMEM;
}

static int end_of_interval(void *context, u64 start_ns, u64 duration_ns)
{
	(void)start_ns;
	(void)duration_ns;
	return write_merged(context);
}

static int show_one(struct show *show, struct store *store, const struct store_measurement *m,
		    const struct store_window *window, bool *any)
{
	const struct store_reader reader = {
		.context = show, .report = take_report, .line = take_line,
		.end = show->each ? end_of_interval : NULL,
	};
	int err;

	show->merge = merge__new();
	show->writer.header = show->writer.only_lines = false;
	err = show->merge ? store__read(store, window, m->id, &reader) : -ENOMEM;
	*any |= !err && merge__count(show->merge);
	if (!err && !show->each)
		err = write_merged(show);
	merge__free(show->merge);
	show->merge = NULL;
	return err;
}

static bool is_asked_for(const struct show *show, const struct store_measurement *m)
{
	if (show->whole_line)
		return !strcmp(show->line, m->command);
	return !strcmp(show->line, "all") || !strcmp(show->line, m->tool) || !strcmp(show->line, m->command);
}

static size_t count_asked_for(const struct show *show, const struct store_measurement *m, size_t n)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += is_asked_for(show, &m[i]);
	return count;
}

static int show_window(struct show *show, struct store *store, const struct store_measurement *m, size_t n,
		       const struct store_window *window)
{
	size_t count = count_asked_for(show, m, n), i;
	bool any = false;
	int err = 0;

	if (!count) {
		diag_error("'%s' was not recorded", show->line);
		diag_hint("tally show %s lists what was recorded", show->path);
		return -EINVAL;
	}
	show->whole_line = count > 1 && show->cli->format == FORMAT_CSV;
	if (show->whole_line && count_asked_for(show, m, n) != 1) {
		diag_error("--csv shows one line, but '%s' selects %zu; use --json", show->line, count);
		return -EINVAL;
	}
	for (i = 0; i < n && !err; i++) {
		if (!is_asked_for(show, &m[i]))
			continue;
		if (count > 1 && !show->whole_line)
			show->writer.tool = m[i].tool;
		show->writer.of_tool = m[i].tool;
		show->writer.of_command = m[i].command;
		err = show_one(show, store, &m[i], window, &any);
	}
	if (!err && !any && !show->each)
		diag_warn("nothing was recorded in that window");
	return err;
}

static int show_file(struct show *show, struct store *store)
{
	struct store_measurement *m = NULL;
	struct store_window window;
	u64 begin_ns, end_ns;
	size_t n = 0;
	int err = store__extent(store, &begin_ns, &end_ns);

	if (!err)
		err = store__measurements(store, &m, &n);
	if (!err)
		err = when__window(&show->when, begin_ns, end_ns, &window);
	if (!err)
		err = show->line ? show_window(show, store, m, n, &window) :
				   list_measurements(show, m, n, begin_ns, end_ns);
	free(m);
	return err;
}

/*
 * --- the command line --------------------------------------------------------------------------
 */

#define FORMAT_NAMES "text, json, csv, html; for stacks also tree, folded, flame, svg, pprof, speedscope"

static int parse_format(void *own, char *arg)
{
	struct show *show = own;

	show->format = report_stack_format(arg);
	if (show->format >= 0 && !format_is_metrics(show->format))
		return 0;
	diag_error("--format: '%s' is not one of " FORMAT_NAMES, arg);
	return -EINVAL;
}

static const char *const formats[] = {
	"text", "json", "csv", "html", "tree", "folded", "flame", "svg", "pprof", "speedscope",
};

static int take_argument(void *own, char *arg)
{
	struct show *show = own;

	if (show->line) {
		diag_error("unexpected argument '%s': one line is shown, or 'all'", arg);
		return -EINVAL;
	}
	*(show->path ? &show->line : &show->path) = arg;
	return 0;
}

static int end_options(void *own)
{
	const struct show *show = own;

	if (show->path)
		return 0;
	diag_error("no recording given: tally show FILE; tally record -o FILE creates one");
	return -EINVAL;
}

static const struct option_row rows[] = {
	{ "from", 0, "TIME", ROW_TEXT, "From this time: 03:14, '2026-11-23 03:14:05', -10m (before the end)", 1,
	  FIELD(struct show, when.from) },
	{ "to", 0, "TIME", ROW_TEXT, "Up to this time", 1, FIELD(struct show, when.to) },
	{ "at", 0, "TIME", ROW_TEXT, "The minute around that time", 1, FIELD(struct show, when.at) },
	{ "each", 0, NULL, ROW_FLAG, "One report per interval", 1, FIELD(struct show, each) },
	{ "sort", 0, "COL", ROW_TEXT, "Order rows by this column (default total, or the first column that adds up)", 1,
	  FIELD(struct show, sort) },
	{ "format", 0, "NAME", ROW_OWN, FORMAT_NAMES, HELP_OUTPUT, .parse = parse_format, WORDS(formats) },
	{},
};

/* Completes FILE, then lines and times. */
static void complete_arguments(struct completion *c)
{
	if (!c->position)
		completion__leave(c, "files");
	if (c->position == 1) {
		complete_tools(c);
		completion__add(c, "all", "");
	}
}

static int show(int argc, char **argv)
{
	struct show show = { .when.width_ns = 60 * NSEC_PER_SEC, .format = -1 };
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT | CLI_TOP | CLI_FORM,
		.rows = rows,
		.args_doc = "FILE [TOOL|LINE|all]",
		.argument = take_argument,
		.end = end_options,
		.own_input = &show,
		.arguments = complete_arguments,
		.doc = "Prints a window of a recording as the tool would have printed it: counts, sums and "
		       "histograms of its intervals add up exactly. Without TOOL, lists what was recorded, and when. "
		       "An interval belongs to the window that contains its middle.",
	};
	struct store *store = NULL;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	show.cli = &cli;
	if (show.format >= 0)
		cli.format = show.format;
	err = cli__open_writer(&cli, &show.writer);
	if (!err)
		err = store__open(&store, show.path);
	if (!err)
		show.writer.host = store__host(store);
	if (!err)
		err = show_file(&show, store);
	err = cli__close_writer(&show.writer, err);
	store__close(store);
	cli__free(&cli);
	return err == -EINVAL ? EXIT_USAGE : err == -ENOSYS ? EXIT_UNABLE : err ? EXIT_FAILED : EXIT_DONE;
}

TOOL(show, AREA_MACHINE, "any window of a recording, as the tools would have printed it");
