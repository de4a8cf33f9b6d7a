// SPDX-License-Identifier: BSD-2-Clause
/* schedmap: the task on each CPU, a line for each switch. See bpf/sched/timehist.bpf.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/timeline.h"
#include "sched/waits.h"
#include "sched/session.h"
#include "sched/tasks.h"
#include "tools.h"

#define IDLE "."
#define STRANGER "-"

struct schedmap {
	struct session session;         /* first member: hooks cast the session to this type */
	struct timeline timeline;
	struct tasks tasks;
	char (*cell)[TIMELINE_CELL];    /* one for each CPU */
	size_t cell_room;
	u64 events;
};

static void begin(struct session *s, struct writer *w, u32 cpus, u64 to_wall_clock)
{
	struct schedmap *m = (struct schedmap *)s;

	(void)w;
	m->timeline = (struct timeline){ .to_wall_clock = to_wall_clock };
	m->timeline.cpus = cpus;
	s->to_wall_clock = &m->timeline.to_wall_clock;
}

/*
 * Makes a column for each CPU. A CPU that came online later adds its own column, and those of CPUs
 * with lower numbers.
 */
static int make_cells(struct schedmap *m, u32 cpu)
{
	u32 cpus = cpu < m->timeline.cpus ? m->timeline.cpus : cpu + 1;
	int err = ARRAY_REACH(m->cell, m->cell_room, cpus);

	if (!err)
		m->timeline.cpus = cpus;
	return err;
}

static int take(struct session *s, struct writer *w, const struct switches_record *r)
{
	struct schedmap *m = (struct schedmap *)s;
	const char *code = r->stranger ? STRANGER : IDLE;
	struct task_totals *task;
	bool is_new = false;
	int err;

	if (r->kind != SWITCHES_SWITCH && r->kind != SWITCHES_ARRIVAL)
		return 0;
	err = make_cells(m, r->cpu);
	if (err)
		return err;
	if (r->other.tid && !r->stranger) {
		task = tasks__get(&m->tasks, &r->other);
		if (!task)
			return -ENOMEM;
		is_new = tasks__give_code(&m->tasks, task);
		code = task->code;
	}
	memset(m->cell[r->cpu], 0, TIMELINE_CELL);
	memcpy(m->cell[r->cpu], code, strlen(code));
	m->events++;
	return timeline__write_map(&m->timeline, w, r, m->cell, code, is_new);
}

static int report(struct session *s, struct report *r)
{
	struct schedmap *m = (struct schedmap *)s;

	r->events = m->events;
	m->events = 0;
	return timeline__end_map(&m->timeline, s->writer);
}

static int check(void *own, struct cli *cli)
{
	struct schedmap *m = own;

	return session__check(&m->session, cli);
}

static void init(void *own)
{
	struct schedmap *m = own;

	m->session = (struct session){
		.source = WAIT_SOURCE_AUTO, .value = "switches", .arrivals = true,
		.begin = begin, .take = take, .report = report, .has_lines = true,
	};
}

static void release(void *own)
{
	struct schedmap *m = own;

	tasks__free(&m->tasks);
	free(m->cell);
}

static const struct option_row rows[] = {
	INCLUDE(struct schedmap, session, session_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "schedmap",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_MEASURE | CLI_COMMAND,
		.formats = SESSION_FORMATS,
		.doc = "Which task each CPU runs: one column per CPU, one line per switch.",
		.rows = rows,
	},
	.own_size = sizeof(struct schedmap),
	SESSION_HOOKS,
	.init = init, .check = check, .free = release,
};

TOOL_MEASURING(schedmap, spec, AREA_SCHEDULER, "which task each CPU runs, one line per switch");
