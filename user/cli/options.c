// SPDX-License-Identifier: BSD-2-Clause
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "cli/habits.h"
#include "cli/option_groups.h"
#include "cli/option_table.h"
#include "cli/prescan.h"
#include "report/diag.h"

/* [interval [count]] */
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
	diag_error("'%s' is not %s", arg, i ? "a count of reports" : "an interval in seconds");
	if (!i && spec->groups & CLI_EVENTS)
		diag_hint("an event stands behind -e, as in: %s -e %s",
			  program_invocation_short_name, arg);
	else if (spec->groups & CLI_COMMAND)
		diag_hint("a command to run stands behind --, as in: %s%s -- %s",
			  program_invocation_short_name, i ? " 1" : "", arg);
	return EINVAL;
}

struct parse_input {
	struct cli *cli;
	const struct cli_spec *spec;
	const struct argp_child *children;
	unsigned int taken;     /* positional arguments that were the tool's */
};

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct parse_input *in = state->input;
	int i;

	switch (key) {
	case ARGP_KEY_INIT:
		for (i = 0; in->children[i].argp; i++) {
			bool own = in->children[i].argp == in->spec->own;

			state->child_inputs[i] = own ? in->spec->own_input : in->cli;
		}
		return 0;
	case ARGP_KEY_ARG:
		/* A tool that takes arguments of its own names them in its argp. */
		if (in->spec->takes && in->spec->takes(in->spec->own_input, arg)) {
			in->taken++;
			return 0;
		}
		if (in->spec->own && in->spec->own->args_doc && !in->spec->takes)
			return ARGP_ERR_UNKNOWN;
		return parse_positional(in->cli, in->spec, state->arg_num - in->taken, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Heat maps drawn with --by where --top does not say. */
#define HEAT_TOP 4

/*
 * The columns of a heat map where no interval is given: sixty, or as many as there are seconds.
 * Commands may be short.
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

/* What --heat implies. Maps are sorted and cut when the run has ended, its reports are not. */
static void settle_heat(struct cli *cli)
{
	const char *end = cli->output ? strrchr(cli->output, '.') : NULL;

	if (!cli->heat)
		return;
	if (cli->format == FORMAT_TEXT && end && !strcmp(end, ".svg"))
		cli->format = FORMAT_SVG;
	cli->heat_live = cli->interval_ns;
	if (!cli->interval_ns)
		cli->interval_ns = heat_interval_ns(cli);
	if (cli->format == FORMAT_TEXT || cli->format == FORMAT_SVG) {
		cli->heat_top = cli->top ?: HEAT_TOP;
		cli->top = 0;
	}
}

/*
 * What --listen implies. Without an interval the counters are read when somebody asks: that is an
 * interval, too, of no length that could be told before.
 */
static int settle_listen(struct cli *cli)
{
	if (!cli->listen.n)
		return 0;
	if (cli->format != FORMAT_TEXT && cli->format != FORMAT_OPENMETRICS) {
		diag_error("--listen serves OpenMetrics text, and no other format goes with it");
		return -EINVAL;
	}
	cli->format = FORMAT_OPENMETRICS;
	cli->on_demand = !cli->interval_ns;
	if (cli->on_demand)
		cli->interval_ns = LONGEST_NS;
	return 0;
}

/* What no single option can see. */
static int check_together(const struct cli *cli, const struct cli_spec *spec)
{
	const struct scope_options *s = &cli->scope;

	if (cli->format == FORMAT_OPENMETRICS && (cli->heat || !(spec->groups & CLI_RUN))) {
		diag_error("--format openmetrics and --listen are of measurements: histograms, "
			   "tables, numbers of events");
		return -EINVAL;
	}
	if (cli->format == FORMAT_SVG && !cli->heat) {
		diag_error("--format svg is the format of heat maps: it goes with --heat");
		return -EINVAL;
	}

	if (s->all && (s->npids || s->ntids || s->user || s->cgroup || s->comm || s->pidns)) {
		diag_error(
			"-a means every task; it cannot be combined with -p, -t, -u, -G, --comm or "
			"--pidns");
		return -EINVAL;
	}
	if (cli->asked_follow && !s->npids) {
		diag_error("--follow-forks and --no-follow-forks are about the processes of -p");
		return -EINVAL;
	}
	if (cli->count && cli->duration_ns) {
		diag_error("-d and a count of reports both say when to stop; give one of them");
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
		diag_error("no command can be given here");
		return -EINVAL;
	}
	if (end + 1 == argc) {
		diag_error("no command behind --");
		return -EINVAL;
	}
	cli->command = argv + end + 1;
	return 0;
}

/* Before argp sorts argv. NULL when there is no memory for it. */
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

/* All options of a tool: its own, those of the groups, and the end. */
struct whole_argp {
	struct argp_child children[1 + OPTION_GROUPS + 1];
	struct argp root;
};

static void whole_argp__fill(struct whole_argp *whole, const struct cli_spec *spec)
{
	size_t n = 0;

	*whole = (struct whole_argp){ .root = { .parser = parse_root, .doc = spec->doc } };
	whole->root.children = whole->children;
	if (spec->groups & CLI_TIME && !(spec->own && spec->own->args_doc))
		whole->root.args_doc = spec->groups & CLI_COMMAND
					       ? "[INTERVAL [COUNT]]\n-- COMMAND [ARG...]"
					       : "[INTERVAL [COUNT]]";
	if (spec->own)
		whole->children[n++].argp = spec->own;
	option_groups__put(spec->groups, spec->keys_of_no_task, &whole->children[n]);
}

bool cli__has_option(const struct cli_spec *spec, const char *name, size_t len)
{
	struct option_table table;
	struct whole_argp whole;
	int first, other, i;

	whole_argp__fill(&whole, spec);
	option_table__fill(&table, &whole.root);
	i = option_table__name(&table, name, len, &first, &other);
	return i >= 0 && option_table__is_whole(&table, i, len);
}

const char *cli__other_tool(const struct cli_spec *spec, int argc, char **argv)
{
	struct whole_argp whole;

	whole_argp__fill(&whole, spec);
	return habits__other_tool(&whole.root, argc, argv);
}

int cli__parse(struct cli *cli, const struct cli_spec *spec, int argc, char **argv)
{
	struct whole_argp whole;
	struct parse_input input = { cli, spec, whole.children, 0 };
	int err, end;

	whole_argp__fill(&whole, spec);
	*cli = (struct cli){
		.max_keys = CLI_DEFAULT_MAX_KEYS, .sort = -1, .ready_fd = -1, .separator = ',',
		.command_line = joined(argc, argv), .own_keys = spec->own_keys,
		.filter_each = spec->filter_each,
		.has_max_keys = spec->groups & CLI_KEYS, .scope.follow = spec->follows,
		.own_parts = spec->own_parts, .keys = spec->keys, .usual_keys = spec->usual_keys,
	};
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
	if (!err)
		err = settle_listen(cli);
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
	free(cli->filters);
	free(cli->translated);
	free(cli->meant);
	cli->meant = NULL;
	cli->translated = NULL;
	cli->events = NULL;
	cli->command_line = NULL;
}
