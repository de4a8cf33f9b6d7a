// SPDX-License-Identifier: BSD-2-Clause
/* list: events that can be traced on this machine, and their details. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/option_table.h"
#include "cli/options.h"
#include "event/complete.h"
#include "events/list/list.h"
#include "report/diag.h"
#include "run/run.h"
#include "tools.h"

/* The kind of answer requested. Without an option, events are listed. */
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
	char asked_by[OPTION_NAME_SPACE];       /* the option that requests it, as "--type" */
	const char *subject;    /* the value of that option */
	struct list_request request;
};

static int ask(void *own, const struct option_row *row, char *subject)
{
	struct list *l = own;

	if (l->asked_by[0] && l->question != row->tag) {
		diag_error("%s and --%s cannot be combined", l->asked_by, row->name);
		return -EINVAL;
	}
	l->question = row->tag;
	snprintf(l->asked_by, sizeof(l->asked_by), "--%s", row->name);
	l->subject = subject;
	return 0;
}

static int add_pattern(void *own, char *pattern)
{
	struct list *l = own;
	const char *meant = !strcmp(pattern, "hw") ? "hardware" : !strcmp(pattern, "sw") ? "software" : pattern;

	return ARRAY_APPEND(l->request.pattern, l->request.npatterns, meant);
}

static const struct option_row rows[] = {
	HEADING("Kinds (default: events):", 1),
	{ "summary", 0, NULL, ROW_OWN, "How many events each subsystem has", 1,
	  .parse_row = ask, .tag = ASK_SUMMARY },
	{ "functions", 0, NULL, ROW_OWN, "Functions of the kernel, or of -x", 1,
	  .parse_row = ask, .tag = ASK_FUNCTIONS },
	{ "type", 0, "NAME", ROW_OWN, "Layout of a kernel type ('struct sock'); -v: with nested types", 1,
	  .parse_row = ask, .tag = ASK_TYPE },
	{ "lines", 0, "FUNC[:A-B]", ROW_OWN, "Source lines that can be probed", 1,
	  .parse_row = ask, .tag = ASK_LINES },
	{ "vars", 0, "FUNC[:LINE]", ROW_OWN, "Variables at the start of a function, or at a line", 1,
	  .parse_row = ask, .tag = ASK_VARIABLES },
	{ "module", 0, "NAME", ROW_TEXT, "only this kernel module (vmlinux: no module)", 1,
	  FIELD(struct list, request.module) },
	{ "binary", 'x', "BINARY", ROW_TEXT, "only this program or library; alone: its USDT probes", 1,
	  FIELD(struct list, request.binary) },
	{ "pid", 'p', "PID", ROW_COUNT,
	  "BINARY is the file of that name that this process has mapped", 1,
	  FIELD(struct list, request.pid), .least = 1, .most = INT32_MAX, .wanted = "a process",
	  .complete = complete_pids },
	{},
};

/* Rejects invalid combinations of options. */
static int check_together(const struct list *l)
{
	const struct list_request *q = &l->request;
	bool functions = l->question == ASK_FUNCTIONS;
	bool source = l->question == ASK_LINES || l->question == ASK_VARIABLES;

	if (q->module && q->binary) {
		diag_error("--module and -x cannot be combined");
		return -EINVAL;
	}
	if (q->module && !functions && !source) {
		diag_error("--module needs --functions, --lines or --vars");
		return -EINVAL;
	}
	if (q->pid && !q->binary) {
		diag_error("-p needs -x");
		return -EINVAL;
	}
	if (q->binary && (l->question == ASK_SUMMARY || l->question == ASK_TYPE)) {
		diag_error("%s cannot be combined with -x", l->asked_by);
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

	/* In text, only columns that need explanation have titles; other formats name all columns. */
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
	struct list l = {};
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT,
		.doc = "Lists what can be traced: events by name, with -v their fields; functions, "
		       "USDT probes, types, source lines. A PATTERN is a glob or a part of a name.",
		.rows = rows,
		.args_doc = "[PATTERN...]",
		.argument = add_pattern,
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
