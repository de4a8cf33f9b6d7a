// SPDX-License-Identifier: BSD-2-Clause
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "cli/bcc_probe.h"
#include "cli/foreign_event.h"
#include "cli/habits.h"
#include "cli/option_groups.h"
#include "cli/option_table.h"
#include "cli/prescan.h"
#include "report/diag.h"

/* True if the argument is a probe of bcc's trace. Reports how to write such a probe here. */
static bool is_bcc_probe(const char *arg)
{
	char *line = NULL;

	if (!strcmp(program_invocation_short_name, "trace"))
		line = bcc_probe__here(arg) ?: foreign_event__here("probe", arg);

	if (line)
		diag_error("this is a probe in the syntax of bcc's trace; use: %s", line);
	free(line);
	return line;
}

/* Parses [interval [count]]. */
static int parse_positional(struct cli *cli, const struct cli_spec *spec, unsigned int i,
			    char *arg)
{
	u64 n;

	if (!(spec->groups & CLI_TIME)) {
		diag_error("unexpected argument '%s'", arg);
		return EINVAL;
	}
	if (i == 0 && !parse_duration(arg, NSEC_PER_SEC, &n) && n >= NSEC_PER_MSEC &&
	    n <= LONGEST_NS) {
		if (cli->interval_ns && cli->interval_ns != n) {
			diag_error("an interval is given twice, by -I and as '%s'", arg);
			return EINVAL;
		}
		cli->interval_ns = n;
		return 0;
	}
	if (i == 1 && !parse_u64_between(arg, 1, UINT32_MAX, &cli->count))
		return 0;
	if (i > 1) {
		diag_error("unexpected argument '%s' after the interval and the count", arg);
		return EINVAL;
	}
	if (!i && is_bcc_probe(arg))
		return EINVAL;
	diag_error("'%s' is not %s", arg, i ? "a count of reports" : "an interval in seconds");
	if (!i && spec->groups & CLI_EVENTS)
		diag_hint("put an event after -e, as in: %s -e %s",
			  program_invocation_short_name, arg);
	else if (spec->groups & CLI_COMMAND)
		diag_hint("put a command after --, as in: %s%s -- %s",
			  program_invocation_short_name, i ? " 1" : "", arg);
	return EINVAL;
}

struct parse_input {
	struct cli *cli;
	const struct cli_spec *spec;
	const struct argp_child *children;
	unsigned int taken;     /* number of positional arguments that the tool has taken */
};

/* True if positional arguments are the tool's own. */
static bool has_arguments(const struct cli_spec *spec)
{
	return spec->args_doc;
}

static error_t parse_argument(struct parse_input *in, struct argp_state *state, char *arg)
{
	const struct cli_spec *spec = in->spec;

	if (spec->argument)
		return spec->argument(spec->own_input, arg) ? EINVAL : 0;
	if (spec->takes && spec->takes(spec->own_input, arg)) {
		in->taken++;
		return 0;
	}
	if (has_arguments(spec) && !spec->takes)
		return ARGP_ERR_UNKNOWN;
	return parse_positional(in->cli, spec, state->arg_num - in->taken, arg);
}

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct parse_input *in = state->input;
	int i;

	switch (key) {
	case ARGP_KEY_INIT:
		for (i = 0; in->children[i].argp; i++)
			state->child_inputs[i] = option_rows__of(in->children[i].argp);
		return 0;
	case ARGP_KEY_ARG:
		return parse_argument(in, state, arg);
	case ARGP_KEY_END:
		return in->spec->end && in->spec->end(in->spec->own_input) ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Default of --top for heat maps with --by. */
#define HEAT_TOP 4

/*
 * Returns the default interval of a heat map: 1/60 of the duration, within 100 ms and 1 s. Without a duration, it is 1
 * s or, for a command, which may be short, 100 ms.
 */
static u64 heat_interval_ns(const struct cli *cli)
{
	u64 least = 100 * NSEC_PER_MSEC, ns = cli->duration_ns / 60;

	if (!ns && cli->command)
		return least;
	if (!ns || ns > NSEC_PER_SEC)
		return NSEC_PER_SEC;
	return ns < least ? least : ns;
}

/*
 * Derives the format from the file name of -o if no format is given. A picture is a heat map if the tool has
 * distributions. stack_options__check() sets the pictures of tools with stacks.
 */
static void settle_format(struct cli *cli, const struct cli_spec *spec)
{
	bool is_picture = cli->format == FORMAT_SVG || (!cli->has_format && cli__output_ends_with(cli, ".svg"));

	if (is_picture && spec->groups & CLI_HEAT && cli->form != FORM_TABLE)
		cli->heat = true;
	if (cli->has_format || !(spec->groups & CLI_OUTPUT))
		return;
	if (cli__output_ends_with(cli, ".html"))
		cli->format = FORMAT_HTML;
	else if (cli__output_ends_with(cli, ".csv"))
		cli->format = FORMAT_CSV;
	else if (cli__output_ends_with(cli, ".json") && !cli__output_ends_with(cli, ".speedscope.json"))
		cli->format = FORMAT_JSON;
}

/* Applies what --heat implies. Maps are sorted and cut at the end of the run; the reports during the run are not. */
static void settle_heat(struct cli *cli)
{
	if (!cli->heat)
		return;
	if (cli->format == FORMAT_TEXT && !cli->has_format && cli__output_ends_with(cli, ".svg"))
		cli->format = FORMAT_SVG;
	if (cli->format == FORMAT_HTML) {       /* a page has a heat map whenever there are intervals */
		cli->heat = false;
		cli->interval_ns = cli->interval_ns ?: heat_interval_ns(cli);
		return;
	}
	cli->heat_live = cli->interval_ns;
	if (!cli->interval_ns)
		cli->interval_ns = heat_interval_ns(cli);
	if (cli->format == FORMAT_TEXT || cli->format == FORMAT_SVG) {
		cli->heat_top = cli->top ?: HEAT_TOP;
		cli->top = 0;
	}
}

/* Applies --listen. Without an interval, requests read the counters, and so end intervals of unpredictable length. */
static int settle_listen(struct cli *cli)
{
	if (!cli->listen.n)
		return 0;
	if (cli->format != FORMAT_TEXT && cli->format != FORMAT_OPENMETRICS) {
		diag_error("--listen serves OpenMetrics text and cannot be combined with other formats");
		return -EINVAL;
	}
	cli->format = FORMAT_OPENMETRICS;
	cli->on_demand = !cli->interval_ns;
	if (cli->on_demand)
		cli->interval_ns = LONGEST_NS;
	return 0;
}

#define LIVE_INTERVAL_NS NSEC_PER_SEC

/* Applies what --live implies. */
static int settle_live(struct cli *cli)
{
	if (!cli->live)
		return 0;
	if (cli->format != FORMAT_TEXT || cli->output || cli->listen.n) {
		diag_error("--live cannot be combined with other formats, -o or --listen");
		return -EINVAL;
	}
	if (cli->heat) {
		diag_error(
			"--live and --heat cannot be combined");
		return -EINVAL;
	}
	if (!cli->interval_ns)
		cli->interval_ns = LIVE_INTERVAL_NS;
	cli->live_top = cli->top;
	cli->top = 0;
	return 0;
}

/* Checks combinations of options. */
static int check_together(const struct cli *cli, const struct cli_spec *spec)
{
	const struct scope_options *s = &cli->scope;

	if (cli->format == FORMAT_OPENMETRICS && (cli->heat || !(spec->groups & CLI_METRICS))) {
		diag_error("--format openmetrics and --listen need measurements: histograms, tables, event counts");
		return -EINVAL;
	}
	if (cli->heat && cli->form == FORM_TABLE) {
		diag_error("--heat and --table cannot be combined");
		return -EINVAL;
	}
	if (cli->format == FORMAT_SVG && !cli->heat) {
		diag_error("--format svg draws heat maps: it needs --heat");
		return -EINVAL;
	}

	if (s->all && (s->npids || s->ntids || s->user || s->comm || s->pidns)) {
		diag_error("-a means every task; it cannot be combined with -p, -t, -u, --comm or --pidns");
		return -EINVAL;
	}
	if (cli->asked_follow && !s->npids && !cli->command) {
		diag_error("--follow-forks and --no-follow-forks need -p or a command");
		return -EINVAL;
	}
	if (cli->nenv && !cli->command) {
		diag_error("--env needs a command after --");
		return -EINVAL;
	}
	if (cli->append && (!cli->output || cli->format == FORMAT_OPENMETRICS || cli->format == FORMAT_HTML ||
			    cli->format == FORMAT_SVG)) {
		diag_error("--append needs -o and text, JSON or CSV");
		return -EINVAL;
	}
	if (cli->count && !cli->interval_ns) {
		diag_error("--reports needs an interval, as in -I 1000");
		return -EINVAL;
	}
	if (cli->count && cli->duration_ns) {
		diag_error("-d and a count of reports cannot be combined");
		return -EINVAL;
	}
	return 0;
}

static int take_command(struct cli *cli, const struct cli_spec *spec, int argc, char **argv,
			int end)
{
	if (end == argc)
		return 0;
	if (!(spec->groups & CLI_COMMAND)) {
		diag_error("this tool does not take a command");
		return -EINVAL;
	}
	if (end + 1 == argc) {
		diag_error("a command is missing after --");
		return -EINVAL;
	}
	cli->command = argv + end + 1;
	return 0;
}

/* Joins argv before argp reorders it. NULL without memory. */
static char *joined(int argc, char **argv)
{
	size_t length = 1;
	char *text, *end;
	int i;

	for (i = 0; i < argc; i++)
		length += strlen(argv[i]) + 1;
	text = end = malloc(length);
	if (!text)
		return NULL;
	*text = 0;
	for (i = 0; i < argc; i++)
		end = stpcpy(stpcpy(end, i ? " " : ""), argv[i]);
	return text;
}

/* All options of a tool: its own, those of the groups, and the terminator. */
struct whole_argp {
	struct argp_child children[3];
	struct argp root;
	struct option_rows own, groups;
};

static void whole_argp__fill(struct whole_argp *whole, const struct cli_spec *spec, struct cli *cli)
{
	*whole = (struct whole_argp){ .root = { .parser = parse_root, .doc = spec->doc } };
	whole->root.children = whole->children;
	if (spec->groups & CLI_TIME && !has_arguments(spec))
		whole->root.args_doc = spec->groups & CLI_COMMAND
					       ? "[INTERVAL [COUNT]]\n-- COMMAND [ARG...]"
					       : "[INTERVAL [COUNT]]";
	option_rows__fill(&whole->own, spec->rows, spec->own_input);
	whole->own.argp.args_doc = spec->args_doc;
	option_groups__fill(&whole->groups, spec, &whole->own, cli);
	whole->children[0].argp = &whole->own.argp;
	whole->children[1].argp = &whole->groups.argp;
}

bool cli__has_option(const struct cli_spec *spec, const char *name, size_t len)
{
	struct option_table table;
	struct whole_argp whole;
	int first, other, i;

	whole_argp__fill(&whole, spec, NULL);
	option_table__fill(&table, &whole.root);
	i = option_table__name(&table, name, len, &first, &other);
	return i >= 0 && option_table__is_whole(&table, i, len);
}

const char *cli__other_tool(const struct cli_spec *spec, int argc, char **argv)
{
	struct whole_argp whole;

	whole_argp__fill(&whole, spec, NULL);
	return habits__other_tool(&whole.root, argc, argv);
}

/* Prints the answer to the shell and exits, as argp does for --help. */
static void answer_shell(struct cli *cli, const struct cli_spec *spec, const struct argp *root, int argc, char **argv)
{
	char *text = complete__answer(spec, root, argc, argv);
	struct writer w = {};
	int err = text ? cli__open_writer(cli, &w) : -ENOMEM;

	if (!err)
		err = writer__emit(&w, text, strlen(text));
	err = cli__close_writer(&w, err);
	free(text);
	cli__free(cli);
	exit(err ? EXIT_FAILURE : EXIT_SUCCESS);
}

int cli__parse(struct cli *cli, const struct cli_spec *spec, int argc, char **argv)
{
	struct whole_argp whole;
	struct parse_input input = { cli, spec, whole.children, 0 };
	int err, end;

	whole_argp__fill(&whole, spec, cli);
	*cli = (struct cli){
		.max_keys = CLI_DEFAULT_MAX_KEYS, .sort = -1, .ready_fd = -1, .separator = ',',
		.command_line = joined(argc, argv), .own_keys = spec->own_keys,
		.filter_each = spec->filter_each,
		.has_max_keys = spec->groups & CLI_KEYS && !spec->keys_without_room, .scope.follow = spec->follows,
		.own_parts = spec->own_parts, .keys = spec->keys, .usual_keys = spec->usual_keys,
		.formats = spec->formats, .groups = spec->groups, .columns = spec->columns, .order = spec->order,
		.usual_stacks = spec->usual_stacks,
	};
	if (complete__is_asked(argc, argv))
		answer_shell(cli, spec, &whole.root, argc, argv);
	err = habits__translate(&whole.root, spec, argc, argv, &cli->translated, &argc);
	argv = cli->translated;
	if (!err)
		cli->meant = joined(argc, argv);
	if (!err && (!cli->meant || !cli->command_line))
		err = -ENOMEM;
	if (!err)
		err = cli_prescan(&whole.root, argc, argv, &end);
	if (!err)
		err = take_command(cli, spec, argc, argv, end);
	if (!err && argp_parse(&whole.root, end, argv, 0, NULL, &input))
		err = -EINVAL;
	if (cli->asked_keys)
		cli->max_keys = cli->asked_keys;
	if (!err)
		settle_format(cli, spec);
	if (!err)
		err = settle_listen(cli);
	if (!err)
		err = settle_live(cli);
	/* perf takes -G only with -a, to measure the cgroup's tasks on all CPUs: ignore -a if -G is given. */
	cli->scope.all &= !cli->scope.cgroup;
	if (!err)
		err = check_together(cli, spec);
	if (!err)
		settle_heat(cli);
	if (err)
		cli__free(cli);
	return err;
}

bool cli__picks_tasks(const struct cli *cli)
{
	const struct scope_options *s = &cli->scope;

	return s->npids || s->ntids || s->user || s->cgroup || s->comm || s->pidns ||
	       (cli->command && !s->all);
}

void cli__free(struct cli *cli)
{
	scope_options__free(&cli->scope);
	free(cli->command_line);
	free(cli->events);
	free(cli->env);
	free(cli->filters);
	free(cli->translated);
	free(cli->meant);
	cli->meant = NULL;
	cli->translated = NULL;
	cli->events = NULL;
	cli->env = NULL;
	cli->command_line = NULL;
}
