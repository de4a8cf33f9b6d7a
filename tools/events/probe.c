// SPDX-License-Identifier: BSD-2-Clause
/* probe: events with arguments and results, filtered and aggregated in the kernel. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "event/complete.h"
#include "report/diag.h"
#include "events/probe/bounds.h"
#include "events/probe/elsewhere.h"
#include "events/probe/session.h"
#include "tools.h"

enum {
	KEY_COUNT = 0x1000,
	KEY_SUM,
	KEY_AVG,
	KEY_MIN,
	KEY_MAX,
	KEY_HIST,
	KEY_LHIST,
	KEY_POW,
	KEY_BUCKETS,
	KEY_STREAM,
	KEY_TEMPLATE,
	KEY_LATENCY,
	KEY_FROM,
	KEY_TO,
	KEY_MATCH,
	KEY_WITH,
	KEY_NO_TABLE,
};

#define MOST_DEFINITIONS 64

struct probe {
	struct probe_request request;
	struct probe_session session;
	const char *typed[MOST_DEFINITIONS];
	bool interval_begun;            /* the remaining words are interval and count */
	bool no_table;
	bool count, stream;             /* given explicitly */
	const char *bounds_option, *bounds_text;
	struct bounds bounds;
	char **argv;                    /* with empty values for options that had none */
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

/* Until the interval begins, every word that is not a number is a probe. */
static bool takes(void *input, char *arg)
{
	struct probe *p = input;

	p->interval_begun |= begins_number(arg);
	return !p->interval_begun && !add_definition(p, arg);
}

/* --sum, --hist and the others name the value; they may share one. */
static error_t set_value(struct probe *p, const char *option, const char *arg)
{
	struct probe_request *r = &p->request;

	if (r->value && *arg && strcmp(r->value, arg)) {
		diag_error("%s and %s measure different values; run probe twice", r->option,
			   option);
		return EINVAL;
	}
	if (*arg)
		r->value = arg;
	r->option = r->option && !*arg ? r->option : option;
	return 0;
}

static error_t set_figure(struct probe *p, u32 figure, const char *option, const char *arg)
{
	p->session.figures |= figure;
	return set_value(p, option, arg);
}

static error_t set_bounds(struct probe *p, const char *option, const char *arg)
{
	if (p->bounds_option) {
		diag_error("%s and %s both say the bounds of buckets; give one of them",
			   p->bounds_option, option);
		return EINVAL;
	}
	p->bounds_option = option;
	p->bounds_text = arg;
	return 0;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct probe *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		p->session.callers.both = true;
		state->child_inputs[0] = &p->session.callers;
		return 0;
	case KEY_COUNT:
		p->count = true;
		return 0;
	case KEY_SUM:
		return set_figure(p, RESULT_SUM, "--sum", arg);
	case KEY_AVG:
		return set_figure(p, RESULT_AVG, "--avg", arg);
	case KEY_MIN:
		return set_figure(p, RESULT_MIN, "--min", arg);
	case KEY_MAX:
		return set_figure(p, RESULT_MAX, "--max", arg);
	case KEY_HIST:
		p->request.what = PROBE_HIST;
		return set_value(p, "--hist", arg);
	case KEY_LHIST:
		return set_bounds(p, "--lhist", arg);
	case KEY_POW:
		return set_bounds(p, "--pow", arg);
	case KEY_BUCKETS:
		return set_bounds(p, "--buckets", arg);
	case KEY_STREAM:
		p->stream = true;
		return 0;
	case KEY_TEMPLATE:
		p->session.line = arg;
		return 0;
	case KEY_LATENCY:
		p->request.latency = true;
		return 0;
	case KEY_FROM:
		p->request.from = arg;
		return 0;
	case KEY_TO:
		p->request.to = arg;
		return 0;
	case KEY_MATCH:
		p->request.match = arg;
		return 0;
	case KEY_WITH:
		p->request.with = arg;
		return 0;
	case KEY_NO_TABLE:
		p->no_table = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option own_options[] = {
	{ NULL, 0, NULL, 0, "Figures of each event (default: their number):", 1 },
	{ "count", KEY_COUNT, NULL, 0, "How many", 1 },
	{ "sum", KEY_SUM, "EXPR", 0, "The sum of a value", 1 },
	{ "avg", KEY_AVG, "EXPR", 0, "Its average", 1 },
	{ "min", KEY_MIN, "EXPR", 0, "Its minimum", 1 },
	{ "max", KEY_MAX, "EXPR", 0, "Its maximum", 1 },
	{ "hist", KEY_HIST, "EXPR", 0, "Its distribution", 1 },
	{ "lhist", KEY_LHIST, "FROM:TO:STEP", 0, "in buckets of this width", 1 },
	{ "pow", KEY_POW, "N", 0, "in powers of N", 1 },
	{ "buckets", KEY_BUCKETS, "LIST", 0, "with these bounds, \"100 1000 10000\"", 1 },
	{ "no-table", KEY_NO_TABLE, NULL, 0, "A histogram for each key, however many there are", 1 },
	{ "stream", KEY_STREAM, NULL, 0, "Each event, a line each (default with arguments)", 1 },
	{ "template", KEY_TEMPLATE, "TEXT", 0, "How such a line looks: '{time} {comm} {NAME}'", 1 },
	{ NULL, 0, NULL, 0, "Between two events, whose time apart is $elapsed:", 2 },
	{ "latency", KEY_LATENCY, NULL, 0, "From a function's entry to its return", 2 },
	{ "from", KEY_FROM, "EVENT", 0, "From this event", 2 },
	{ "to", KEY_TO, "EVENT", 0, "to this one", 2 },
	{ "match", KEY_MATCH, "EXPR,..", 0, "in which these are the same", 2 },
	{ "with", KEY_WITH, "COUNTER,..", 0,
	  "counters between the two, in that thread: page-faults, instructions, ...", 2 },
	{},
};

OPTION_VALUES(from, .options = own_options, .key = KEY_FROM, .add = complete_events);
OPTION_VALUES(to, .options = own_options, .key = KEY_TO, .add = complete_events);
OPTION_VALUES(with, .options = own_options, .key = KEY_WITH, .add = complete_counters, .separators = ",");

/* An option, not an expression: --by or -p; expressions are -count and -(a + b). */
static bool is_option(const char *arg)
{
	return !strncmp(arg, "--", 2) ||
	       (arg[0] == '-' && isalpha((unsigned char)arg[1]) && !arg[2]);
}

/*
 * --hist and the others may have no value: then it is the probe's only argument, or the time
 * elapsed. argp requires a value, so they get an empty one.
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

	if (!p->bounds_option)
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
		diag_error("counts and sums, a distribution, and single events (--stream) are "
			   "different "
			   "measurements; run probe once for each");
		return -EINVAL;
	}
	if (r->with && (hist || p->stream || p->session.line)) {
		diag_error("--with adds columns to counts and sums: not to a distribution, or to "
			   "single events");
		return -EINVAL;
	}
	if (p->session.line && !p->stream &&
	    (hist || p->session.figures || p->count || cli->by_text)) {
		diag_error("--template is about the lines of a stream");
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
		diag_error("--heat is about a distribution: that of --hist, --lhist, --latency and "
			   "the like");
		return -EINVAL;
	}
	return 0;
}

static int check_spans(const struct probe_request *r)
{
	if (!r->from != !r->to) {
		diag_error("--from and --to go together");
		return -EINVAL;
	}
	if (r->from && (r->ntyped || r->latency)) {
		diag_error(r->latency
				   ? "--latency measures functions, --from and --to any two "
				     "events; give one of them"
				   : "--from and --to name the events; no other ones can be named");
		return -EINVAL;
	}
	if (r->with && !r->latency && !r->from) {
		diag_error("--with is about what counters advance by between two events");
		diag_hint("as in: probe FUNCTION --latency --with %s", r->with);
		return -EINVAL;
	}
	if (r->match && !r->from) {
		diag_error("--match is about --from and --to");
		return -EINVAL;
	}
	return 0;
}

/* The table of a distribution has percentiles, and buckets of one's own are too coarse for these. */
static int choose_form(struct probe *p, struct cli *cli)
{
	bool table = cli->form == FORM_TABLE;

	if (table && p->no_table) {
		diag_error("--table and --no-table: give one of them");
		return -EINVAL;
	}
	if ((cli->form || cli->live) && p->request.what == PROBE_STREAM) {
		diag_error("%s is about counts, sums and distributions; these are single events",
			   cli->live ? "--live" : "--table");
		return -EINVAL;
	}
	if (table && p->request.what == PROBE_BOUNDS) {
		diag_error("--table: %s gives no percentiles; take --hist, or --count, --avg and --max",
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
		diag_error("no event is named");
		diag_hint("as in: probe syscalls:sys_enter_read --hist count; `list` shows what "
			  "there is");
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

/* Attaches and arms. */
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

/* Stacks by count are stackcount's. */
static int check_stacks(struct probe *p)
{
	if (p->session.callers.wanted && p->request.what != PROBE_STREAM) {
		diag_error("-g is about single events: the stack stands below each line");
		diag_hint("with --stream; stackcount counts by stack, and sums up values");
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

static const struct argp_child child_argps[] = { { &callers_argp, 0, NULL, 0 }, {} };
static const struct argp own_argp = {
	.options = own_options,
	.parser = parse_own,
	.children = child_argps,
	.args_doc = "PROBE... [INTERVAL [COUNT]]\nPROBE... -- COMMAND [ARG...]",
};

static const struct tool_spec spec = {
	.name = "probe",
	.cli = {
		.groups = (CLI_HISTOGRAM & ~CLI_HIST) | CLI_EVENTS,
		.doc = "Any event, its arguments and results, filtered and summed up in the "
		       "kernel.\v"
		       "A PROBE is an event, and behind it expressions: 'tcp_sendmsg size', "
		       "'vfs_read%return $retval'. "
		       "probe(1) has the language.",
		.own = &own_argp,
		.own_keys = true,
		.keys = "pid, tid, comm, cgroup, container, unit, cpu, pidns, uid, func, or any expression",
		.takes = takes,
		.arguments = complete_events,
	},
	.own_size = sizeof(struct probe), .skeleton = &probe_skeleton, .stays_attached = true,
	.expand = expand, .check = check, .load = load, .explain = explain, .attach = attach,
	.report = report, .free = release,
};

TOOL_MEASURING(probe, spec, AREA_EVENTS, "any event, its arguments and results, summed up");
