// SPDX-License-Identifier: BSD-2-Clause
/* migrations: tasks that move between CPUs. The measurement is bpf/sched/migrations.bpf.c. */
#include <errno.h>

#include "base/clock.h"
#include "cli/task_key.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/map_room.h"
#include "sched/waits.h"
#include "sched/moves.h"
#include "stack/options.h"
#include "tools.h"

#include "bpf/sched/migrations.h"
#include "migrations.skel.h"

SKELETON(migrations);

#define SOURCE "tp_btf/sched_migrate_task"

/*
 * A map element has a key, a source CPU, a target CPU, and the CPU that moved the task. Provides
 * space for this many combinations per key; most keys have fewer.
 */
#define WAYS_PER_KEY 4
#define CPUS_PER_KEY 8

struct migrations {
	bool matrix, with_stacks;
	struct stack_options options;
	struct stacks stacks;
	struct migrations_bpf *bpf;
	struct sum_set before;          /* the last snapshot */
	struct loss_counters losses_before;
	struct move_columns columns;    /* for --matrix */
};

/* Checks --by and --format for the table and the matrix. */
static int check_ways(struct migrations *m, struct cli *cli)
{
	char bad[32];
	u32 by = 0;

	if (stack_options__check_none(&m->options, cli))
		return -EINVAL;
	if (cli->by_text && task_key__parse(cli->by_text, NULL, &by, bad, sizeof(bad))) {
		diag_error("--by: unknown key '%s'; expected one of %s", bad, task_key_parts());
		return -EINVAL;
	}
	cli->by |= by;
	if (!m->matrix && !cli->by)
		cli->by = BY_TID;
	return 0;
}

static int check(void *context, struct cli *cli)
{
	struct migrations *m = context;
	int err;

	if (m->matrix && (cli->by || cli->by_text || m->with_stacks)) {
		diag_error("--matrix cannot be combined with --by, -P, -L or -g");
		return -EINVAL;
	}
	err = m->with_stacks ? stack_options__check(&m->options, &m->stacks, cli, BY_COMM) :
			       check_ways(m, cli);
	if (!err && cli->by & BY_CPU) {
		diag_error("--by cpu is not needed: rows already show the CPUs a task moved from and to");
		err = -EINVAL;
	}
	return err;
}

/* --- the report -------------------------------------------------------------------------------- */

static int report_stacks(struct migrations *m, struct measurement *measurement, struct report *r)
{
	int err = stacks__report(&m->stacks, measurement, r,
				 m->options.table ? 0 : measurement->cli->top);

	if (err)
		return err;
	r->stacks->unit = "migrations";
	return m->options.table ? stacks__tabulate(r, m->options.leaf, measurement->cli->top, false) : 0;
}

static int watch(struct measurement *measurement)
{
	struct migrations *m = measurement->own;

	return stacks__watch(&m->stacks);
}

static int report(struct measurement *measurement, struct report *r)
{
	struct migrations *m = measurement->own;
	const struct sum_source source = {
		.layout = &moves_layout, .map_fd = bpf_map__fd(m->bpf->maps.migrations),
		.generation = &m->bpf->bss->writer_generation,
	};
	struct sum_set set;
	int err;

	r->value = "tasks moved to another CPU";
	r->metric = "moves";
	r->source = SOURCE;
	tasks__visit(m->bpf->progs.look_at_task);
	if (m->with_stacks)
		return report_stacks(m, measurement, r);
	r->table = true;
	err = loss__since(&r->counters, &m->losses_before, bpf_map__fd(m->bpf->maps.losses), m->bpf->obj) ?:
	      sum_set__since(&set, &m->before, &source);
	if (err)
		return err;
	r->has_events = true;
	r->events = moves__sum(&set);
	err = m->matrix ? moves__matrix(r, &m->columns, &set) : moves__table(r, measurement, &set);
	sum_set__free(&set);
	return err;
}

/* --- the hooks --------------------------------------------------------------------------------- */

/* Creates either the map of moves or the maps of stacks. The program's other branch is dead code. */
static int configure_stacks(struct migrations *m, struct measurement *measurement)
{
	const struct cli *cli = measurement->cli;
	int err;

	m->bpf->rodata->take = stack_options__take(&m->options, &m->stacks);
	m->stacks.at_tracepoints = true;
	err = stacks__prepare(&m->stacks, measurement, m->bpf->obj, "counts", cli->asked_keys);
	return err ?: bpf_map__set_autocreate(m->bpf->maps.migrations, false);
}

/*
 * The slots remain, because the stack walk is a global function, which the verifier checks even if
 * it is not called.
 */
static int leave_out_stacks(const struct migrations *m)
{
	struct bpf_map *maps[] = {
		m->bpf->maps.stacks_small, m->bpf->maps.stacks_medium, m->bpf->maps.stacks_large,
		m->bpf->maps.stack_processes, m->bpf->maps.counts,
	};
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(maps) && !err; i++)
		err = bpf_map__set_autocreate(maps[i], false);
	return err;
}

static int configure_ways(struct migrations *m, struct measurement *measurement)
{
	u64 cpus = measurement->run->host.cpus_possible, movers = cpus < CPUS_PER_KEY ? cpus : CPUS_PER_KEY;
	int err = leave_out_stacks(m);

	if (!err)
		err = map__set_room_for_keys(m->bpf->maps.migrations, &measurement->run->host,
				    movers * WAYS_PER_KEY * measurement->cli->max_keys);
	if (!err)
		err = stacks__leave_out(m->bpf->obj);
	return err;
}

static int configure(struct migrations *m, struct measurement *measurement)
{
	int err = task_state__prepare(m->bpf->obj, "move_states", &measurement->run->host);

	if (err)
		return err;
	return m->with_stacks ? configure_stacks(m, measurement) : configure_ways(m, measurement);
}

static int open_skeleton(struct measurement *measurement)
{
	struct migrations *m = measurement->own;
	int err;

	m->bpf = measurement->bpf;
	err = moves__take_columns(&m->columns);
	return err ?: configure(m, measurement);
}

static int attach(struct measurement *measurement)
{
	struct migrations *m = measurement->own;
	int err;

	if (m->with_stacks) {
		err = stacks__begin(&m->stacks, measurement);
		measurement->watch = watch;
		err = err ?: measurement__attach_programs(measurement);
	} else {
		err = measurement__attach(measurement);
	}
	if (!err && tasks__visit(m->bpf->progs.look_at_task))
		diag_detail("no task iterator: missed moves are reported when a task moves again");
	return err;
}

static void init(void *own)
{
	struct migrations *m = own;

	*m = (struct migrations){ .options = STACK_OPTIONS };
}

static void release(void *own)
{
	struct migrations *m = own;

	stacks__free(&m->stacks);
	sum_set__free(&m->before);
	moves__free_columns(&m->columns);
}

static const struct option_row rows[] = {
	{ "matrix", 0, NULL, ROW_FLAG, "A table of moves from CPU to CPU, without tasks", 1,
	  FIELD(struct migrations, matrix) },
	{ "stacks", 'g', NULL, ROW_FLAG, "Count by the stack that moves the task", 1,
	  FIELD(struct migrations, with_stacks) },
	INCLUDE(struct migrations, options, stack_option_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "migrations",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND,
		.usual_stacks = STACKS_ON_DEMAND,
		.doc = "Which tasks move between CPUs, how often, from where to where.",
		.rows = rows,
		.own_keys = true,
		.keys = "pid, tid, comm, cgroup, container, unit, pidns, uid",
	},
	.own_size = sizeof(struct migrations), .skeleton = &migrations_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = SOURCE, .free = release,
};

TOOL_MEASURING(migrations, spec, AREA_SCHEDULER,
	       "which tasks move between CPUs, from where to where");
