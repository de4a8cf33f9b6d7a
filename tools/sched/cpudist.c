// SPDX-License-Identifier: BSD-2-Clause
/*
 * cpudist: time slices on a CPU, or periods off it. The measurement is bpf/sched/cpudist.bpf.c.
 */
#include <string.h>

#include "types/kernel_btf.h"
#include "host/task_state.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "sched/waits.h"
#include "tools.h"

#include "bpf/sched/cpudist.h"
#include "cpudist.skel.h"

SKELETON(cpudist);

struct cpudist {
	bool off, idle;
	enum cpudist_absence absence;
	struct cpudist_bpf *bpf;
};

static const char *const absences[] = {
	[ABSENCE_ANY] = "all",
	[ABSENCE_BLOCKED] = "blocked",
	[ABSENCE_PREEMPTED] = "preempted",
};

static const char *value(const struct cpudist *c)
{
	static const char *const off[] = {
		[ABSENCE_ANY] = "time off CPU",
		[ABSENCE_BLOCKED] = "time off CPU, blocked",
		[ABSENCE_PREEMPTED] = "time off CPU, preempted",
	};

	return c->off ? off[c->absence] : "time on CPU";
}

static const char *source(const struct cpudist *c)
{
	return c->off ? "the run queues' clock, read at tp_btf/sched_switch" :
			"the kernel's run time of each task (se.sum_exec_runtime), read at tp_btf/sched_switch";
}

static int report(struct measurement *m, struct report *r)
{
	struct cpudist *c = m->own;

	r->value = value(c);
	r->metric = c->off ? "off_cpu" : "on_cpu";
	r->unit = UNIT_NS;
	r->source = source(c);
	return measure__report(&m->measure, m, r);
}

/* Loads only the programs and the state of one direction. */
static int choose_direction(struct cpudist *c, struct measurement *m)
{
	struct cpudist_bpf *bpf = c->bpf;
	int err;

	bpf_program__set_autoload(bpf->progs.on_switch_on, !c->off);
	bpf_program__set_autoload(bpf->progs.seed_slices, !c->off);
	bpf_program__set_autoload(bpf->progs.on_switch_off, c->off);
	bpf_program__set_autoload(bpf->progs.seed_absences, c->off);
	err = task_state__prepare(bpf->obj, "slice_states", &m->run->host);
	if (!err)
		err = task_state__prepare(bpf->obj, "absences", &m->run->host);
	if (c->off) {
		bpf_program__set_autoload(bpf->progs.slice_states_hash_on_free, false);
		bpf_map__set_autocreate(bpf->maps.slice_states, false);
		bpf_map__set_autocreate(bpf->maps.slice_states_hash, false);
	} else {
		bpf_program__set_autoload(bpf->progs.absences_hash_on_free, false);
		bpf_map__set_autocreate(bpf->maps.absences, false);
		bpf_map__set_autocreate(bpf->maps.absences_hash, false);
	}
	return err;
}

static int open_skeleton(struct measurement *m)
{
	struct cpudist_bpf *bpf = m->bpf;
	struct cpudist *c = m->own;

	c->bpf = bpf;
	m->source = source(c);
	bpf->rodata->count_idle = c->idle;
	bpf->rodata->absence = c->absence;
	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	return choose_direction(c, m);
}

static const struct option_row rows[] = {
	{ "off", 0, "WHAT", ROW_WORD,
	  "Time off the CPU: all (default), blocked or preempted, by how the task left", 1,
	  FIELD(struct cpudist, absence), ALSO(struct cpudist, off), WORDS(absences), .optional = true },
	{ "idle", 0, NULL, ROW_FLAG, "Count the idle tasks, too", 1, FIELD(struct cpudist, idle) },
	{},
};

static const struct tool_spec spec = {
	.name = "cpudist",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long tasks stay on a CPU once they are switched in, or off it.",
		.rows = rows,
	},
	.own_size = sizeof(struct cpudist), .skeleton = &cpudist_skeleton,
	.hist = { "slices", sizeof(struct cpudist_key) },
	.open = open_skeleton, .report = report,
};

TOOL_MEASURING(cpudist, spec, AREA_SCHEDULER, "how long tasks stay on a CPU, or off it");
