// SPDX-License-Identifier: BSD-2-Clause
#include "stack/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "cli/task_key.h"
#include "report/diag.h"

/* As bpf/lib/stack.bpf.h has them. */
#define TAKE_KERNEL 0x100
#define TAKE_USER 0x200

enum {
	KEY_MAX_DEPTH = 0x2000,
	KEY_FORMAT,
	KEY_CALLEE,
	KEY_FRAMES,
	KEY_NO_FRAMES,
	KEY_LINES,
	KEY_INLINE,
	KEY_CALL_GRAPH,
};

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Stacks:", 2 },
	{ "kernel-stacks", 'K', NULL, 0, "Only the kernel's part", 2 },
	{ "user-stacks", 'U', NULL, 0, "Only the user's part", 2 },
	{ "max-depth", KEY_MAX_DEPTH, "N", 0, "At most N frames of either; 127 without this", 2 },
	{ "call-graph", KEY_CALL_GRAPH, "HOW", 0,
	  "User stacks by frame pointers (fp) or by .eh_frame (dwarf)", 2 },
	{ "frames", KEY_FRAMES, "REGEX", 0, "Only stacks with a function whose name is like this", 2 },
	{ "no-frames", KEY_NO_FRAMES, "REGEX", 0, "Only stacks without such a function", 2 },
	{ "callee", KEY_CALLEE, NULL, 0, "Innermost functions first, and who calls them", 2 },
	{ "lines", KEY_LINES, NULL, 0, "Frames of user space by source line, from debug information", 2 },
	{ "inline", KEY_INLINE, NULL, 0, "Inlined functions as frames of their own, likewise", 2 },
	/* Takes the place of the one that all tools have. */
	{ "format", KEY_FORMAT, "NAME", OPTION_HIDDEN, NULL, 0 },
	{},
};

static error_t parse_format(struct stack_options *o, const char *arg)
{
	if (!strcmp(arg, "table")) {
		o->table = true;
		o->format = -1;         /* as text, or what --json and --csv say */
		return 0;
	}
	o->format = report_stack_format(arg);
	if (o->format >= 0)
		return 0;
	diag_error("--format: '%s' is not one of tree, table, folded, flame, pprof, speedscope, json, "
		   "csv", arg);
	return EINVAL;
}

static error_t parse_call_graph(struct stack_options *o, const char *arg)
{
	/* perf's "dwarf,4096" has how much of the stack is copied; here none is. */
	bool dwarf = !strcmp(arg, "dwarf") || !strncmp(arg, "dwarf,", 6);

	o->call_graph = dwarf ? CALL_GRAPH_DWARF : CALL_GRAPH_FP;
	if (dwarf || !strcmp(arg, "fp"))
		return 0;
	diag_error("--call-graph: '%s' is not one of fp, dwarf", arg);
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stack_options *o = state->input;

	switch (key) {
	case 'K':
		o->no_user = true;
		return 0;
	case 'U':
		o->no_kernel = true;
		return 0;
	case KEY_MAX_DEPTH:
		if (!parse_u64_between(arg, 1, UINT32_MAX, &o->max_depth))
			return 0;
		diag_error("--max-depth: '%s' is not a number of frames", arg);
		return EINVAL;
	case KEY_FORMAT:
		return parse_format(o, arg);
	case KEY_CALLEE:
		o->callee_first = true;
		return 0;
	case KEY_LINES:
		o->lines = true;
		return 0;
	case KEY_INLINE:
		o->inlined = true;
		return 0;
	case KEY_CALL_GRAPH:
		return parse_call_graph(o, arg);
	case KEY_FRAMES:
		o->with = arg;
		return 0;
	case KEY_NO_FRAMES:
		o->without = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp stack_options_argp = { .options = options, .parser = parse };

static int parse_by(struct stack_options *o, const char *arg, u32 *by)
{
	char *text = strdup(arg), *keys = calloc(1, strlen(arg) + 2), *end = keys, *part, *rest,
	     bad[64];
	int err = text && keys ? 0 : -ENOMEM;

	for (rest = text; !err && (part = strsep(&rest, ","));) {
		if (!strcmp(part, "dso"))
			o->leaf |= LEAF_DSO;
		else if (!strcmp(part, "sym"))
			o->leaf |= LEAF_SYM;
		else
			end += sprintf(end, "%s%s", end == keys ? "" : ",", part);
	}
	if (!err && (end > keys || !o->leaf) && task_key__parse(keys, NULL, by, bad, sizeof(bad))) {
		diag_error("--by: no key '%s'; there are %s, dso, sym", bad, task_key_parts());
		err = -EINVAL;
	}
	free(text);
	free(keys);
	return err;
}

/* Formats of which a file holds one report, and what that is called. */
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

/* Such a file is of the whole run: an interval alone says how long that is. */
static int check_single(struct cli *cli)
{
	const struct single *single = single_of(cli->format);

	if (!single)
		return 0;
	if (cli->interval_ns && (cli->count > 1 || cli->duration_ns)) {
		diag_error("--format %s: one %s of the whole run; give its time with -d", single->name,
			   single->what);
		return -EINVAL;
	}
	if (cli->interval_ns) {
		cli->duration_ns = cli->interval_ns;
		cli->interval_ns = cli->count = 0;
	}
	if (!single->is_text && !cli->explain && !cli->output && isatty(STDOUT_FILENO)) {
		diag_error("--format %s: a %s is not for a terminal; name a file: -o %s", single->name,
			   single->what, single->file);
		return -EINVAL;
	}
	if (cli->format == FORMAT_PPROF && !cli->explain && !cli->output && cli->command) {
		diag_error("--format pprof: what the command writes would stand in the profile; name a file: "
			   "-o %s", single->file);
		return -EINVAL;
	}
	return 0;
}

static bool takes_tables(const struct stack_options *o)
{
	if (o->call_graph != CALL_GRAPH_AUTO)
		return o->call_graph == CALL_GRAPH_DWARF;
	return STACKS_HAVE_TABLES && !o->table && o->max_depth != 1;
}

int stack_options__check(struct stack_options *o, struct stacks *s, struct cli *cli, u32 by)
{
	u32 asked = 0;

	if (o->no_kernel && o->no_user) {
		diag_error("-K and -U leave nothing; give one of them");
		return -EINVAL;
	}
	if (cli->by_text && parse_by(o, cli->by_text, &asked))
		return -EINVAL;
	o->table |= o->leaf != 0;
	if (o->format >= 0 && o->format != FORMAT_OPENMETRICS && cli->listen.n) {
		diag_error("--listen serves OpenMetrics text, and no other format goes with it");
		return -EINVAL;
	}
	if (o->format >= 0)
		cli->format = o->format;
	if (!o->table && cli->format == FORMAT_OPENMETRICS) {
		diag_error("--format openmetrics has no place for stacks");
		return -EINVAL;
	}
	if (o->table && cli->format > FORMAT_CSV) {
		diag_error("a table (--by dso and sym make one) has no stacks to draw");
		return -EINVAL;
	}
	cli->by |= cli->by || cli->by_text ? asked : by;
	if (o->callee_first && (o->table || (cli->format != FORMAT_TEXT && cli->format != FORMAT_FLAME))) {
		diag_error("--callee turns trees and flame graphs over; this format has neither");
		return -EINVAL;
	}
	s->callee_first = o->callee_first;
	s->lines = o->lines;
	s->inlined = o->inlined;
	s->unwind = takes_tables(o);
	s->unwinds_all = o->call_graph == CALL_GRAPH_DWARF;
	if (o->lines && o->leaf & LEAF_SYM)
		o->leaf |= LEAF_LINE;
	if (stacks__set_depth(s, o->max_depth) || check_single(cli))
		return -EINVAL;
	return stack_choice__init(&s->choice, o->with, o->without);
}

int stack_options__check_none(const struct stack_options *o, struct cli *cli)
{
	if (o->no_kernel || o->no_user || o->max_depth || o->with || o->without || o->callee_first ||
	    o->lines || o->inlined || o->call_graph != CALL_GRAPH_FP || o->table ||
	    o->format > FORMAT_CSV) {
		diag_error("stacks are taken with -g, and this is about stacks");
		return -EINVAL;
	}
	if (o->format >= 0)
		cli->format = o->format;
	return 0;
}

u32 stack_options__take(const struct stack_options *o, struct stacks *s)
{
	s->kernel = !o->no_kernel;
	s->user = !o->no_user;
	return (o->no_kernel ? 0 : TAKE_KERNEL) | (o->no_user ? 0 : TAKE_USER);
}
