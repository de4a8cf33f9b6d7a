// SPDX-License-Identifier: BSD-2-Clause
/* stat: counts of events. What is asked and shown is user/stat, how it is counted user/count. */
#include <errno.h>
#include <stdio.h>

#include "base/numbers.h"
#include "out/diag.h"
#include "stat/stat.h"
#include "tools.h"

/* Of our own options; those of user/cli are below. */
enum {
	KEY_DETAILED = 0x1000,
	KEY_PER_CORE,
	KEY_PER_SOCKET,
	KEY_PRE,
	KEY_POST,
	KEY_ZEROS,
};

/*
 * --- what is asked -----------------------------------------------------------------------------
 */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct stat_run *s = state->input;

	switch (key) {
	case KEY_DETAILED:
		s->detailed = true;
		return 0;
	case 'A':
		s->per_cpu = true;
		return 0;
	case KEY_PER_CORE:
		s->per_core = true;
		return 0;
	case KEY_PER_SOCKET:
		s->per_socket = true;
		return 0;
	case 'r':
		if (!parse_u64_between(arg, 1, 1000000, &s->repeat))
			return 0;
		diag_error("-r: '%s' is not a number of runs", arg);
		return EINVAL;
	case KEY_PRE:
		s->pre = arg;
		return 0;
	case KEY_POST:
		s->post = arg;
		return 0;
	case KEY_ZEROS:
		s->zeros = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int check_options(const struct stat_run *s, struct cli *cli)
{
	int places = s->per_cpu + s->per_core + s->per_socket;

	if (places > 1) {
		diag_error("give one of -A, --per-core and --per-socket");
		return -EINVAL;
	}
	if (places && cli->by) {
		diag_error("-A, --per-core and --per-socket do not go with --by; --by cpu,comm "
			   "says both");
		return -EINVAL;
	}
	if (s->repeat && !cli->command) {
		diag_error("-r runs a command several times; there is none behind --");
		return -EINVAL;
	}
	if (s->repeat && (places || cli->by || cli->interval_ns)) {
		diag_error("-r gives one mean for each event: not with -A, --per-core, "
			   "--per-socket, --by "
			   "or -I");
		return -EINVAL;
	}
	if ((s->pre || s->post) && !cli->command) {
		diag_error(
			"--pre and --post go before and after a command; there is none behind --");
		return -EINVAL;
	}
	return 0;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

/* What cannot be counted is said once, on its own line. */
static void say_refused(const struct stat_run *s)
{
	const struct event_site *site = NULL, *first = NULL;
	struct counter_refusal refusal;
	char names[512] = "";
	size_t i, n = 0;
	int err, reason = 0;

	for (i = 0; i < s->nrows && n < sizeof(names); i++) {
		err = counting__refused(&s->counting, i, &site);
		if (!err)
			continue;
		if (!first) {
			first = site;
			reason = err;
		}
		n += snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", s->row[i].name);
	}
	if (!first)
		return;
	counter__refusal(&refusal, first, reason);
	diag_warn("%s: not counted: %s", names, refusal.why);
	if (refusal.instead[0])
		diag_hint("%s works here", refusal.instead);
}

static bool all_refused(const struct stat_run *s)
{
	const struct event_site *site;
	size_t i;

	for (i = 0; i < s->nrows; i++)
		if (!counting__refused(&s->counting, i, &site))
			return false;
	return true;
}

static int measure_once(struct stat_run *s, struct run *run)
{
	int err;

	err = counting__begin(&s->counting, run, &s->plan);
	if (!err)
		err = stat__place(s);
	if (!err && all_refused(s)) {
		say_refused(s);
		return -EOPNOTSUPP;
	}
	if (!err && !s->elapsed.n)
		say_refused(s);
	if (!err && s->pre)
		err = command__shell(s->pre, &run->setting);
	if (!err)
		err = counting__go(&s->counting);
	if (!err)
		err = run__loop(run);
	if (!err && s->post)
		err = command__shell(s->post, &run->setting);
	return err;
}

static int measure_repeatedly(struct stat_run *s, struct run *run)
{
	int err = 0;

	run->hold = true;
	while (!err && s->elapsed.n < s->repeat) {
		if (s->elapsed.n) {
			stat__forget(s);
			err = run__again(run);
		}
		if (!err)
			err = measure_once(s, run);
		if (!err && run->interrupted)
			break;
	}
	if (!err && s->elapsed.n)
		err = stat__means(s, run);
	return err;
}

static int stat_events(struct stat_run *s, struct run *run, const struct cli *cli)
{
	int err = stat__plan(s, run, cli);

	if (err)
		return err;
	if (cli->explain)
		return stat__explain(s, run);
	return s->repeat ? measure_repeatedly(s, run) : measure_once(s, run);
}

static int stat_main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{NULL, 0, NULL, 0, "Counting:", 1},
		{"detailed", KEY_DETAILED, NULL, 0,
		 "More of the usual events: faults by kind, caches", 1},
		{NULL, 'A', NULL, 0, "One result per CPU", 1},
		{"per-core", KEY_PER_CORE, NULL, 0, "One result per core", 1},
		{"per-socket", KEY_PER_SOCKET, NULL, 0, "One result per socket", 1},
		{"repeat", 'r', "N", 0, "Run the command N times: means and their standard error",
		 1},
		{"pre", KEY_PRE, "CMD", 0, "Run this shell command before each run, not counted",
		 1},
		{"post", KEY_POST, "CMD", 0, "Run this one after each run", 1},
		{"zeros", KEY_ZEROS, NULL, 0, "Show the rows of globs that are zero, too", 1},
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct stat_run s = {};
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_EVENTS | CLI_OUTPUT |
			  CLI_RUN | CLI_COMMAND,
		.follows = true,
		.doc = "Counts events: of a command, of processes, of the whole system.",
		.own = &own,
		.own_input = &s,
		.filter_each = true,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	/* By CPU alone needs no task: the counters of each CPU say it. */
	if (cli.by == BY_CPU) {
		cli.by = 0;
		s.per_cpu = true;
	}
	if (check_options(&s, &cli)) {
		cli__free(&cli);
		return EXIT_USAGE;
	}
	cli.scope.command_joins_at_exec = true;
	err = run__init(&run, "stat", &cli);
	run.report = stat__report;
	run.context = &s;
	if (!err)
		err = stat_events(&s, &run, &cli);
	stat__free(&s);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL_NAMED(stat, stat_main, AREA_EVENTS, "how many events: of a command, of tasks, of the machine");
