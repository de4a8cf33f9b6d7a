// SPDX-License-Identifier: BSD-2-Clause
/* workqueues: run times or delays of work items. See bpf/irq/workqueues.bpf.c. */

#include "irq/spans.h"
#include "run/map_room.h"
#include "tools.h"

#include "workqueues.skel.h"

SKELETON(workqueues);

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct span_what *what = own;
	int err = 0;

	if (by & BY_SPAN_ID)
		err = spans__add_function(context, what->id, row);
	/* The name is unknown for items queued before the run. */
	if (!err && by & BY_SPAN_DETAIL)
		err = report_row__add_text(row, "workqueue", what->name[0] ? what->name : "?");
	return err;
}

/* Queued items, including cancelled ones, and running items per key. */
#define QUEUED_PER_KEY 64
#define RUNNING_PER_KEY 4

static int set_room(struct workqueues_bpf *bpf, const struct measurement *m)
{
	u64 keys = m->cli->max_keys;
	int err = map__preallocate(bpf->maps.queued_works, QUEUED_PER_KEY * keys);

	return err ?: map__preallocate(bpf->maps.running_works, RUNNING_PER_KEY * keys);
}

static int open_skeleton(struct measurement *m)
{
	struct workqueues_bpf *bpf = m->bpf;
	struct spans *s = m->own;
	int err;

	bpf->rodata->queue_time = s->late;
	/* on_queue also provides the name of the workqueue. */
	err = bpf_program__set_autoload(bpf->progs.on_queue,
					s->late || m->cli->by & BY_SPAN_DETAIL);
	if (!err)
		err = set_room(bpf, m);
	return err;
}

static const char *const part_names[] = { "function", "workqueue" };
static const char *const of_time[] = { "on_end", NULL };
static const struct option_row rows[] = {
	SPANS_LATENCY("Time in the queue instead"),
	{},
};
static const struct spans_tool spans_tool = {
	.time = { .value = "time in work items",
		  .source = "tp_btf/workqueue_execute_start, workqueue_execute_end" },
	.late = { .value = "time in queue",
		  .source = "tp_btf/workqueue_queue_work, workqueue_execute_start" },
	.of_time = of_time,
	.parts = { .name = part_names, .n = 2, .text = "function, workqueue",
		   .add = add_parts },
	.by = BY_SPAN_ID | BY_SPAN_DETAIL,
	.open = open_skeleton,
};

static void init(void *own)
{
	struct spans *s = own;

	s->tool = &spans_tool;
}

static const struct tool_spec spec = {
	.name = "workqueues",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.keys = "cpu, function, workqueue",
		.usual_keys = SPANS_USUAL_KEYS,
		.keys_of_no_task = true,
		.doc = "How long work items of kernel workqueues run, or wait in the queue.",
		.rows = rows,
	},
	.own_size = sizeof(struct spans), .skeleton = &workqueues_skeleton,
	SPANS_HOOKS,
	.init = init,
};

TOOL_MEASURING(workqueues, spec, AREA_INTERRUPTS,
	       "workqueues: counts, run times and delays of work items");
