// SPDX-License-Identifier: BSD-2-Clause
/* list: what can be traced here, and the details of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numbers.h"
#include "cli/options.h"
#include "event/complete.h"
#include "events/list/list.h"
#include "report/diag.h"
#include "run/run.h"
#include "tools.h"

/* The questions; without an option, events are listed. */
enum question {
	ASK_EVENTS,
	ASK_SUMMARY,
	ASK_FUNCTIONS,
	ASK_TYPE,
	ASK_LINES,
	ASK_VARIABLES,
};

struct list {
	enum question question;
	const char *asked_by;   /* its option */
	const char *subject;    /* the value of that option */
	struct list_request request;
};

enum {
	KEY_FUNCTIONS = 0x200,
	KEY_MODULE,
	KEY_SUMMARY,
	KEY_TYPE,
	KEY_LINES,
	KEY_VARS,
};

static int ask(struct list *l, enum question question, const char *option, const char *subject)
{
	if (l->asked_by && l->question != question) {
		diag_error("%s and %s are different questions; ask one of them", l->asked_by,
			   option);
		return EINVAL;
	}
	l->question = question;
	l->asked_by = option;
	l->subject = subject;
	return 0;
}

static int add_pattern(struct list_request *q, const char *pattern)
{
	const char *meant = !strcmp(pattern, "hw") ? "hardware" : !strcmp(pattern, "sw") ? "software" : pattern;

	return -ARRAY_APPEND(q->pattern, q->npatterns, meant);
}

static error_t parse_process(struct list_request *q, const char *arg)
{
	u64 pid;

	if (parse_u64_between(arg, 1, INT32_MAX, &pid)) {
		diag_error("-p: '%s' is not a process", arg);
		return EINVAL;
	}
	q->pid = pid;
	return 0;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct list *l = state->input;

	switch (key) {
	case KEY_FUNCTIONS:
		return ask(l, ASK_FUNCTIONS, "--functions", NULL);
	case KEY_SUMMARY:
		return ask(l, ASK_SUMMARY, "--summary", NULL);
	case KEY_TYPE:
		return ask(l, ASK_TYPE, "--type", arg);
	case KEY_LINES:
		return ask(l, ASK_LINES, "--lines", arg);
	case KEY_VARS:
		return ask(l, ASK_VARIABLES, "--vars", arg);
	case KEY_MODULE:
		l->request.module = arg;
		return 0;
	case 'x':
		l->request.binary = arg;
		return 0;
	case 'p':
		return parse_process(&l->request, arg);
	case ARGP_KEY_ARG:
		return add_pattern(&l->request, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option own_options[] = {
	{ NULL, 0, NULL, 0, "Kinds (default: events):", 1 },
	{ "summary", KEY_SUMMARY, NULL, 0, "How many events each subsystem has", 1 },
	{ "functions", KEY_FUNCTIONS, NULL, 0, "Functions of the kernel, or of -x", 1 },
	{ "type", KEY_TYPE, "NAME", 0, "Layout of a kernel type ('struct sock'); -v: all inside", 1 },
	{ "lines", KEY_LINES, "FUNC[:A-B]", 0, "Source lines that can be probed", 1 },
	{ "vars", KEY_VARS, "FUNC[:LINE]", 0, "Variables at its beginning, or at a line", 1 },
	{ "module", KEY_MODULE, "NAME", 0, "only this kernel module (vmlinux: none)", 1 },
	{ "binary", 'x', "BINARY", 0, "only this program or library; alone: its probes", 1 },
	{ "pid", 'p', "PID", 0, "BINARY is the file that this process has mapped by that name", 1 },
	{},
};

OPTION_VALUES(pid, .options = own_options, .key = 'p', .add = complete_pids);

/* Checks combinations of options. */
static int check_together(const struct list *l)
{
	const struct list_request *q = &l->request;
	bool functions = l->question == ASK_FUNCTIONS;
	bool source = l->question == ASK_LINES || l->question == ASK_VARIABLES;

	if (q->module && q->binary) {
		diag_error("--module is about the kernel, -x about a program; give one of them");
		return -EINVAL;
	}
	if (q->module && !functions && !source) {
		diag_error("--module goes with --functions, --lines or --vars");
		return -EINVAL;
	}
	if (q->pid && !q->binary) {
		diag_error("-p says whose BINARY is meant: it goes with -x");
		return -EINVAL;
	}
	if (q->binary && (l->question == ASK_SUMMARY || l->question == ASK_TYPE)) {
		diag_error("%s is about the kernel; it cannot be combined with -x", l->asked_by);
		return -EINVAL;
	}
	if (q->npatterns && (source || l->question == ASK_TYPE)) {
		diag_error("unexpected argument '%s' after %s", q->pattern[0], l->asked_by);
		return -EINVAL;
	}
	return 0;
}

static int answer(struct report *r, const struct list *l, const struct cli *cli)
{
	const struct list_request *q = &l->request;
	bool text = cli->format == FORMAT_TEXT;

	/* In text, only columns that need explanation have titles; other formats name all. */
	r->table = text;
	switch (l->question) {
	case ASK_SUMMARY:
		r->table = false;
		return list_summary(r, q);
	case ASK_FUNCTIONS:
		return list_functions(r, q);
	case ASK_TYPE:
		return list_type(r, q, l->subject, text);
	case ASK_LINES:
		return list_lines(r, q, l->subject);
	case ASK_VARIABLES:
		return list_variables(r, q, l->subject);
	default:
		break;
	}
	if (q->binary)
		return list_probes(r, q);
	if (cli->verbose)
		return list_details(r, q);
	r->table = false;
	return list_events(r, q);
}

static int list(int argc, char **argv)
{
	static const struct argp own = {
		.options = own_options, .parser = parse_own, .args_doc = "[PATTERN...]",
	};
	struct list l = {};
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT,
		.doc = "What can be traced here: events by name, with -v their fields; functions, "
		       "USDT probes, types, source lines. A PATTERN is a glob or a part of a name.",
		.own = &own,
		.own_input = &l,
		.arguments = complete_events,
	};
	struct report r = { .tool = "list" };
	struct writer w = {};
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv)) {
		free(l.request.pattern);
		return EXIT_USAGE;
	}
	l.request.deep = cli.verbose;
	err = check_together(&l);
	if (!err)
		err = answer(&r, &l, &cli);
	if (!err) {
		table__hide_empty(&r);
		err = cli__open_writer(&cli, &w);
	}
	if (!err)
		err = writer__write(&w, &r);
	err = cli__close_writer(&w, err);
	report__free(&r);
	cli__free(&cli);
	free(l.request.pattern);
	switch (err) {
	case 0:
		return EXIT_DONE;
	case -EINVAL:
		return EXIT_USAGE;
	case -EOPNOTSUPP:
	case -EPERM:
		return EXIT_UNABLE;
	default:
		return EXIT_FAILED;
	}
}

TOOL(list, AREA_EVENTS, "what can be traced here: events, fields, functions, types, lines");
