// SPDX-License-Identifier: BSD-2-Clause
#include "types/kernel_btf.h"
#include "sched/blocked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "base/clock.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "sched/waits.h"

#include "offcputime.skel.h"

SHARED_SKELETON(offcputime);

/*
 * From this value of --min on, user stacks are taken in an interrupt after the context switch
 * (bpf/lib/blocked.bpf.h). This happens at most 20,000 times a second on a CPU, usually far less
 * often.
 */
#define LATER_FROM_NS 50000

#define WHYS_BLOCKED ((1U << BLOCKED_WHYS) - 1 - (1U << BLOCKED_PREEMPTED))

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int find_why(const char *name, u32 *bits)
{
	u32 why;

	for (why = 0; why < BLOCKED_WHYS; why++) {
		if (!strcmp(name, blocked_why_name(why))) {
			*bits |= 1U << why;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_state(void *own, char *arg)
{
	struct blocked *b = own;
	char *text = strdup(arg), *part, *rest;
	int err = text ? 0 : -ENOMEM;

	b->wanted = 0;
	for (rest = text; !err && (part = strsep(&rest, ","));) {
		if (!find_why(part, &b->wanted))
			continue;
		diag_error("--state: '%s' is not one of sleep, disk, idle, stopped, traced, other, "
			   "preempted",
			   part);
		err = -EINVAL;
	}
	free(text);
	if (!err && b->view != BLOCKED_BY_TASK && b->wanted & 1U << BLOCKED_PREEMPTED) {
		diag_error("--state: preempted tasks have no waker; offcputime shows them");
		err = -EINVAL;
	}
	return err;
}

/* --by accepts one more key, which is not part of a task. */
static int take_state_key(struct blocked *b, struct cli *cli)
{
	size_t room = cli->by_text ? strlen(cli->by_text) + 2 : 0, n = 0;
	char *text, *part, *rest;

	if (!cli->by_text)
		return 0;
	text = strdup(cli->by_text);
	b->by = calloc(1, room);
	if (!text || !b->by) {
		free(text);
		return -ENOMEM;
	}
	for (rest = text; (part = strsep(&rest, ","));) {
		if (!strcmp(part, "state"))
			b->report.by_state = true;
		else
			n += snprintf(b->by + n, room - n, "%s%s", n ? "," : "", part);
	}
	free(text);
	if (b->report.by_state)
		cli->by_text = *b->by ? b->by : NULL;
	return 0;
}

int blocked__check(void *own, struct cli *cli)
{
	struct blocked *b = own;
	int err = take_state_key(b, cli);

	if (err)
		return err;
	if (b->only_user && b->only_kernel) {
		diag_error("--user-threads and --kernel-threads cannot be combined");
		return -EINVAL;
	}
	if (b->min_ns > b->max_ns) {
		diag_error("--min is greater than --max");
		return -EINVAL;
	}
	if (b->with_sleepers && b->view == BLOCKED_BY_WAKER) {
		diag_error("--idle: tasks that slept through the whole run have no waker; offcputime shows them");
		return -EINVAL;
	}
	b->report.without_sleepers = !b->with_sleepers && !cli__picks_tasks(cli);
	cli->scope.command_joins_at_exec = true;
	return stack_options__check(&b->options, &b->stacks, cli, b->report.by_state ? 0 : BY_COMM);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static const char *source(const struct blocked *b)
{
	return b->view == BLOCKED_BY_TASK ? "tp_btf/sched_switch, by CLOCK_MONOTONIC" :
	       "tp_btf/sched_switch and sched_waking, by CLOCK_MONOTONIC";
}

/* Whether user stacks are taken when the task runs again. */
static bool takes_later(const struct blocked *b)
{
	return b->stacks.user && b->view != BLOCKED_BY_WAKER && b->min_ns >= LATER_FROM_NS &&
	       kernel_btf_arguments("btf_trace_irq_work_exit") > 0;
}

static int configure(struct blocked *b, struct measurement *m)
{
	struct offcputime_bpf *bpf = b->bpf;
	int err;

	bpf->rodata->view = b->view;
	bpf->rodata->take = stack_options__take(&b->options, &b->stacks);
	bpf->rodata->user_later = takes_later(b);
	bpf_program__set_autoload(bpf->progs.on_kick, takes_later(b));
	bpf->rodata->wanted = b->wanted;
	bpf->rodata->user_threads = !b->only_kernel;
	bpf->rodata->kernel_threads = !b->only_user;
	bpf->rodata->by_state = b->report.by_state;
	bpf->rodata->min_ns = b->min_ns;
	bpf->rodata->max_ns = b->max_ns;
	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	err = task_state__prepare(bpf->obj, "blocked_states", &m->run->host);
	bpf_program__set_autoload(bpf->progs.on_waking, b->view != BLOCKED_BY_TASK);
	bpf_program__set_autoload(bpf->progs.show_blocked, b->view != BLOCKED_BY_WAKER);
	return err ?: stacks__prepare(&b->stacks, m, bpf->obj, "counts", m->cli->asked_keys);
}

static int watch(struct measurement *m)
{
	struct blocked *b = m->own;

	return stacks__watch(&b->stacks);
}

int blocked__open(struct measurement *m)
{
	struct blocked *b = m->own;

	b->bpf = m->bpf;
	m->source = source(b);
	return configure(b, m);
}

int blocked__attach(struct measurement *m)
{
	struct blocked *b = m->own;
	int err;

	err = stacks__begin(&b->stacks, m);
	if (err)
		return err;
	m->watch = watch;
	stack_store__fill_stocks(&b->stacks.store);
	if (b->bpf->rodata->user_later)
		err = kicks__open(&b->kicks, bpf_map__fd(b->bpf->maps.kicks));
	return err ?: measurement__attach_programs(m);
}

/*
 * --- unfinished waits --------------------------------------------------------------------------
 */

/* Nothing changes after this time, so each wait is either in the counts or unfinished. */
void blocked__disarm(struct measurement *m)
{
	struct blocked *b = m->own;

	if (!b->bpf->bss->ended_ns)
		b->bpf->bss->ended_ns = monotonic_ns();
}

static int find_still(struct measurement *m, struct blocked_stills *s)
{
	struct blocked *b = m->own;
	int err;

	b->ended = true;
	blocked__disarm(m);
	/* A program that is still running may add a wait, or end one. */
	err = elements__await_programs();
	if (err || b->view == BLOCKED_BY_WAKER)
		return err;
	return blocked_stills__read(s, b->bpf->progs.show_blocked);
}

static const char *value(const struct blocked *b)
{
	static const char *const values[] = {
		[BLOCKED_BY_TASK] = "time off CPU, blocked",
		[BLOCKED_BY_WAKER] = "time blocked, by waker",
		[BLOCKED_BY_BOTH] = "time blocked, with waker",
	};

	return b->wanted & 1U << BLOCKED_PREEMPTED ? "time off CPU" : values[b->view];
}

int blocked__report(struct measurement *m, struct report *r)
{
	struct blocked *b = m->own;
	struct blocked_stills still = {};
	int err = 0;

	r->value = value(b);
	r->unit = UNIT_NS;
	r->source = source(b);
	if (!b->ended && m->writer->is_last)
		err = find_still(m, &still);
	if (!err)
		err = blocked_report__make(&b->report, m, r, still.task, still.n,
					   b->options.table ? 0 : m->cli->top);
	free(still.task);
	if (err)
		return err;
	r->stacks->unit = "ns";
	r->stacks->type = b->view == BLOCKED_BY_TASK ? "off-cpu" : "blocked";
	return b->options.table ? stacks__tabulate(r, b->options.leaf, m->cli->top, false) : 0;
}

void blocked__init(struct blocked *b, enum blocked_view view)
{
	*b = (struct blocked){
		.view = view,
		.options = STACK_OPTIONS,
		.max_ns = UINT64_MAX,
		.wanted = WHYS_BLOCKED,
		.stacks.at_tracepoints = true,
		.report = { .view = view, .stacks = &b->stacks },
	};
}

void blocked__free(void *own)
{
	struct blocked *b = own;

	blocked_report__free(&b->report);
	kicks__close(&b->kicks);
	stacks__free(&b->stacks);
	free(b->by);
}

/* A preempted task has no waker. */
static void complete_states(struct completion *c)
{
	const struct blocked *b = c->spec->own_input;
	u32 why;

	for (why = 0; why < BLOCKED_WHYS; why++)
		if (why != BLOCKED_PREEMPTED || b->view == BLOCKED_BY_TASK)
			completion__add(c, blocked_why_name(why), "");
}

const struct option_row blocked_rows[] = {
	HEADING("Which times count:", 1),
	{ "min", 0, "TIME", ROW_TIME, "At least this long", 1,
	  FIELD(struct blocked, min_ns) },
	{ "max", 0, "TIME", ROW_TIME, "At most this long", 1, FIELD(struct blocked, max_ns) },
	{ "state", 0, "STATE,..", ROW_OWN,
	  "Only tasks in this state: sleep, disk, idle, stopped, traced, other, preempted (default: all but the last)",
	  1,
	  .parse = parse_state, .complete = complete_states, .separators = "," },
	{ "user-threads", 0, NULL, ROW_FLAG, "Only threads of programs, not of the kernel", 1,
	  FIELD(struct blocked, only_user) },
	{ "kernel-threads", 0, NULL, ROW_FLAG, "Only threads of the kernel", 1, FIELD(struct blocked, only_kernel) },
	{ "idle", 0, NULL, ROW_FLAG, "for the whole machine: tasks that slept through the whole run, too", 1,
	  FIELD(struct blocked, with_sleepers) },
	INCLUDE(struct blocked, options, stack_option_rows),
	{},
};
