// SPDX-License-Identifier: BSD-2-Clause
/* runqlat: how long tasks wait for a CPU. The measurement is bpf/runqlat.bpf.c. */
#include <errno.h>

#include "run/measure.h"
#include "run/course.h"
#include "run/run.h"
#include "run/waits.h"
#include "out/diag.h"
#include "tools.h"

#include "bpf/runqlat.h"
#include "runqlat.skel.h"

struct runqlat {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
	struct runqlat_bpf *bpf;
	struct measure measure;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct runqlat *rq = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &rq->source;
	return 0;
}

static int configure(struct runqlat *rq, struct run *run, enum wait_source source)
{
	struct runqlat_bpf__rodata *constants = rq->bpf->rodata;
	int err;

	err = measure__prepare(&rq->measure, run, rq->bpf->obj, "waits", sizeof(struct runqlat_key),
			       &constants->scope, &constants->by);
	if (!err)
		err = waits__prepare(rq->bpf->obj, &run->host, source, &constants->have_prev_state,
				     &constants->have_task_storage);
	return err;
}

static int open_skeleton(struct course *c, struct run *run, enum wait_source source)
{
	struct runqlat *rq = c->context;

	runqlat_bpf__destroy(rq->bpf);
	rq->bpf = runqlat_bpf__open();
	if (!rq->bpf)
		return -errno;
	COURSE_SKELETON(c, rq->bpf);
	return configure(rq, run, source);
}

static int load(struct course *c, struct run *run)
{
	struct runqlat *rq = c->context;

	return waits__load_course(c, run, &rq->source, open_skeleton);
}

static int attach(struct course *c, struct run *run)
{
	struct runqlat *rq = c->context;
	int err;

	bpf_program__set_autoattach(rq->bpf->progs.seed_states, false);
	err = measure__begin(&rq->measure, run, "waits");
	if (!err)
		err = runqlat_bpf__attach(rq->bpf);
	if (!err && tasks__visit(rq->bpf->progs.seed_states))
		diag_detail(
			"no task iterator: a task's first wait is counted from its last migration");
	return err;
}

static int report(struct run *run, struct report *r)
{
	struct runqlat *rq = run->context;

	r->value = "wait for a CPU";
	r->unit = UNIT_NS;
	waits__describe(rq->source, r);
	return measure__report(&rq->measure, run, r);
}

static int runqlat(int argc, char **argv)
{
	static const struct argp_child children[] = { { &wait_source_argp, 0, NULL, 0 }, {} };
	static const struct argp own = { .parser = parse_own, .children = children };
	struct runqlat rq = { .source = WAIT_SOURCE_AUTO };
	const struct cli_spec spec = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long tasks wait for a CPU: from becoming runnable to being switched "
		       "in.",
		.own = &own,
		.own_input = &rq,
	};
	struct course course = {
		.tool = "runqlat", .context = &rq, .load = load, .attach = attach, .report = report,
	};
	int code = course__main(&course, &spec, argc, argv);

	measure__free(&rq.measure);
	runqlat_bpf__destroy(rq.bpf);
	return code;
}

TOOL(runqlat, AREA_SCHEDULER, "how long tasks wait for a CPU");
