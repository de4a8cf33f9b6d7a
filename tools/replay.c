// SPDX-License-Identifier: BSD-2-Clause
/* replay: runs a recorded schedule again, as a load. See user/sched/schedule.h and replay.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/numbers.h"
#include "cli/options.h"
#include "host/host.h"
#include "host/scope.h"
#include "out/diag.h"
#include "run/run.h"
#include "sched/file.h"
#include "sched/replay.h"
#include "tools.h"

/* Of our own options; those of user/cli are below. */
#define KEY_COMM 0x1000

#define MOST_REPEATS 1000

struct replay_tool {
	const char *path;
	u32 *pids;
	size_t npids;
	const char *comm;       /* glob */
	u64 repeat;
	struct cli cli;
	struct host host;
	struct writer writer;
	struct schedule schedule;
	struct switches_file_text file;
	struct replayed *replayed;      /* of each task */
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct replay_tool *t = state->input;

	switch (key) {
	case 'p':
		free(t->pids);
		t->pids = NULL;
		if (!parse_id_list(arg, 1, INT32_MAX, &t->pids, &t->npids))
			return 0;
		diag_error("-p: '%s' is not a list of process ids", arg);
		return EINVAL;
	case 'r':
		if (!parse_u64_between(arg, 1, MOST_REPEATS, &t->repeat))
			return 0;
		diag_error("-r: '%s' is not a number from 1 to %u", arg, MOST_REPEATS);
		return EINVAL;
	case KEY_COMM:
		t->comm = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (t->path) {
			diag_error("one file at a time: '%s' is too much", arg);
			return EINVAL;
		}
		t->path = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * --- the recording -----------------------------------------------------------------------------
 */

static int begin(void *context, const struct switches_file_head *head)
{
	(void)context;
	(void)head;
	return 0;
}

static int take(void *context, const struct switches_record *r)
{
	struct replay_tool *t = context;

	return schedule__take(&t->schedule, r);
}

static bool has_pid(const struct replay_tool *t, u32 pid)
{
	size_t i;

	for (i = 0; i < t->npids; i++)
		if (t->pids[i] == pid)
			return true;
	return !t->npids;
}

/* Says what is wrong. Returns 0 or a negative errno. */
static int choose(struct replay_tool *t)
{
	struct schedule *s = &t->schedule;
	struct scope_glob glob = {};
	size_t i, n = 0;

	if (t->comm && scope_glob__compile(&glob, t->comm)) {
		diag_error("--comm: '%s' is too long, or no glob", t->comm);
		return -EINVAL;
	}
	for (i = 0; i < s->ids.n; i++) {
		const struct task_totals *id = &s->ids.task[i];
		struct schedule_task *task = &s->task[i];

		/* Of some only that they woke others is known: they were out of scope. */
		task->left_out = !task->run_ns || !has_pid(t, id->pid) ||
				 (t->comm && !scope_glob__matches(&glob, id->comm));
		n += !task->left_out;
	}
	if (n && n <= REPLAY_MOST_TASKS)
		return 0;
	if (n)
		diag_error("'%s' has %zu tasks: more than %u threads are not made", t->path, n,
			   REPLAY_MOST_TASKS);
	else
		diag_error("'%s' has no task that ran%s", t->path,
			   t->npids || t->comm ? " and was chosen" : "");
	return -ENOENT;
}

static int read_file(struct replay_tool *t)
{
	const char *why;
	int err = switches_file__read(&t->file, t->path, begin, take, t, &why);

	if (!err)
		err = schedule__finish(&t->schedule);
	if (err) {
		diag_error("'%s': %s", t->path, why ?: strerror(-err));
		return err;
	}
	if (!t->file.whole)
		diag_warn("'%s' has no end: whoever wrote it did not finish", t->path);
	err = choose(t);
	if (err)
		return err;
	t->replayed = calloc(t->schedule.ids.n, sizeof(*t->replayed));
	return t->replayed ? 0 : -ENOMEM;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* What stands in one row: recorded, and replayed. */
struct pair {
	struct replayed was, is;
};

static struct pair pair_of(const struct replay_tool *t, size_t i)
{
	const struct schedule_task *task = &t->schedule.task[i];

	return (struct pair){
		.was = {
			.run_ns = task->run_ns, .switches = task->switches,
			.wakeups = replay__wakeups(&t->schedule, i), .end_ns = task->end_ns,
		},
		.is = t->replayed[i],
	};
}

static void add_up(struct replayed *sum, const struct replayed *r)
{
	sum->run_ns += r->run_ns;
	sum->switches += r->switches;
	sum->wakeups += r->wakeups;
	if (r->end_ns > sum->end_ns)
		sum->end_ns = r->end_ns;
}

static int add_figures(struct report_row *row, const struct pair *p)
{
	const struct {
		const char *name;
		u64 number;
		enum field_kind kind;
	} cells[] = {
		{ "run", p->was.run_ns, FIELD_TIME },
		{ "replayed_run", p->is.run_ns, FIELD_TIME },
		{ "switches", p->was.switches, FIELD_NUMBER },
		{ "replayed_switches", p->is.switches, FIELD_NUMBER },
		{ "wakeups", p->was.wakeups, FIELD_NUMBER },
		{ "replayed_wakeups", p->is.wakeups, FIELD_NUMBER },
		{ "end", p->was.end_ns, FIELD_TIME },
		{ "replayed_end", p->is.end_ns, FIELD_TIME },
	};
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cells) && !err; i++)
		err = report_row__add_number(row, cells[i].name, cells[i].number, cells[i].kind);
	return err;
}

/* Takes row over, whatever err says of the making of it. */
static int finish_row(struct report *r, struct report_row *row, int err)
{
	if (!err)
		return report__add_row(r, row);
	report_row__free(row);
	return err;
}

static int add_task(struct report *r, const struct task_totals *id, const struct pair *p)
{
	struct report_row row = {};
	int err = report_row__add_number(&row, "tid", id->tid, FIELD_ID);

	if (!err)
		err = report_row__add_number(&row, "pid", id->pid, FIELD_ID);
	if (!err)
		err = report_row__add_text(&row, "comm", id->comm);
	if (!err)
		err = add_figures(&row, p);
	return finish_row(r, &row, err);
}

/* For people; programs can add up rows, and would have to leave out this one. */
static int add_total(struct report *r, const struct pair *total)
{
	struct report_row row = {};
	int err = report_row__add_text(&row, "tid", "total");

	if (!err)
		err = report_row__add_text(&row, "pid", NULL);
	if (!err)
		err = report_row__add_text(&row, "comm", NULL);
	if (!err)
		err = add_figures(&row, total);
	return finish_row(r, &row, err);
}

static int fill(const struct replay_tool *t, struct report *r)
{
	struct pair total = {}, p;
	int err = 0;
	size_t i;

	for (i = 0; i < t->schedule.ids.n && !err; i++) {
		if (t->schedule.task[i].left_out)
			continue;
		p = pair_of(t, i);
		add_up(&total.was, &p.was);
		add_up(&total.is, &p.is);
		err = add_task(r, &t->schedule.ids.task[i], &p);
	}
	report__sort_rows(r, "run", 1, t->cli.top);
	r->duration_ns = total.is.end_ns;
	r->events = total.is.wakeups;
	if (!err && t->cli.format == FORMAT_TEXT)
		err = add_total(r, &total);
	return err;
}

static int write_report(struct replay_tool *t, u64 start_ns)
{
	struct report r = {
		.tool = "replay", .command = t->cli.command_line, .table = true,
		.kernel = t->host.uts.release, .cpus = t->host.cpus_online,
		.value = "a recorded schedule", .source = "a file", .start_ns = start_ns,
		.has_losses = true, .counters = t->file.counters,
	};
	int err = fill(t, &r);

	if (!err)
		err = writer__write(&t->writer, &r);
	report__free(&r);
	return err;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static u64 wall_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int repeat(struct replay_tool *t)
{
	u64 i, start_ns;
	int err = 0;

	for (i = 0; i < t->repeat && !err; i++) {
		memset(t->replayed, 0, t->schedule.ids.n * sizeof(*t->replayed));
		start_ns = wall_clock_ns();
		err = replay__run(&t->schedule, t->replayed);
		if (err)
			diag_error("cannot make a thread for each task: %s", strerror(-err));
		else
			err = write_report(t, start_ns);
	}
	return err;
}

static int run(struct replay_tool *t)
{
	int err;

	if (!t->path) {
		diag_error("which file? `timehist --record FILE` makes one");
		return EXIT_USAGE;
	}
	err = host__read(&t->host) ?: read_file(t);
	if (!err)
		err = cli__open_writer(&t->cli, &t->writer);
	if (!err)
		err = repeat(t);
	if (t->writer.file && t->writer.file != stdout)
		fclose(t->writer.file);
	if (err)
		return err == -EPIPE ? EXIT_DONE : err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	return EXIT_DONE;
}

static int replay(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "What of the recording:", 1 },
		{ "pid", 'p', "PID,..", 0, "Only the threads of these processes", 1 },
		{ "comm", KEY_COMM, "GLOB", 0, "Only tasks of such names", 1 },
		{ "repeat", 'r', "N", 0, "N times, with a report each; 1 without this", 1 },
		{},
	};
	static const struct argp own = {
		.options = options, .parser = parse_own, .args_doc = "FILE",
	};
	struct replay_tool t = { .repeat = 1 };
	const struct cli_spec spec = {
		.groups = CLI_TOP | CLI_OUTPUT,
		.doc = "Runs a recorded schedule (timehist --record) again, as a load.",
		.own = &own,
		.own_input = &t,
	};
	int code = EXIT_USAGE;

	if (!cli__parse(&t.cli, &spec, argc, argv)) {
		code = run(&t);
		cli__free(&t.cli);
	}
	schedule__free(&t.schedule);
	free(t.replayed);
	free(t.pids);
	return code;
}

TOOL(replay, AREA_SCHEDULER, "run a recorded schedule again, as a load");
