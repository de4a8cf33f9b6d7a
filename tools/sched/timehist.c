// SPDX-License-Identifier: BSD-2-Clause
/* timehist: each switch, with the task on a CPU and what preceded it. See bpf/sched/timehist.bpf.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"
#include "report/timeline.h"
#include "sched/waits.h"
#include "sched/session.h"
#include "sched/tasks.h"
#include "tools.h"

struct timehist {
	struct session session;         /* first member: hooks cast the session to this type */
	struct timeline timeline;
	struct tasks tasks;
	bool migrations;                /* show migrations as lines; the summary always includes them */
	bool summary, lines;
	u64 events;                     /* number of lines since the last report */
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static const char *const orders[] = {
	[SWITCHES_BY_WAIT] = "delay", [SWITCHES_BY_OFF] = "wait", [SWITCHES_BY_RUN] = "run",
};

static int parse_summary(void *own, char *arg)
{
	struct timehist *h = own;

	h->summary = true;
	if (!arg)
		return 0;
	h->lines = false;
	if (!strcmp(arg, "only"))
		return 0;
	diag_error("--summary: expected only, got '%s'", arg);
	return -EINVAL;
}

/*
 * --- records -----------------------------------------------------------------------------------
 */

static void begin(struct session *s, struct writer *w, u32 cpus, u64 to_wall_clock)
{
	struct timehist *h = (struct timehist *)s;

	h->timeline.cpus = cpus;
	h->timeline.to_wall_clock = to_wall_clock;
	s->to_wall_clock = &h->timeline.to_wall_clock;
	h->timeline.stacks = h->session.callers.wanted ? h->session.stacks : NULL;
	h->timeline.most_frames = h->session.callers.most_frames;
	if (h->lines)
		timeline__write_titles(&h->timeline, w);
}

static bool is_shown(const struct timehist *h, const struct switches_record *r)
{
	switch (r->kind) {
	case SWITCHES_SWITCH:
		return true;
	case SWITCHES_WAKEUP:
		return h->session.wakeups;
	case SWITCHES_MIGRATION:
		return h->migrations;
	default:
		return false;
	}
}

static int take(struct session *s, struct writer *w, const struct switches_record *r)
{
	struct timehist *h = (struct timehist *)s;
	int err = h->summary ? tasks__add(&h->tasks, r) : 0;

	if (err || !is_shown(h, r))
		return err;
	h->events++;
	return h->lines ? timeline__write(&h->timeline, w, r) : 0;
}

/*
 * --- tables ------------------------------------------------------------------------------------
 */

static int add_time(struct report_row *row, const char *name, u64 ns, bool known, enum field_role role)
{
	known = known && ns != SWITCHES_UNKNOWN;
	return report_row__add_figure(row, name, ns, known ? FIELD_TIME : FIELD_NONE, role);
}

static int add_ids(struct report_row *row, const char *const names[3], u32 tid, u32 pid,
		   const char *comm)
{
	int err = report_row__add_number(row, names[0], tid, FIELD_ID);

	if (!err)
		err = report_row__add_number(row, names[1], pid, FIELD_ID);
	return err ?: report_row__add_text(row, names[2], comm);
}

static int add_task(struct report_row *row, const char *const names[3],
		    const struct switches_task *t)
{
	char comm[sizeof(t->comm) + 1] = "";

	memcpy(comm, t->comm, sizeof(t->comm));
	return add_ids(row, names, t->tid, t->pid, comm);
}

static int add_totals(struct report_row *row, const struct task_totals *t)
{
	static const char *const names[] = { "tid", "pid", "comm" };
	int err = add_ids(row, names, t->tid, t->pid, t->comm);

	if (!err)
		err = report_row__add_sum(row, "slices", t->slices, FIELD_NUMBER);
	if (!err)
		err = report_row__add_sum(row, "run", t->run_ns, FIELD_TIME);
	if (!err)
		err = add_time(row, "min", t->run_min_ns, t->timed, ROLE_MINIMUM);
	if (!err)
		err = add_time(row, "avg", t->timed ? t->run_ns / t->timed : 0, t->timed, ROLE_GAUGE);
	if (!err)
		err = add_time(row, "max", t->run_max_ns, t->timed, ROLE_MAXIMUM);
	if (!err)
		err = report_row__add_sum(row, "delay", t->wait_ns, FIELD_TIME);
	if (!err)
		err = add_time(row, "max_delay", t->wait_max_ns, t->waits, ROLE_MAXIMUM);
	return err ?: report_row__add_sum(row, "migrations", t->migrations, FIELD_NUMBER);
}

/* The summary covers one interval, so the next one starts empty. */
static int report_summary(struct timehist *h, struct report *r)
{
	static const struct task_totals none;
	struct report_row columns = {};
	int err = 0;
	size_t i;

	for (i = 0; i < h->tasks.n && !err; i++) {
		struct report_row row = {};

		err = add_totals(&row, &h->tasks.task[i]);
		err = report__end_row(r, &row, err);
	}
	if (!err && !r->nrows)
		err = report__end_columns(r, &columns, add_totals(&columns, &none));
	tasks__free(&h->tasks);
	report__sort_rows(r, "run", 1, h->session.cli->top);
	return err;
}

static int add_stack(struct report_row *row, const char *name, struct timehist *h,
		     const struct switches_worst *w, enum switches_taken which)
{
	u32 most = h->timeline.most_frames;
	char *text;
	int err;

	if (!most && h->session.cli->format == FORMAT_TEXT)
		most = TIMELINE_FRAMES;
	err = session__describe_stack(&h->session, w, which, most, &text);
	if (!err)
		err = report_row__add_text(row, name, text);
	free(text);
	return err;
}

static int add_stacks(struct report_row *row, struct timehist *h, const struct switches_worst *w)
{
	int err = add_stack(row, "prev_stack", h, w, SWITCHES_BEFORE_STACK);

	return err ?: add_stack(row, "stack", h, w, SWITCHES_STACK);
}

static int add_worst(struct report_row *row, struct timehist *h, const struct switches_worst *w)
{
	static const char *const names[][3] = {
		{ "tid", "pid", "comm" }, { "prev_tid", "prev_pid", "prev_comm" },
		{ "next_tid", "next_pid", "next_comm" },
	};
	const struct switches_record *r = &w->record;
	const struct switches_task *tasks[] = { &r->task, &w->before, &r->other };
	char time[TIMELINE_TIME_SPACE];
	size_t i;
	int err;

	timeline__format_time(&h->timeline, time, r->time_ns);
	err = report_row__add_text(row, "time", time);
	if (!err)
		err = report_row__add_number(row, "cpu", r->cpu, FIELD_ID);
	if (!err)
		err = add_task(row, names[0], tasks[0]);
	if (!err)
		err = add_time(row, "wait", r->off_ns, true, ROLE_GAUGE);
	if (!err)
		err = add_time(row, "delay", r->wait_ns, true, ROLE_GAUGE);
	if (!err)
		err = add_time(row, "run", r->run_ns, true, ROLE_GAUGE);
	for (i = 1; i < ARRAY_SIZE(tasks) && !err; i++)
		err = add_task(row, names[i], tasks[i]);
	if (!err && h->session.callers.wanted)
		err = add_stacks(row, h, w);
	return err;
}

static int report_worst(struct timehist *h, struct report *r)
{
	static const struct switches_worst none;
	struct report_row columns = {};
	struct worst worst = {};
	int err = session__read_worst(&h->session, &worst);
	size_t i;

	for (i = 0; i < worst.n && !err; i++) {
		struct report_row row = {};

		err = add_worst(&row, h, &worst.entry[i]);
		err = report__end_row(r, &row, err);
	}
	if (!err && !worst.n)
		err = report__end_columns(r, &columns, add_worst(&columns, h, &none));
	r->events = worst.n;
	worst__free(&worst);
	return err;
}

static int report(struct session *s, struct report *r)
{
	struct timehist *h = (struct timehist *)s;

	r->events = h->events;
	h->events = 0;
	if (h->session.worst)
		return report_worst(h, r);
	if (h->summary)
		return report_summary(h, r);
	return timeline__end_lines(&h->timeline, s->writer);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Whether an option for lines or for a summary was given. */
static bool is_about_more(const struct timehist *h, const struct cli *cli)
{
	return h->summary || h->session.wakeups || h->migrations || h->timeline.picture ||
	       h->timeline.next || cli->top;
}

static int check(void *own, struct cli *cli)
{
	struct timehist *h = own;
	struct callers *c = &h->session.callers;
	const char *what = NULL;

	h->session.migrations = h->migrations || h->summary;
	h->lines = h->lines && !h->session.worst;
	h->session.has_lines = h->lines && !h->summary && !h->session.record;
	if (c->wanted && !h->lines && !h->session.worst)
		what = "-g and --summary=only cannot be combined";
	else if (h->session.worst && is_about_more(h, cli))
		what = "--worst cannot be combined with options for lines, totals or --top";
	else if (h->session.worst_by != SWITCHES_BY_WAIT && !h->session.worst)
		what = "--sort needs --worst";
	else if (h->session.record && (h->summary || h->timeline.picture || h->timeline.next))
		what = "--record cannot be combined with --summary, --cpu-picture or --next; use --read";
	else if (h->summary && h->lines && cli->format == FORMAT_CSV)
		what = "--csv prints one table: use --summary=only, or no --summary";
	if (what)
		diag_error("%s", what);
	if (what || session__check(&h->session, cli))
		return -EINVAL;
	return c->wanted && h->session.read ? 0 : callers__check(c);
}

static void init(void *own)
{
	struct timehist *h = own;

	*h = (struct timehist){
		.lines = true,
		.session = {
			.source = WAIT_SOURCE_AUTO, .value = "switches",
			.begin = begin, .take = take, .report = report, .callers.at_switches = true,
		},
	};
}

static void release(void *own)
{
	struct timehist *h = own;

	tasks__free(&h->tasks);
}

static const char *const summaries[] = { "only" };

static const struct option_row rows[] = {
	{ "next", 0, NULL, ROW_FLAG, "the next task on the CPU, too", 1, FIELD(struct timehist, timeline.next) },
	{ "cpu-picture", 0, NULL, ROW_FLAG, "One column of one letter per CPU", 1,
	  FIELD(struct timehist, timeline.picture) },
	{ "wakeups", 0, NULL, ROW_FLAG, "Wakeups, too", 1, FIELD(struct timehist, session.wakeups) },
	{ "migrations", 0, NULL, ROW_FLAG, "Tasks moved to another CPU, too", 1, FIELD(struct timehist, migrations) },
	{ "summary", 0, "only", ROW_OWN, "Totals of each task at the end; =only: without the lines", 1,
	  .parse = parse_summary, .optional = true, WORDS(summaries) },
	{ "worst", 0, "N", ROW_COUNT, "Only the N longest delays, at the end", 1,
	  FIELD(struct timehist, session.worst), .least = 1, .most = SWITCHES_WORST_MOST },
	{ "sort", 0, "COL", ROW_WORD, "with --worst: by delay (default), wait or run", 1,
	  FIELD(struct timehist, session.worst_by), WORDS(orders), .noun = "column" },
	INCLUDE(struct timehist, session, session_rows),
	INCLUDE(struct timehist, session.callers, caller_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "timehist",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_MEASURE | CLI_COMMAND,
		.formats = SESSION_FORMATS,
		.doc = "Each switch: the task that leaves the CPU, its run time, and its wait before that.",
		.rows = rows,
	},
	.own_size = sizeof(struct timehist),
	SESSION_HOOKS,
	.init = init, .check = check, .free = release,
};

TOOL_MEASURING(timehist, spec, AREA_SCHEDULER,
	       "switch by switch: run time, and the wait before it");
