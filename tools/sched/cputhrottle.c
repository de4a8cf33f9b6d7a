// SPDX-License-Identifier: BSD-2-Clause
/* cputhrottle: cgroups throttled by their CPU quota, from the kernel's counters (cpu.stat). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/order.h"
#include "host/cgroup.h"
#include "host/cpu_stat.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"

struct cputhrottle {
	bool all;                       /* also show cgroups without a quota, and cgroups that were never throttled */
	bool ended;                     /* the counters have been read for the last time */
	struct cpu_stats before, now;
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* The change since the last report. A cgroup created in the interval counts as a whole. */
static struct cpu_stat since(const struct cputhrottle *t, const struct cpu_stat *now)
{
	const struct cpu_stat *before = cpu_stats__find(&t->before, now->id);
	struct cpu_stat s = *now;

	/* The counters of a reused inode number start at 0. */
	if (before && before->periods <= s.periods && before->throttled <= s.throttled &&
	    before->throttled_ns <= s.throttled_ns) {
		s.periods -= before->periods;
		s.throttled -= before->throttled;
		s.throttled_ns -= before->throttled_ns;
	}
	return s;
}

#define OF(member) SUM(struct cpu_stat, member)

static const struct column columns[] = {
	ADDED_BY_TOOL("cpus", ROLE_GAUGE),
	COUNTER("periods", OF(periods), FIELD_NUMBER),
	COUNTER("throttled", OF(throttled), FIELD_NUMBER),
	PERCENT("throttled_percent", "throttled", "periods", 2),
	COUNTER("throttled_time", OF(throttled_ns), FIELD_TIME),
	{},
};

static int add_row(struct report *r, const struct cpu_stat *s)
{
	const struct field cpus = {
		.name = "cpus", .kind = s->quota_us && s->period_us ? FIELD_REAL : FIELD_NONE, .decimals = 2,
		.role = ROLE_GAUGE, .real = s->period_us ? (double)s->quota_us / s->period_us : 0,
	};
	const struct column_source source = {};
	struct report_row row = {};
	int err = report_row__add_text(&row, "cgroup", s->path) ?: report_row__add_field(&row, &cpus);

	if (!err)
		err = report_row__add_columns(&row, columns, (const u64 *)s, &source);
	return report__end_row(r, &row, err);
}

/*
 * Intervals may be added up later. Their periods must then sum to those of the whole run, otherwise the percentage is
 * too high.
 */
static bool is_shown(const struct cputhrottle *t, const struct cli *cli, const struct cpu_stat *s)
{
	return s->throttled || s->throttled_ns || (s->quota_us && (t->all || (cli->interval_ns && s->periods)));
}

static int fill_rows(struct cputhrottle *t, const struct cli *cli, struct report *r)
{
	static const struct cpu_stat none;
	size_t i;
	int err = 0;

	for (i = 0; i < t->now.n && !err; i++) {
		struct cpu_stat s = since(t, &t->now.stat[i]);

		r->events += s.throttled;
		if (is_shown(t, cli, &s))
			err = add_row(r, &s);
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_row(r, &none));
	report__sort_rows(r, cli->order, 1, table_rows(cli));
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct cputhrottle *t = m->own;
	int err = t->ended ? 0 : cpu_stats__read(&t->now);

	r->value = "cgroups throttled by their CPU quota";
	r->table = true;
	r->has_events = true;
	r->nothing = "no cgroup was throttled";
	if (err)
		return err;
	err = fill_rows(t, m->cli, r);
	cpu_stats__free(&t->before);
	t->before = t->now;
	t->now = (struct cpu_stats){};
	return err;
}

/*
 * --- the hooks: nothing is loaded --------------------------------------------------------------
 */

static int load(struct measurement *m)
{
	struct cputhrottle *t = m->own;
	int err = cpu_stats__read(&t->before);

	if (err == -ENOENT) {
		diag_error("no cgroup hierarchy with a cpu controller is mounted here");
		return -EOPNOTSUPP;
	}
	if (!err && !t->before.n) {
		diag_error(
			"no cgroup has statistics of a CPU quota: the cpu controller is off, or the kernel was built "
			"without CONFIG_CFS_BANDWIDTH");
		diag_hint("`echo +cpu > /sys/fs/cgroup/cgroup.subtree_control` turns the controller on");
		return -EOPNOTSUPP;
	}
	return err;
}

static int arm(struct measurement *m)
{
	struct cputhrottle *t = m->own;

	cpu_stats__free(&t->before);
	return cpu_stats__read(&t->before);
}

/* In `tally run`, reports follow one another, but all measurements end at the same time. */
static void disarm(struct measurement *m)
{
	struct cputhrottle *t = m->own;

	m->closed_ns = monotonic_ns();
	t->ended = !cpu_stats__read(&t->now);
}

static void release(void *own)
{
	struct cputhrottle *t = own;

	cpu_stats__free(&t->before);
	cpu_stats__free(&t->now);
}

static const struct option_row rows[] = {
	{ "all", 0, NULL, ROW_FLAG,
	  "All cgroups that have a quota, even if they were not throttled", HELP_GROUPING,
	  FIELD(struct cputhrottle, all) },
	{},
};

static const struct tool_spec spec = {
	.name = "cputhrottle",
	.cli = {
		.groups = CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND | CLI_ORDER,
		.doc = "Cgroups throttled by their CPU quota: in how many periods, and for how long.",
		.rows = rows, .columns = columns, .order = "throttled_time",
	},
	.own_size = sizeof(struct cputhrottle),
	.source = "cpu.stat of each cgroup, before and after",
	.load = load, .arm = arm, .disarm = disarm, .report = report,
	.free = release,
};

TOOL_MEASURING(cputhrottle, spec, AREA_SCHEDULER,
	       "cgroups throttled by their CPU quota (cpu.max): how often, and for how long");
