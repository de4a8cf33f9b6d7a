// SPDX-License-Identifier: BSD-2-Clause
/* replay: repeats a recorded schedule as a load. See tools/sched/schedule.h and replaying.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "cli/options.h"
#include "host/host.h"
#include "host/scope.h"
#include "report/diag.h"
#include "run/run.h"
#include "sched/file.h"
#include "sched/replay_table.h"
#include "tools.h"

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
	struct replayed *replayed;      /* for each task */
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int parse_pids(void *own, char *list)
{
	struct replay_tool *t = own;

	free(t->pids);
	t->pids = NULL;
	if (!parse_id_list(list, 1, INT32_MAX, &t->pids, &t->npids))
		return 0;
	diag_error("-p: '%s' is not a list of process ids", list);
	return -EINVAL;
}

static int take_file(void *own, char *path)
{
	struct replay_tool *t = own;

	if (t->path) {
		diag_error("unexpected argument '%s': one file is run at a time", path);
		return -EINVAL;
	}
	t->path = path;
	return 0;
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

/* Chooses the tasks. Returns 0, or a negative errno after reporting the error. */
static int choose(struct replay_tool *t)
{
	struct schedule *s = &t->schedule;
	struct scope_glob glob = {};
	size_t i, n = 0;

	if (t->comm && scope_glob__compile(&glob, t->comm)) {
		diag_error("--comm: '%s' is too long or not a glob", t->comm);
		return -EINVAL;
	}
	for (i = 0; i < s->ids.n; i++) {
		const struct task_totals *id = &s->ids.task[i];
		struct schedule_task *task = &s->task[i];

		/* Tasks that never ran are known only as wakers, because they were out of scope. */
		task->left_out = !task->run_ns || !has_pid(t, id->pid) ||
				 (t->comm && !scope_glob__matches(&glob, id->comm));
		n += !task->left_out;
	}
	if (n && n <= REPLAY_MOST_TASKS)
		return 0;
	if (n)
		diag_error("'%s' has %zu tasks; at most %u threads are supported", t->path, n,
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
		diag_warn("'%s' has no end: its writer did not finish", t->path);
	err = choose(t);
	if (err)
		return err;
	t->replayed = calloc(t->schedule.ids.n, sizeof(*t->replayed));
	return t->replayed ? 0 : -ENOMEM;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int write_report(struct replay_tool *t, u64 start_ns)
{
	struct report r = {
		.tool = "replay", .command = t->cli.command_line, .table = true,
		.kernel = t->host.uts.release, .cpus = t->host.cpus_online,
		.value = "a recorded schedule", .source = t->path, .start_ns = start_ns,
		.has_losses = true, .counters = t->file.counters,
	};
	char hidden[100];
	int err;

	snprintf(hidden, sizeof(hidden), "the end of %zu slices was not seen; run time in them that was never "
					 "accounted is left out", t->schedule.hidden);
	if (t->schedule.hidden)
		r.caveat = hidden;
	err = replay_table__fill(&r, &t->schedule, t->replayed, &t->cli);
	if (!err)
		err = writer__write(&t->writer, &r);
	report__free(&r);
	return err;
}

static int repeat(struct replay_tool *t)
{
	u64 i, start_ns;
	int err = 0;

	for (i = 0; i < t->repeat && !err; i++) {
		memset(t->replayed, 0, t->schedule.ids.n * sizeof(*t->replayed));
		start_ns = realtime_ns();
		err = replay__run(&t->schedule, t->replayed);
		if (err)
			diag_error("cannot create one thread per task: %s", strerror(-err));
		else
			err = write_report(t, start_ns);
	}
	return err;
}

static int run(struct replay_tool *t)
{
	int err;

	if (!t->path) {
		diag_error("no file given; `timehist --record FILE` creates one");
		return EXIT_USAGE;
	}
	err = host__read(&t->host) ?: read_file(t);
	if (!err)
		err = cli__open_writer(&t->cli, &t->writer);
	if (!err)
		err = repeat(t);
	err = cli__close_writer(&t->writer, err);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	return EXIT_DONE;
}

static const struct option_row rows[] = {
	HEADING("Part of the recording:", 1),
	{ "pid", 'p', "PID,..", ROW_OWN, "Only the threads of these processes", 1, .parse = parse_pids },
	{ "comm", 0, "GLOB", ROW_TEXT, "Only tasks with these names", 1, FIELD(struct replay_tool, comm) },
	{ "repeat", 'r', "N", ROW_COUNT, "Run N times, with a report each; 1 by default", 1,
	  FIELD(struct replay_tool, repeat), .least = 1, .most = MOST_REPEATS },
	{},
};

static int replay(int argc, char **argv)
{
	struct replay_tool t = { .repeat = 1 };
	const struct cli_spec spec = {
		.groups = CLI_TOP | CLI_OUTPUT,
		.doc = "Runs a recorded schedule (timehist --record) again, as a load.",
		.rows = rows,
		.args_doc = "FILE",
		.argument = take_file,
		.own_input = &t,
		.arguments = complete_files,
	};
	int code = EXIT_USAGE;

	if (!cli__parse(&t.cli, &spec, argc, argv)) {
		code = run(&t);
		cli__free(&t.cli);
	}
	schedule__free(&t.schedule);
	switches_file_text__free(&t.file);
	free(t.replayed);
	free(t.pids);
	return code;
}

TOOL(replay, AREA_SCHEDULER, "run a recorded schedule again, as a load");
