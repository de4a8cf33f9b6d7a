// SPDX-License-Identifier: BSD-2-Clause
/* softirqs: run times or delays of softirqs. See bpf/irq/softirqs.bpf.c. */
#include <errno.h>
#include <stdio.h>

#include "irq/spans.h"
#include "report/diag.h"
#include "tools.h"

#include "softirqs.skel.h"

SKELETON(softirqs);

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	/* As in /proc/softirqs. */
	static const char *const names[SOFTIRQS] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};
	const struct span_what *what = own;
	char number[24];

	(void)context;
	if (!(by & BY_SPAN_ID))
		return 0;
	snprintf(number, sizeof(number), "%llu", what->id);
	return report_row__add_text(row, "softirq", what->id < SOFTIRQS ? names[what->id] : number);
}

static int check(void *own, struct cli *cli)
{
	const struct spans *s = own;

	if (s->sliced && s->late) {
		diag_error("--slices estimates run times; a softirq may be raised in one slice and run in none");
		return -EINVAL;
	}
	return spans__check(own, cli);
}

/*
 * With --slices, the programs may run only for a part of the time: thousands of packets per second cause as many
 * softirqs, and two programs for each would cost a busy server several percent of its time.
 */
static int attach(struct measurement *m)
{
	const struct spans *s = m->own;
	struct softirqs_bpf *bpf = m->bpf;

	if (s->sliced)
		m->sliced = (struct sliced){
			.program = { bpf->progs.on_entry, bpf->progs.on_exit }, .n = 2,
			.since_ns = (volatile u64 *)&bpf->bss->slice_ns,
		};
	return measurement__attach(m);
}

static const char *const part_names[] = { "softirq" };
static const char *const of_time[] = { "on_entry", "on_exit", NULL };
static const char *const of_late[] = { "on_raise", "on_late_entry", NULL };
static const struct option_row rows[] = {
	SPANS_LATENCY("Latency instead: from raised to running"),
	{ "slices", 0, NULL, ROW_FLAG, "At high rates, measure 100 ms of each second and estimate", 1,
	  FIELD(struct spans, sliced) },
	{},
};
static const struct spans_tool spans_tool = {
	.time = { .value = "time in softirqs",
		  .source = "tp_btf/softirq_entry, tp_btf/softirq_exit" },
	.late = { .value = "time from raise to softirq",
		  .source = "tp_btf/softirq_raise, tp_btf/softirq_entry" },
	.of_time = of_time, .of_late = of_late,
	.parts = { .name = part_names, .n = 1, .text = "softirq", .add = add_parts },
	.by = BY_SPAN_ID,
};

static void init(void *own)
{
	struct spans *s = own;

	s->tool = &spans_tool;
}

static const struct tool_spec spec = {
	.name = "softirqs",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.keys = "cpu, softirq",
		.usual_keys = SPANS_USUAL_KEYS,
		.keys_of_no_task = true,
		.doc = "How long softirqs run, or how late they start after being raised.",
		.rows = rows,
	},
	.own_size = sizeof(struct spans), .skeleton = &softirqs_skeleton,
	.hist = { "times", sizeof(struct span_key) },
	.parts = spans__parts, .check = check, .open = spans__open, .attach = attach, .report = spans__report,
	.free = spans__free, .init = init,
};

TOOL_MEASURING(softirqs, spec, AREA_INTERRUPTS, "softirqs: counts, run times, latency");
