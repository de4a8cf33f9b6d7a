// SPDX-License-Identifier: BSD-2-Clause
/* stat: counts of events. Planning, counting and reporting are in stat/. */
#include <errno.h>
#include <stdio.h>

#include "report/diag.h"
#include "events/stat/stat.h"
#include "tools.h"

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int check_options(const struct stat_run *s, struct cli *cli)
{
	int places = s->per_cpu + s->per_core + s->per_socket;

	if (places > 1) {
		diag_error("-A, --per-core and --per-socket cannot be combined");
		return -EINVAL;
	}
	if (places && cli->by) {
		diag_error("-A, --per-core and --per-socket cannot be combined with --by; use --by cpu,comm");
		return -EINVAL;
	}
	if (s->metric_only && cli->by) {
		diag_error("--metric-only and --by cannot be combined");
		return -EINVAL;
	}
	if (s->repeat && !cli->command) {
		diag_error("-r needs a command after --");
		return -EINVAL;
	}
	if (s->repeat && (places || cli->by || cli->interval_ns)) {
		diag_error("-r cannot be combined with -A, --per-core, --per-socket, --by or -I");
		return -EINVAL;
	}
	if ((s->pre || s->post) && !cli->command) {
		diag_error(
			"--pre and --post need a command after --");
		return -EINVAL;
	}
	return 0;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Reports all events that cannot be counted once, on a separate line. */
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

static int load(struct measurement *m)
{
	struct stat_run *s = m->own;
	int err = s->each.typed ? each_cgroup__find(&s->each, m->scope.hierarchy) : 0;

	return err ?: stat__plan(s, m, m->cli);
}

static int explain(struct measurement *m)
{
	return stat__explain(m->own, m);
}

static int watch(struct measurement *m)
{
	struct stat_run *s = m->own;

	int err = counting__follow(&s->counting);

	return err ?: stat__place(s);
}

static int attach(struct measurement *m)
{
	struct stat_run *s = m->own;
	int err = counting__begin(&s->counting, m, &s->plan);

	m->has_said = true;
	m->watch = watch;
	m->watch_fd = hotplug__fd(&s->counting.hotplug);
	if (!err)
		err = stat__place(s);
	if (!err && all_refused(s)) {
		say_refused(s);
		return -EOPNOTSUPP;
	}
	if (!err && !s->elapsed.n)
		say_refused(s);
	if (!err && s->pre)
		err = command__shell(s->pre, &m->run->setting);
	return err;
}

static int arm(struct measurement *m)
{
	struct stat_run *s = m->own;

	return counting__go(&s->counting);
}

static void disarm(struct measurement *m)
{
	struct stat_run *s = m->own;

	counting__stop(&s->counting);
}

static int measure_once(struct measurement *m)
{
	struct stat_run *s = m->own;
	int err = measurement__begin(m);

	if (!err)
		err = run__loop(m->run);
	if (!err && s->post)
		err = command__shell(s->post, &m->run->setting);
	return err;
}

static int measure_repeatedly(struct measurement *m)
{
	struct stat_run *s = m->own;
	int err = 0;

	m->hold = true;
	while (!err && s->elapsed.n < s->repeat) {
		if (s->elapsed.n) {
			stat__forget(s);
			err = run__again(m->run);
		}
		if (!err)
			err = measure_once(m);
		if (!err && m->run->interrupted)
			break;
	}
	if (!err && s->elapsed.n)
		err = stat__means(s, m);
	return err;
}

static int measure(struct measurement *m)
{
	const struct stat_run *s = m->own;

	return s->repeat ? measure_repeatedly(m) : measure_once(m);
}

static int check_each_cgroup(struct cli *cli)
{
	if (cli->by && cli->by != (BY_CGROUP | BY_CGROUP_PATH)) {
		diag_error("--for-each-cgroup and --by cannot be combined");
		return -EINVAL;
	}
	if (cli->scope.cgroup) {
		diag_error("-G and --for-each-cgroup cannot be combined");
		return -EINVAL;
	}
	cli->by = BY_CGROUP | BY_CGROUP_PATH;
	return 0;
}

static int check(void *own, struct cli *cli)
{
	struct stat_run *s = own;

	if (s->each.typed && check_each_cgroup(cli))
		return -EINVAL;
	/* --by cpu alone needs no task: per-CPU counters suffice. */
	if (cli->by == BY_CPU) {
		cli->by = 0;
		s->per_cpu = true;
	}
	cli->scope.command_joins_at_exec = true;
	return check_options(s, cli);
}

static const char *alone(const void *own)
{
	const struct stat_run *s = own;

	return s->repeat ? "-r" : s->pre ? "--pre" : s->post ? "--post" : NULL;
}

static void release(void *own)
{
	stat__free(own);
}

static int parse_metrics(void *own, char *names)
{
	return stat__add_metrics(own, names);
}

static const struct option_row rows[] = {
	HEADING("Counting:", 1),
	{ "detailed", 0, NULL, ROW_FLAG, "More default events: faults by kind, caches", 1,
	  FIELD(struct stat_run, detailed) },
	{ NULL, 'A', NULL, ROW_FLAG, "One result per CPU", 1, FIELD(struct stat_run, per_cpu) },
	{ "per-core", 0, NULL, ROW_FLAG, "One result per core", 1, FIELD(struct stat_run, per_core) },
	{ "per-socket", 0, NULL, ROW_FLAG, "One result per socket", 1, FIELD(struct stat_run, per_socket) },
	{ "repeat", 'r', "N", ROW_COUNT, "Run the command N times: means and their standard error", 1,
	  FIELD(struct stat_run, repeat), .least = 1, .most = 1000000, .wanted = "a number of runs" },
	{ "pre", 0, "CMD", ROW_TEXT, "Run this shell command before each run, not counted", 1,
	  FIELD(struct stat_run, pre) },
	{ "post", 0, "CMD", ROW_TEXT, "Run this shell command after each run", 1, FIELD(struct stat_run, post) },
	{ "metric", 0, "NAME,..", ROW_OWN,
	  "The events of a ratio, named as in perf -M: IPC, branch_miss_rate; repeatable", 1,
	  .parse = parse_metrics, .adds = true, .complete = stat__complete_metric, .separators = "," },
	{ "metric-only", 0, NULL, ROW_FLAG, "Ratios without the counts, in text", 1,
	  FIELD(struct stat_run, metric_only) },
	{ "group", 0, NULL, ROW_FLAG, "Count all events as one group, all at the same time, like -e '{...}'", 1,
	  FIELD(struct stat_run, grouped) },
	{ "for-each-cgroup", 0, "NAME,..", ROW_TEXT, "One row per named cgroup, including the cgroups below it", 1,
	  FIELD(struct stat_run, each.typed), .complete = complete_cgroups, .separators = "," },
	{ "zeros", 0, NULL, ROW_FLAG, "Also show events of globs with a count of zero", 1,
	  FIELD(struct stat_run, zeros) },
	{},
};

static const struct tool_spec spec = {
	.name = "stat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_EVENTS | CLI_OUTPUT |
			  CLI_RUN | CLI_COMMAND | CLI_LIVE,
		.follows = true,
		.doc = "Counts events of a command, of processes or of the whole system.",
		.rows = rows,
		.filter_each = true,
	},
	.own_size = sizeof(struct stat_run),
	.check = check, .alone = alone, .load = load, .explain = explain, .attach = attach,
	.arm = arm, .disarm = disarm,
	.measure = measure, .report = stat__report, .free = release,
};

TOOL_MEASURING(stat, spec, AREA_EVENTS, "event counts of a command, of tasks or of the machine");
