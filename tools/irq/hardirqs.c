// SPDX-License-Identifier: BSD-2-Clause
/* hardirqs: time spent in interrupt handlers. See bpf/irq/hardirqs.bpf.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/scope.h"
#include "irq/spans.h"
#include "tools.h"
#include "types/kernel_btf.h"

#include "hardirqs.skel.h"

SKELETON(hardirqs);

struct hardirqs {
	struct spans spans;
	struct scope_glob names;
	bool has_names;
	bool only_devices;
	struct hardirqs_bpf *bpf;
};

/* As in /proc/interrupts: a number, or three letters for interrupts without one. */
static int add_line(struct report_row *row, u64 id)
{
	static const char *const lines[VECTOR_LINES] = {
		[LINE_LOC] = "LOC", [LINE_RES] = "RES", [LINE_CAL] = "CAL", [LINE_IWI] = "IWI",
		[LINE_PLT] = "PLT", [LINE_TRM] = "TRM", [LINE_THR] = "THR", [LINE_DFR] = "DFR",
		[LINE_SPU] = "SPU", [LINE_ERR] = "ERR",
	};
	u32 line = id;
	char number[16];

	snprintf(number, sizeof(number), "%u", line);
	return report_row__add_text(row, "irq",
				    id & SPAN_VECTOR && line < VECTOR_LINES ? lines[line] : number);
}

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct span_what *what = own;
	int err = 0;

	(void)context;
	if (by & BY_SPAN_ID)
		err = add_line(row, what->id);
	if (!err && by & BY_SPAN_DETAIL)
		err = report_row__add_text(row, "name", what->name[0] ? what->name : "?");
	return err;
}

/* The tracepoint of a program, or NULL for the programs of scope.bpf.h. */
static const char *interrupt_of(const struct bpf_program *prog)
{
	static const char hook[] = "tp_btf/", of_tasks[] = "sched_";
	const char *section = bpf_program__section_name(prog), *event = section + sizeof(hook) - 1;

	if (strncmp(section, hook, sizeof(hook) - 1) || !strncmp(event, of_tasks, sizeof(of_tasks) - 1))
		return NULL;
	return event;
}

/*
 * Loads the programs on vectors, which depend on architecture and configuration. Returns 0 if there is at least one, or
 * -ENOENT if there is none, or they are not requested.
 */
static int choose_vectors(const struct hardirqs *h)
{
	static const char device[] = "irq_handler_";
	int err = 0, any = -ENOENT;
	struct bpf_program *prog;
	char name[80];

	bpf_object__for_each_program(prog, h->bpf->obj) {
		const char *event = interrupt_of(prog);

		if (!event || !strncmp(event, device, sizeof(device) - 1))
			continue;
		snprintf(name, sizeof(name), "btf_trace_%s", event);
		if (!h->only_devices && kernel_btf_arguments(name) >= 0)
			any = 0;
		else
			err = bpf_program__set_autoload(prog, false);
		if (err)
			break;
	}
	return err ?: any;
}

static int open_skeleton(struct measurement *m)
{
	struct spans *s = m->own;
	struct hardirqs *h = s->own;
	struct hardirqs_bpf *bpf = m->bpf;
	int err;

	h->bpf = bpf;
	bpf->rodata->has_names = h->has_names;
	memcpy((void *)&bpf->rodata->names, &h->names, sizeof(h->names));
	err = choose_vectors(h);
	if (err == -ENOENT)
		s->source = "tp_btf/irq_handler_entry, tp_btf/irq_handler_exit";
	else if (err)
		return err;
	return 0;
}

/*
 * With --slices, the programs may run only for a part of the time: each wakeup of a task on another CPU may be an IPI,
 * and two programs for each would cost a busy server several percent of its time. The programs of scope.bpf.h always
 * run, because they keep track of tasks.
 */
static int attach(struct measurement *m)
{
	const struct spans *s = m->own;
	struct hardirqs_bpf *bpf = m->bpf;
	struct sliced *sliced = &m->sliced;
	struct bpf_program *prog;

	if (!s->sliced)
		return measurement__attach(m);
	*sliced = (struct sliced){ .since_ns = (volatile u64 *)&bpf->bss->slice_ns, .gated = true };
	bpf_object__for_each_program(prog, bpf->obj)
		if (bpf_program__autoload(prog) && interrupt_of(prog) && sliced->n < SLICED_PROGRAMS)
			sliced->program[sliced->n++] = prog;
	return measurement__attach(m);
}

static const char *const part_names[] = { "irq", "name" };
static const struct option_row rows[] = {
	{ "irq", 0, "GLOB", ROW_GLOB, "Only interrupts of this name, e.g. 'virtio*' or local_timer", 1,
	  FIELD(struct hardirqs, names), ALSO(struct hardirqs, has_names) },
	{ "devices", 0, NULL, ROW_FLAG, "Only device interrupts, without the timer and IPIs", 1,
	  FIELD(struct hardirqs, only_devices) },
	{ "slices", 0, NULL, ROW_FLAG, "At high rates, measure 100 ms of each second and estimate", 1,
	  FIELD(struct hardirqs, spans.sliced) },
	{},
};
static const struct spans_tool spans_tool = {
	.time = { .value = "time in interrupt handlers",
		  .source = "tp_btf/irq_handler_entry, irq_handler_exit; "
			    "local_timer_entry, local_timer_exit and those of IPIs" },
	.parts = { .name = part_names, .n = 2, .text = "irq, name", .add = add_parts },
	.by = BY_SPAN_ID | BY_SPAN_DETAIL,
	.open = open_skeleton,
};

static void init(void *own)
{
	struct hardirqs *h = own;

	h->spans.tool = &spans_tool;
	h->spans.own = h;
}

static const struct tool_spec spec = {
	.name = "hardirqs",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.keys = "cpu, irq, name",
		.usual_keys = SPANS_USUAL_KEYS,
		.keys_of_no_task = true,
		.doc = "How long interrupt handlers run: devices, timer, IPIs.",
		.rows = rows,
	},
	.own_size = sizeof(struct hardirqs), .skeleton = &hardirqs_skeleton,
	SPANS_HOOKS,
	.attach = attach,
	.init = init,
};

TOOL_MEASURING(hardirqs, spec, AREA_INTERRUPTS,
	       "interrupts: counts and handler times");
