// SPDX-License-Identifier: BSD-2-Clause
/* softirqs: how long softirqs run, or how long they are late. See bpf/softirqs.bpf.c. */
#include <errno.h>
#include <stdio.h>

#include "irq/spans.h"
#include "tools.h"

#include "softirqs.skel.h"

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	/* As /proc/softirqs has them. */
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

static int open_skeleton(struct course *c, struct run *run)
{
	struct softirqs_bpf *bpf = softirqs_bpf__open();
	struct spans *s = c->context;

	if (!bpf)
		return -errno;
	s->own = bpf;
	return SPANS_PREPARE(c, run, bpf);
}

static int softirqs(int argc, char **argv)
{
	static const char *const part_names[] = { "softirq" };
	static const char *const of_time[] = { "on_entry", "on_exit", NULL };
	static const char *const of_late[] = { "on_raise", "on_late_entry", NULL };
	static const struct argp_option options[] = {
		SPANS_LATENCY("How long they are late instead: from being raised to running"),
		SPANS_OPTIONS,
		{},
	};
	static const struct spans_tool tool = {
		.name = "softirqs",
		.doc = "How long softirqs run, or how long after they are raised.",
		.time = { .value = "time in softirqs",
			  .source = "tp_btf/softirq_entry, tp_btf/softirq_exit" },
		.late = { .value = "time from raise to softirq",
			  .source = "tp_btf/softirq_raise, tp_btf/softirq_entry" },
		.of_time = of_time, .of_late = of_late,
		.options = options,
		.parts = { .name = part_names, .n = 1, .text = "softirq", .add = add_parts },
		.by = BY_SPAN_ID,
		.open = open_skeleton,
	};
	struct spans s = { .tool = &tool };
	int code = spans__main(&s, argc, argv);

	softirqs_bpf__destroy(s.own);
	return code;
}

TOOL(softirqs, AREA_INTERRUPTS, "softirqs: how many, how long they run, how late");
