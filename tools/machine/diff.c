// SPDX-License-Identifier: BSD-2-Clause
/* diff: compares two saved runs of one tool. See tools/machine/diff/diff.h. */
#include <string.h>

#include "cli/options.h"
#include "machine/diff/diff.h"
#include "machine/diff/window.h"
#include "report/diag.h"
#include "run/run.h"
#include "tools.h"

#define TOP 10                  /* default of --top */

struct diff {
	const char *path[2];
	unsigned int npaths;
	const char *line;       /* for recordings */
	int format;             /* --format; -1: not given */
};

static const char *const formats[] = { "text", "json", "csv", "html", "flame" };

static int parse_format(void *own, char *name)
{
	struct diff *d = own;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(name, formats[i])) {
			d->format = report_stack_format(name);
			return 0;
		}
	}
	diag_error("--format: '%s' is not one of text, json, csv, html, flame", name);
	return -EINVAL;
}

static int take_file(void *own, char *arg)
{
	struct diff *d = own;

	if (d->npaths == ARRAY_SIZE(d->path) && !d->line && window_is_meant(d->path[0])) {
		d->line = arg;
		return 0;
	}
	if (d->npaths == ARRAY_SIZE(d->path)) {
		diag_error("unexpected argument '%s': two files are compared", arg);
		return -EINVAL;
	}
	d->path[d->npaths++] = arg;
	return 0;
}

static int end_options(void *own)
{
	const struct diff *d = own;

	if (d->npaths == ARRAY_SIZE(d->path))
		return 0;
	diag_error("two files are compared: the run before and the one after");
	diag_hint("as in: tally diff before.json after.json; runs are saved with "
		  "--json -o FILE");
	return -EINVAL;
}

static int read_run(struct saved *s, const char *path, const char *line)
{
	return window_is_meant(path) ? saved__read_window(s, path, line) : saved__read(s, path);
}

static int compare(struct writer *w, const struct diff *d, size_t top)
{
	struct saved before, after = {};
	int err = read_run(&before, d->path[0], d->line);

	if (!err)
		err = read_run(&after, d->path[1], d->line);
	if (!err)
		err = diff__write(w, &before, &after, top);
	saved__free(&before);
	saved__free(&after);
	return err;
}

static const struct option_row rows[] = {
	{ "format", 0, "NAME", ROW_OWN,
	  "text, json, csv, html, flame (of stacks: an SVG file as wide as what came after, red where that is more)",
	  HELP_OUTPUT,
	  .parse = parse_format, WORDS(formats) },
	{},
};

static int diff(int argc, char **argv)
{
	struct diff d = { .format = -1 };
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT | CLI_TOP,
		.doc = "Changes between two runs that were saved with --json -o FILE, or between two windows of a "
		       "recording (tally record): percentiles, rows of tables, stacks.",
		.rows = rows,
		.args_doc = "BEFORE.json AFTER.json\n"
		    "RECORDING@FROM-TO RECORDING@FROM-TO [TOOL|LINE]",
		.argument = take_file,
		.end = end_options,
		.own_input = &d,
		.arguments = complete_files,
	};
	struct writer w = {};
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	diag_verbose(cli.verbose);
	if (d.format >= 0)
		cli__set_format(&cli, d.format);
	else if (!cli.has_format && cli__output_ends_with(&cli, ".svg"))
		cli.format = FORMAT_FLAME;
	err = cli__open_writer(&cli, &w);
	if (!err)
		err = compare(&w, &d, cli.top ?: TOP);
	err = cli__close_writer(&w, err);
	cli__free(&cli);
	return err ? EXIT_FAILED : EXIT_DONE;
}

TOOL(diff, AREA_MACHINE, "two saved runs compared: percentiles, tables, stacks");
