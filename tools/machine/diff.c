// SPDX-License-Identifier: BSD-2-Clause
/* diff: compares two saved runs of one tool. See tools/machine/diff/diff.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "machine/diff/diff.h"
#include "machine/diff/window.h"
#include "report/diag.h"
#include "run/run.h"
#include "tools.h"

#define TOP 10                  /* default of --top without --test */
#define LEAST 1                 /* default of --least, in percent: clocks and ends of intervals differ by this */

struct diff {
	const char *path[2];
	unsigned int npaths;
	const char *line;       /* for recordings */
	int format;             /* --format; -1 if not given */
	bool tests;             /* --test */
	bool has_least;
	struct diff_test test;
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

/* "5", "0.5" or "5%" */
static int parse_least(void *own, char *text)
{
	struct diff *d = own;
	double percent;
	char *end;

	percent = strtod(text, &end);
	if (*end == '%')
		end++;
	if (!*text || text[strspn(text, "0123456789.%")] || *end || !isfinite(percent)) {
		diag_error("--least: expected a change in percent, like 5, got '%s'", text);
		return -EINVAL;
	}
	d->test.verdict.least_percent = percent;
	d->has_least = true;
	return 0;
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

	if (!d->tests && (d->has_least || d->test.all)) {
		diag_error("%s needs --test", d->has_least ? "--least" : "--all");
		return -EINVAL;
	}
	if (d->tests && d->format == FORMAT_FLAME) {
		diag_error("--test cannot be combined with a flame graph");
		return -EINVAL;
	}
	if (d->npaths == ARRAY_SIZE(d->path))
		return 0;
	diag_error("expected two files: the run before and the run after");
	diag_hint("as in: tally diff before.json after.json; runs are saved with "
		  "--json -o FILE");
	return -EINVAL;
}

static int read_run(struct saved *s, const char *path, const struct diff *d)
{
	if (!window_is_meant(path))
		return saved__read(s, path);
	return d->tests ? saved__read_intervals(s, path, d->line) : saved__read_window(s, path, d->line);
}

static int compare(struct writer *w, struct diff *d, size_t top)
{
	struct saved before, after = {};
	int err = read_run(&before, d->path[0], d);

	if (!err)
		err = read_run(&after, d->path[1], d);
	if (!err)
		err = d->tests ? diff__test(w, &before, &after, top, &d->test)
			       : diff__write(w, &before, &after, top ?: TOP);
	saved__free(&before);
	saved__free(&after);
	return err;
}

static const struct option_row rows[] = {
	{ "format", 0, "NAME", ROW_OWN,
	  "text, json, csv, html, flame (for stacks: an SVG file as wide as the run after, red where it has more)",
	  HELP_OUTPUT,
	  .parse = parse_format, WORDS(formats) },
	HEADING("Test:", 1),
	{ "test", 0, NULL, ROW_FLAG, "Exit with 1 if the runs differ by more than their own intervals do", 1,
	  FIELD(struct diff, tests) },
	{ "least", 0, "PERCENT", ROW_OWN, "Ignore smaller changes, however certain; 1 by default", 1,
	  .parse = parse_least },
	{ "all", 0, NULL, ROW_FLAG, "List rows within noise, too", 1, FIELD(struct diff, test.all) },
	{},
};

/* A comparison that failed gives no verdict. */
static int exit_code(const struct diff *d, int err)
{
	if (err)
		return d->tests ? EXIT_TOOL_FAILED : EXIT_FAILED;
	return d->test.verdict.different ? EXIT_DIFFERENT : EXIT_DONE;
}

static int diff(int argc, char **argv)
{
	struct diff d = { .format = -1, .test.verdict.least_percent = LEAST };
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT | CLI_TOP,
		.doc = "Compares two runs saved with --json -o FILE, or two windows of a recording (tally record): "
		       "percentiles, rows of tables, stacks.",
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
		err = compare(&w, &d, cli.top);
	err = cli__close_writer(&w, err);
	cli__free(&cli);
	free(d.test.text);
	return exit_code(&d, err);
}

TOOL(diff, AREA_MACHINE, "two saved runs compared: percentiles, tables, stacks");
