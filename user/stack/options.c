// SPDX-License-Identifier: BSD-2-Clause
#include "stack/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/task_key.h"
#include "report/diag.h"

/* For stacks, "text" is a tree and "svg" is a flame graph. */
#define FORMAT_NAMES "tree, text, table, folded, flame, svg, pprof, speedscope, json, csv, html; for tables also " \
	"openmetrics, prometheus"

static const char *const call_graphs[] = { "fp", "dwarf" };

static const char *const formats[] = {
	"tree", "text", "table", "folded", "flame", "svg", "pprof", "speedscope", "json", "csv", "html",
	"openmetrics", "prometheus",
};

static int parse_format(void *own, char *arg)
{
	struct stack_options *o = own;

	if (!strcmp(arg, "table")) {
		o->table = true;
		o->format = -1;         /* text, or as set by --json and --csv */
		return 0;
	}
	o->format = report_stack_format(arg);
	if (o->format >= 0)
		return 0;
	diag_error("--format: '%s' is not one of " FORMAT_NAMES, arg);
	return -EINVAL;
}

static int parse_call_graph(void *own, char *arg)
{
	struct stack_options *o = own;
	/* In perf's "dwarf,4096", the number is the bytes of stack to copy; tally copies no stack. */
	bool dwarf = !strcmp(arg, "dwarf") || !strncmp(arg, "dwarf,", 6);

	o->call_graph = dwarf ? CALL_GRAPH_DWARF : CALL_GRAPH_FP;
	if (dwarf || !strcmp(arg, "fp"))
		return 0;
	diag_error("--call-graph: '%s' is not one of fp, dwarf", arg);
	return -EINVAL;
}

/* Options of all tools that report stacks. */
#define PART_ROWS \
	HEADING("Stacks:", HELP_STACKS), \
	{ "kernel-stacks", 'K', NULL, ROW_FLAG, "Only kernel stacks", HELP_STACKS, \
	  FIELD(struct stack_options, no_user) }, \
	{ "user-stacks", 'U', NULL, ROW_FLAG, "Only user stacks", HELP_STACKS, \
	  FIELD(struct stack_options, no_kernel) }, \
	{ "max-depth", 0, "N", ROW_COUNT, \
	  "At most N frames of each part; 127 by default", HELP_STACKS, \
	  FIELD(struct stack_options, max_depth), .least = 1, .most = UINT32_MAX, \
	  .wanted = "a number of frames" }, \
	{ "call-graph", 0, "HOW", ROW_OWN, \
	  "User stacks by frame pointers (fp) or by .eh_frame (dwarf)", HELP_STACKS, \
	  .parse = parse_call_graph, WORDS(call_graphs) }, \
	{ "frames", 0, "REGEX", ROW_TEXT, "Only stacks with a matching function", HELP_STACKS, \
	  FIELD(struct stack_options, with) }, \
	{ "no-frames", 0, "REGEX", ROW_TEXT, "Only stacks without a matching function", HELP_STACKS, \
	  FIELD(struct stack_options, without) }, \
	{ "callee", 0, NULL, ROW_FLAG, "Innermost functions first, with their callers", HELP_STACKS, \
	  FIELD(struct stack_options, callee_first) }, \
	{ "lines", 0, NULL, ROW_FLAG, "Source lines of user frames, from debug information", HELP_STACKS, \
	  FIELD(struct stack_options, lines) }, \
	{ "inline", 0, NULL, ROW_FLAG, \
	  "Inlined functions as frames of their own, from debug information", HELP_STACKS, \
	  FIELD(struct stack_options, inlined) }, \
	{ "no-python", 0, NULL, ROW_FLAG, "Frames of the Python interpreter instead of Python functions", HELP_STACKS, \
	  FIELD(struct stack_options, no_python) }

const struct option_row stack_part_rows[] = {
	PART_ROWS,
	{},
};

const struct option_row stack_option_rows[] = {
	PART_ROWS,
	{ "format", 0, "NAME", ROW_OWN, FORMAT_NAMES, HELP_OUTPUT, .parse = parse_format, WORDS(formats) },
	{},
};

/* all lists the tool's keys, for the message. */
static int parse_by(struct stack_options *o, const char *arg, const char *all, u32 *by)
{
	size_t room = strlen(arg) + 2, n = 0;
	char *text = strdup(arg), *keys = calloc(1, room), *part, *rest, bad[64];
	int err = text && keys ? 0 : -ENOMEM;

	for (rest = text; !err && (part = strsep(&rest, ","));) {
		if (!strcmp(part, "dso"))
			o->leaf |= LEAF_DSO;
		else if (!strcmp(part, "sym"))
			o->leaf |= LEAF_SYM;
		else
			n += snprintf(keys + n, room - n, "%s%s", n ? "," : "", part);
	}
	if (!err && (n || !o->leaf) && task_key__parse(keys, NULL, by, bad, sizeof(bad))) {
		diag_error("--by: unknown key '%s'; expected one of %s", bad, all);
		err = -EINVAL;
	}
	free(text);
	free(keys);
	return err;
}

/* Formats that have one report per file, and the kind of that file. */
struct single {
	const char *name, *what, *file;
	bool is_text;           /* a terminal can show it */
};

static const struct single *single_of(enum report_format format)
{
	static const struct single singles[FORMATS] = {
		[FORMAT_FLAME] = { "flame", "picture", "stacks.svg", false },
		[FORMAT_PPROF] = { "pprof", "profile", "stacks.pb.gz", false },
		[FORMAT_SPEEDSCOPE] = { "speedscope", "profile", "stacks.speedscope.json", true },
	};

	return singles[format].name ? &singles[format] : NULL;
}

int stack_format__check(struct cli *cli)
{
	const struct single *single = single_of(cli->format);

	if (!single)
		return 0;
	if (cli->interval_ns && (cli->count > 1 || cli->duration_ns)) {
		diag_error("--format %s makes one %s of the whole run; use -d instead of an interval", single->name,
			   single->what);
		return -EINVAL;
	}
	if (cli->interval_ns) {
		cli->duration_ns = cli->interval_ns;
		cli->interval_ns = cli->count = 0;
	}
	if (!single->is_text && !cli->explain && !cli->output && isatty(STDOUT_FILENO)) {
		diag_error("--format %s: cannot write a %s to a terminal; use -o %s", single->name,
			   single->what, single->file);
		return -EINVAL;
	}
	if (cli->format == FORMAT_PPROF && !cli->explain && !cli->output && cli->command) {
		diag_error("--format pprof: the command's output would mix with the profile; use -o %s", single->file);
		return -EINVAL;
	}
	return 0;
}

/* True if the report has only the innermost frames. */
static bool hides_callers(const struct stack_options *o)
{
	return (o->table && (o->leaf || !o->of_stacks)) || o->max_depth == 1;
}

static bool takes_tables(const struct stack_options *o)
{
	if (o->call_graph != CALL_GRAPH_AUTO)
		return o->call_graph == CALL_GRAPH_DWARF;
	return !hides_callers(o);
}

/* These options replace --format, which user/cli checks. */
static int check_live(const struct stack_options *o, const struct cli *cli)
{
	if (!cli->live || o->format <= FORMAT_TEXT)
		return 0;
	diag_error("--live cannot be combined with other formats, -o or --listen");
	return -EINVAL;
}

/* Sets the format by the file name of -o. All tools know the names of the other formats. */
static void set_format_by_name(struct cli *cli)
{
	static const struct {
		const char *end;
		enum report_format format;
	} names[] = {
		{ ".svg", FORMAT_FLAME }, { ".folded", FORMAT_FOLDED }, { ".pb.gz", FORMAT_PPROF },
		{ ".speedscope.json", FORMAT_SPEEDSCOPE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (cli__output_ends_with(cli, names[i].end))
			cli__set_format(cli, names[i].format);
}

int stack_options__check(struct stack_options *o, struct stacks *s, struct cli *cli, u32 by)
{
	u32 asked = 0;

	if (o->no_kernel && o->no_user) {
		diag_error("-K and -U cannot be combined");
		return -EINVAL;
	}
	if (cli->by_text && parse_by(o, cli->by_text, cli->keys ?: STACK_KEYS, &asked))
		return -EINVAL;
	if (check_live(o, cli))
		return -EINVAL;
	o->table |= o->leaf != 0;
	/* A screen has no room for a tree: show a table, of functions unless other keys are requested. */
	if (cli->live && !o->table) {
		o->table = true;
		if (!cli->by_text)
			o->leaf = LEAF_DSO | LEAF_SYM;
	}
	if (o->format >= 0 && !format_is_metrics(o->format) && cli->listen.n) {
		diag_error("--listen serves OpenMetrics text and cannot be combined with other formats");
		return -EINVAL;
	}
	if (o->format >= 0)
		cli__set_format(cli, o->format);
	else if (!o->table && !cli->has_format)
		set_format_by_name(cli);
	if (!o->table && cli->format == FORMAT_OPENMETRICS) {
		diag_error("--format openmetrics cannot show stacks");
		return -EINVAL;
	}
	if (o->table && cli->format > FORMAT_CSV) {
		diag_error("a table has no stacks to draw (--by dso and --by sym make a table)");
		return -EINVAL;
	}
	cli->by |= cli->by || cli->by_text ? asked : by;
	if (o->callee_first && (o->table || (cli->format != FORMAT_TEXT && cli->format != FORMAT_FLAME))) {
		diag_error("--callee needs a tree or a flame graph");
		return -EINVAL;
	}
	s->callee_first = o->callee_first;
	s->lines = o->lines;
	s->inlined = o->inlined;
	s->unwind = takes_tables(o);
	s->hides_callers = hides_callers(o);
	s->python = !o->no_python && !s->hides_callers;
	s->unwinds_all = o->call_graph == CALL_GRAPH_DWARF;
	if (o->lines && o->leaf & LEAF_SYM)
		o->leaf |= LEAF_LINE;
	if (stacks__set_depth(s, o->max_depth) || stack_format__check(cli))
		return -EINVAL;
	return stack_choice__init(&s->choice, o->with, o->without);
}

int stack_options__check_none(const struct stack_options *o, struct cli *cli)
{
	if (o->no_kernel || o->no_user || o->max_depth || o->with || o->without || o->callee_first ||
	    o->lines || o->inlined || o->no_python || o->call_graph != CALL_GRAPH_AUTO || o->table ||
	    o->format > FORMAT_CSV) {
		diag_error("stack options need -g");
		return -EINVAL;
	}
	if (check_live(o, cli))
		return -EINVAL;
	if (o->format >= 0)
		cli__set_format(cli, o->format);
	return 0;
}

u32 stack_options__take(const struct stack_options *o, struct stacks *s)
{
	s->kernel = !o->no_kernel;
	s->user = !o->no_user;
	return (o->no_kernel ? 0 : STACK_KERNEL) | (o->no_user ? 0 : STACK_USER);
}
