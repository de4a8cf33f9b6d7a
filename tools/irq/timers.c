// SPDX-License-Identifier: BSD-2-Clause
/* timers: run times or delays of timer functions. See bpf/irq/timers.bpf.c. */
#include <time.h>

#include "irq/spans.h"
#include "tools.h"

#include "timers.skel.h"

SKELETON(timers);

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	static const char *const kinds[TIMER_KINDS] = {
		[TIMER_WHEEL] = "timer",
		[TIMER_HIGH] = "hrtimer",
		[TIMER_HIGH_SOFT] = "hrtimer-soft",
	};
	const struct span_what *what = own;
	int err = 0;

	if (by & BY_SPAN_ID)
		err = spans__add_function(context, what->id, row);
	if (!err && by & BY_SPAN_DETAIL)
		err = report_row__add_text(row, "kind",
					   what->kind < TIMER_KINDS ? kinds[what->kind] : NULL);
	return err;
}

/* The resolution of this clock is the tick. */
static u64 jiffy_ns(void)
{
	struct timespec ts = {};

	clock_getres(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_nsec;
}

static int open_skeleton(struct measurement *m)
{
	struct timers_bpf *bpf = m->bpf;

	bpf->rodata->jiffy_ns = jiffy_ns();
	return 0;
}

static const char *const part_names[] = { "function", "kind" };
static const char *const of_time[] = { "on_timer_entry", "on_timer_exit",
				       "on_hrtimer_entry", "on_hrtimer_exit", NULL };
static const char *const of_late[] = { "on_late_timer", "on_late_hrtimer", NULL };
static const struct option_row rows[] = {
	SPANS_LATENCY("Lateness instead: from the requested time to the start"),
	{},
};
static const struct spans_tool spans_tool = {
	.time = { .value = "time in timer functions",
		  .source = "tp_btf/timer_expire_entry, timer_expire_exit, "
			    "hrtimer_expire_entry, hrtimer_expire_exit" },
	.late = { .value = "lateness of timers",
		  .source = "tp_btf/timer_expire_entry, tp_btf/hrtimer_expire_entry",
		  .caveat = "kind timer counts in ticks and is late by design: by a tick, and by up to an eighth of "
			    "its delay" },
	.of_time = of_time, .of_late = of_late,
	.parts = { .name = part_names, .n = 2, .text = "function, kind", .add = add_parts },
	.by = BY_SPAN_ID,
	.always_by = BY_SPAN_DETAIL,
	.open = open_skeleton,
};

static void init(void *own)
{
	struct spans *s = own;

	s->tool = &spans_tool;
}

static const struct tool_spec spec = {
	.name = "timers",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.keys = "cpu, function, kind",
		.usual_keys = SPANS_USUAL_KEYS,
		.keys_of_no_task = true,
		.doc = "How long the functions of kernel timers run, or how late they start.",
		.rows = rows,
	},
	.own_size = sizeof(struct spans), .skeleton = &timers_skeleton,
	SPANS_HOOKS,
	.init = init,
};

TOOL_MEASURING(timers, spec, AREA_INTERRUPTS,
	       "kernel timers: run times of their functions, lateness");
