// SPDX-License-Identifier: BSD-2-Clause
/* probe: events with arguments and results, filtered and aggregated in the kernel. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "cli/option_table.h"
#include "event/complete.h"
#include "report/diag.h"
#include "events/probe/bounds.h"
#include "events/probe/elsewhere.h"
#include "events/probe/session.h"
#include "tools.h"

#define MOST_DEFINITIONS 64

struct probe {
	struct probe_request request;
	struct probe_session session;
	const char *typed[MOST_DEFINITIONS];
	bool interval_begun;            /* the remaining words are the interval and the count */
	bool no_table;
	bool count, stream;             /* requested explicitly */
	char figure_option[OPTION_NAME_SPACE];  /* option that requests the figure, as "--sum" */
	char bounds_option[OPTION_NAME_SPACE];  /* option that sets the bounds, as "--lhist"; "" if there is none */
	const char *bounds_text;
	struct bounds bounds;
	char **argv;                    /* includes empty values for options without one */
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t add_definition(struct probe *p, const char *text)
{
	if (p->request.ntyped == MOST_DEFINITIONS) {
		diag_error("%d probes at most", MOST_DEFINITIONS);
		return EINVAL;
	}
	p->typed[p->request.ntyped++] = text;
	return 0;
}

/* Before the interval begins, every word that is not a number is a probe. */
static bool takes(void *input, char *arg)
{
	struct probe *p = input;

	p->interval_begun |= begins_number(arg);
	return !p->interval_begun && !add_definition(p, arg);
}

/*
 * --sum, --hist and similar options name the value, and may share it. The tag is the figure; without a tag, the option
 * requests a distribution.
 */
static int set_figure(void *own, const struct option_row *row, char *arg)
{
	struct probe *p = own;
	struct probe_request *r = &p->request;

	p->session.figures |= row->tag;
	if (!row->tag)
		r->what = PROBE_HIST;
	if (r->value && *arg && strcmp(r->value, arg)) {
		diag_error("%s and --%s measure different values; run probe twice", r->option, row->name);
		return -EINVAL;
	}
	if (*arg)
		r->value = arg;
	if (r->option && !*arg)
		return 0;
	snprintf(p->figure_option, sizeof(p->figure_option), "--%s", row->name);
	r->option = p->figure_option;
	return 0;
}

static int set_bounds(void *own, const struct option_row *row, char *arg)
{
	struct probe *p = own;

	if (p->bounds_option[0]) {
		diag_error("%s and --%s cannot be combined", p->bounds_option, row->name);
		return -EINVAL;
	}
	snprintf(p->bounds_option, sizeof(p->bounds_option), "--%s", row->name);
	p->bounds_text = arg;
	return 0;
}

static void init(void *own)
{
	struct probe *p = own;

	p->session.callers.both = true;
}

static const struct option_row rows[] = {
	HEADING("Figures (default: the number of events):", 1),
	{ "count", 0, NULL, ROW_FLAG, "The number of events", 1, FIELD(struct probe, count) },
	{ "sum", 0, "EXPR", ROW_OWN, "The sum of a value", 1, .parse_row = set_figure, .tag = RESULT_SUM },
	{ "avg", 0, "EXPR", ROW_OWN, "Its average", 1, .parse_row = set_figure, .tag = RESULT_AVG },
	{ "min", 0, "EXPR", ROW_OWN, "Its minimum", 1, .parse_row = set_figure, .tag = RESULT_MIN },
	{ "max", 0, "EXPR", ROW_OWN, "Its maximum", 1, .parse_row = set_figure, .tag = RESULT_MAX },
	{ "hist", 0, "EXPR", ROW_OWN, "Its distribution", 1, .parse_row = set_figure },
	{ "lhist", 0, "FROM:TO:STEP", ROW_OWN, "buckets of this width", 1, .parse_row = set_bounds },
	{ "pow", 0, "N", ROW_OWN, "buckets that are powers of N", 1, .parse_row = set_bounds },
	{ "buckets", 0, "LIST", ROW_OWN, "buckets with these bounds, \"100 1000 10000\"", 1, .parse_row = set_bounds },
	{ "no-table", 0, NULL, ROW_FLAG, "One histogram per key, however many keys there are", 1,
	  FIELD(struct probe, no_table) },
	{ "stream", 0, NULL, ROW_FLAG, "One line per event (the default with arguments)", 1,
	  FIELD(struct probe, stream) },
	{ "template", 0, "TEXT", ROW_TEXT, "The format of a line: '{time} {comm} {NAME}'", 1,
	  FIELD(struct probe, session.line) },
	HEADING("Time between two events, as $elapsed:", 2),
	{ "latency", 0, NULL, ROW_FLAG, "From a function's entry to its return", 2,
	  FIELD(struct probe, request.latency) },
	{ "from", 0, "EVENT", ROW_TEXT, "From this event", 2,
	  FIELD(struct probe, request.from), .complete = complete_events },
	{ "to", 0, "EVENT", ROW_TEXT, "to this event", 2,
	  FIELD(struct probe, request.to), .complete = complete_events },
	{ "match", 0, "EXPR,..", ROW_TEXT, "expressions that are equal in both events", 2,
	  FIELD(struct probe, request.match) },
	{ "with", 0, "COUNTER,..", ROW_TEXT,
	  "counters between the two events, in that thread: page-faults, instructions, ...", 2,
	  FIELD(struct probe, request.with), .complete = complete_counters, .separators = "," },
	INCLUDE(struct probe, session.callers, caller_rows),
	{},
};

/* Whether the word is an option such as --by or -p, and not an expression such as -count or -(a + b). */
static bool is_option(const char *arg)
{
	return !strncmp(arg, "--", 2) ||
	       (arg[0] == '-' && isalpha((unsigned char)arg[1]) && !arg[2]);
}

/*
 * --hist and similar options may lack a value: the value is then the probe's only argument, or the
 * elapsed time. Since argp requires a value, they get an empty one.
 */
static char **with_values(int argc, char **argv)
{
	static const char *const options[] = { "--sum", "--avg", "--min", "--max", "--hist" };
	char **out = calloc(argc + 1, sizeof(*out));
	bool command = false;
	size_t k;
	int i;

	for (i = 0; out && i < argc; i++) {
		static const char *const empty[] = {
			"--sum=", "--avg=", "--min=", "--max=", "--hist="};

		out[i] = argv[i];
		command |= !strcmp(argv[i], "--");
		for (k = 0; !command && k < ARRAY_SIZE(options); k++)
			if (!strcmp(argv[i], options[k]) &&
			    (i + 1 == argc || is_option(argv[i + 1])))
				out[i] = (char *)empty[k];
	}
	return out;
}

/*
 * --- the measurement ---------------------------------------------------------------------------
 */

static int parse_bounds(struct probe *p)
{
	struct complaint c = {};
	int err;

	if (!p->bounds_option[0])
		return 0;
	if (!strcmp(p->bounds_option, "--lhist"))
		err = bounds__linear(&p->bounds, p->bounds_text, &c);
	else if (!strcmp(p->bounds_option, "--pow"))
		err = bounds__powers(&p->bounds, p->bounds_text, &c);
	else
		err = bounds__list(&p->bounds, p->bounds_text, &c);
	if (err)
		diag_complaint(p->bounds_option, p->bounds_text, &c);
	p->request.what = PROBE_BOUNDS;
	p->request.bound = p->bounds.bound;
	p->request.nbounds = p->bounds.n;
	p->request.option = p->request.option ?: p->bounds_option;
	return err;
}

static bool has_arguments(const struct probe *p)
{
	size_t i;

	for (i = 0; i < p->request.ntyped; i++)
		if (strpbrk(p->typed[i], " \t"))
			return true;
	return false;
}

/* Checks that exactly one kind of result is requested. */
static int choose_what(struct probe *p, const struct cli *cli)
{
	struct probe_request *r = &p->request;
	bool hist = r->what == PROBE_HIST || r->what == PROBE_BOUNDS;

	if (hist + !!p->session.figures + p->stream > 1 || (p->count && (hist || p->stream))) {
		diag_error("counts and sums, a distribution, and --stream cannot be combined; run probe once for each");
		return -EINVAL;
	}
	if (r->with && (hist || p->stream || p->session.line)) {
		diag_error("--with cannot be combined with a distribution or with single events");
		return -EINVAL;
	}
	if (p->session.line && !p->stream &&
	    (hist || p->session.figures || p->count || cli->by_text)) {
		diag_error("--template cannot be combined with counts, sums, distributions or --by");
		return -EINVAL;
	}
	if (hist)
		return 0;
	if (r->with && !p->session.figures && !p->count)
		p->session.figures = RESULT_SUM | RESULT_AVG;
	if (p->session.figures || r->with) {
		r->what = PROBE_SUM;
		r->option = r->option ?: "--with";
	} else if (p->stream || p->session.line ||
		   (has_arguments(p) && !p->count && !cli->by_text && !cli->by)) {
		r->what = PROBE_STREAM;
	} else if ((r->latency || r->from) && !p->count) {
		r->what = PROBE_HIST;
		r->option = "--latency";
	}
	if (cli->heat && r->what != PROBE_HIST) {
		diag_error("--heat needs a distribution: --hist, --lhist, --latency or similar");
		return -EINVAL;
	}
	return 0;
}

static int check_spans(const struct probe_request *r)
{
	if (!r->from != !r->to) {
		diag_error("--from and --to must be given together");
		return -EINVAL;
	}
	if (r->from && (r->ntyped || r->latency)) {
		diag_error(r->latency
				   ? "--latency cannot be combined with --from and --to"
				   : "--from and --to cannot be combined with other events");
		return -EINVAL;
	}
	if (r->with && !r->latency && !r->from) {
		diag_error("--with needs two events: --latency, or --from and --to");
		diag_hint("as in: probe FUNCTION --latency --with %s", r->with);
		return -EINVAL;
	}
	if (r->match && !r->from) {
		diag_error("--match needs --from and --to");
		return -EINVAL;
	}
	return 0;
}

/* The table of a distribution has percentiles, and user-defined buckets are too coarse for these. */
static int choose_form(struct probe *p, struct cli *cli)
{
	bool table = cli->form == FORM_TABLE;

	if (table && p->no_table) {
		diag_error("--table and --no-table cannot be combined");
		return -EINVAL;
	}
	if ((cli->form || cli->live) && p->request.what == PROBE_STREAM) {
		diag_error("%s needs counts, sums or distributions, not single events",
			   cli->live ? "--live" : "--table");
		return -EINVAL;
	}
	if (table && p->request.what == PROBE_BOUNDS) {
		diag_error("--table needs percentiles, and %s has none; use --hist, or --count, --avg and --max",
			   p->bounds_option);
		return -EINVAL;
	}
	if (p->no_table || p->request.what == PROBE_BOUNDS)
		cli->form = FORM_HISTOGRAMS;
	return 0;
}

static int make_request(struct probe *p, const struct cli *cli)
{
	struct probe_request *r = &p->request;
	size_t i;
	int err = 0;

	for (i = 0; i < cli->nevents && !err; i++)
		err = add_definition(p, cli->events[i]) ? -EINVAL : 0;
	if (!err)
		err = check_spans(r);
	if (err)
		return err;
	if (!r->ntyped && !r->from) {
		diag_error("no event given");
		diag_hint("as in: probe syscalls:sys_enter_read --hist count; `list` shows all events");
		return -EINVAL;
	}
	r->typed = p->typed;
	r->by = cli->by_text;
	r->by_task = cli->by;
	r->filter = cli->filter;
	r->is_scoped = cli__picks_tasks(cli);
	r->context = event_context__of(cli->binary, cli->scope.pids, cli->scope.npids, cli->command);
	err = parse_bounds(p);
	if (!err)
		err = choose_what(p, cli);
	return err ?: elsewhere__stacks(r, p->session.figures, cli->translated);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int report(struct measurement *m, struct report *r)
{
	struct probe *p = m->own;

	return probe_session__report(&p->session, r);
}

static int watch(struct measurement *m)
{
	struct probe *p = m->own;

	return probe_session__drain(&p->session);
}

static int load(struct measurement *m)
{
	struct probe *p = m->own;

	return probe_session__prepare(&p->session, m, &p->request);
}

static int explain(struct measurement *m)
{
	struct probe *p = m->own;

	return probe_session__explain(&p->session);
}

/* Attaches the programs and opens the gate. */
static int attach(struct measurement *m)
{
	struct probe *p = m->own;
	int err = probe_session__start(&p->session);

	m->has_said = err;
	if (!err && p->session.stream) {
		m->watch = watch;
		m->has_lines = true;
		if (!p->session.callers.wanted)
			m->watch_fd = stream__fd(p->session.stream);
	}
	return err;
}

static char **expand(void *own, int argc, char **argv)
{
	struct probe *p = own;

	return p->argv = with_values(argc, argv);
}

/* Stacks by count are the task of stackcount. */
static int check_stacks(struct probe *p)
{
	if (p->session.callers.wanted && p->request.what != PROBE_STREAM) {
		diag_error("-g needs single events: it prints the stack below each line");
		diag_hint("use --stream, or stackcount to count or sum by stack");
		return -EINVAL;
	}
	return callers__check(&p->session.callers);
}

static int check(void *own, struct cli *cli)
{
	const struct probe *p = own;

	cli->scope.command_joins_at_exec = true;
	cli->only_lines = p->session.line;
	return make_request(own, cli) ?: choose_form(own, cli) ?: check_stacks(own);
}

static void release(void *own)
{
	struct probe *p = own;

	probe_session__free(&p->session);
	bounds__free(&p->bounds);
	free(p->argv);
}

static const struct tool_spec spec = {
	.name = "probe",
	.cli = {
		.groups = (CLI_HISTOGRAM & ~CLI_HIST) | CLI_EVENTS,
		.doc = "Any event with its arguments and results, filtered and summed in the kernel.\vA PROBE is an "
		       "event followed by expressions: 'tcp_sendmsg size', 'vfs_read%return $retval'. probe(1) "
		       "describes the language.",
		.rows = rows,
		.args_doc = "PROBE... [INTERVAL [COUNT]]\nPROBE... -- COMMAND [ARG...]",
		.own_keys = true,
		.keys = "pid, tid, comm, cgroup, container, unit, cpu, pidns, uid, func, or any expression",
		.takes = takes,
		.arguments = complete_events,
	},
	.own_size = sizeof(struct probe), .skeleton = &probe_skeleton, .stays_attached = true,
	.init = init, .expand = expand, .check = check, .load = load, .explain = explain, .attach = attach,
	.report = report, .free = release,
};

TOOL_MEASURING(probe, spec, AREA_EVENTS, "any event, its arguments and results, summed up");
