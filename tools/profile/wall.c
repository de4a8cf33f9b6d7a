// SPDX-License-Identifier: BSD-2-Clause
#include "types/kernel_btf.h"
#include "profile/wall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "agg/elements.h"
#include "base/clock.h"
#include "cli/task_key.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/load.h"

#include "wall.skel.h"

SKELETON(wall);

int wall__check(const struct wall *w, const struct cli *cli)
{
	if (w->sampling->typed)
		diag_error("--wall and -e cannot be combined");
	else if (cli->scope.cpus || cli->by & BY_CPU)
		diag_error("--wall cannot be combined with -C or --by cpu: tasks off CPU have no CPU");
	else
		return 0;
	return -EINVAL;
}

static void configure(struct wall *w)
{
	struct wall_bpf *bpf = w->bpf;

	bpf->rodata->view = BLOCKED_BY_TASK;
	bpf->rodata->take = stack_options__take(w->options, w->stacks);
	bpf->rodata->wanted = (1U << BLOCKED_WHYS) - 1;
	bpf->rodata->by_state = true;
	bpf->rodata->with_cpu = true;
	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	bpf_program__set_autoload(bpf->progs.on_kick, false);
	bpf_program__set_autoload(bpf->progs.on_waking, false);
	w->report.view = BLOCKED_BY_TASK;
	w->report.wall = true;
	w->report.without_sleepers = !w->sampling->with_idle;
	w->report.by_state = w->options->table;
	w->report.stacks = w->stacks;
	w->stacks->at_tracepoints = true;
	snprintf(w->sampling->source, sizeof(w->sampling->source),
		 "tp_btf/sched_switch, by CLOCK_MONOTONIC; where on a CPU: cpu-clock, %s%llu%s",
		 w->sampling->sampler.period_ns ? "every " : "",
		 w->sampling->sampler.period_ns ?: w->sampling->sampler.hz,
		 w->sampling->sampler.period_ns ? " ns" : " times a second");
}

int wall__load(struct wall *w, struct measurement *m)
{
	int err;

	m->skeleton_type = &wall_skeleton;
	err = measurement__open(m);
	if (!err) {
		w->bpf = m->bpf;
		configure(w);
		m->source = w->sampling->source;
		err = task_state__prepare(m->obj, "blocked_states", &m->run->host);
	}
	if (!err)
		err = stacks__prepare(w->stacks, m, m->obj, "counts", m->cli->asked_keys);
	if (!err && !m->cli->explain)
		err = skeleton__load(m->skeleton);
	return err ? measurement__complain(m, "load", err) : 0;
}

int wall__attach(struct wall *w, struct measurement *m)
{
	int err;

	stack_store__fill_stocks(&w->stacks->store);
	err = measurement__attach_programs(m);
	if (err)
		return err;
	err = sampling__start(w->sampling, m, bpf_program__fd(w->bpf->progs.on_cpu_sample), -1);
	m->has_said = err;
	return err;
}

/* No state changes after this time. */
void wall__disarm(struct wall *w)
{
	if (!w->bpf->bss->ended_ns)
		w->bpf->bss->ended_ns = monotonic_ns();
}

static int find_still(struct wall *w, struct blocked_stills *s)
{
	int err;

	w->has_ended = true;
	wall__disarm(w);
	/* A program that is still running may add a time, or end one. */
	err = elements__await_programs() ?: blocked_stills__read(s, w->bpf->progs.show_blocked);
	return err ?: blocked_stills__read(s, w->bpf->progs.show_ran);
}

int wall__report(struct wall *w, struct measurement *m, struct report *r)
{
	struct blocked_stills still = {};
	int err = 0;

	r->value = "time of tasks, on a CPU and off it";
	r->unit = UNIT_NS;
	r->source = w->sampling->source;
	r->throttled = throttled__since(&w->sampling->throttled);
	if (m->writer->is_last && !w->has_ended)
		err = find_still(w, &still);
	if (!err)
		err = blocked_report__make(&w->report, m, r, still.task, still.n,
					   w->options->table ? 0 : m->cli->top);
	free(still.task);
	if (err)
		return err;
	r->stacks->unit = "ns";
	r->stacks->type = "wall";
	return w->options->table ? stacks__tabulate(r, w->options->leaf, m->cli->top, false) : 0;
}

void wall__free(struct wall *w)
{
	blocked_report__free(&w->report);
}
