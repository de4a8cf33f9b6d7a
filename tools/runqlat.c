// SPDX-License-Identifier: BSD-2-Clause
/* runqlat: how long tasks wait for a CPU. The measurement is bpf/runqlat.bpf.c. */
#include <errno.h>
#include <string.h>

#include "run/measure.h"
#include "run/explain.h"
#include "run/run.h"
#include "run/waits.h"
#include "out/diag.h"
#include "tools.h"

#include "bpf/runqlat.h"
#include "runqlat.skel.h"

/* Of our own options; those of user/cli are below. */
#define KEY_SOURCE 0x1000

struct runqlat {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
	struct runqlat_bpf *bpf;
	struct measure measure;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct runqlat *rq = state->input;

	if (key != KEY_SOURCE)
		return ARGP_ERR_UNKNOWN;
	return wait_source__parse(arg, &rq->source) ? EINVAL : 0;
}

static int configure(struct runqlat *rq, struct run *run, enum wait_source source)
{
	bool storage = false, prev_state = false;
	int err;

	err = measure__prepare(&rq->measure, run, rq->bpf->obj, "waits", sizeof(struct runqlat_key),
			       &rq->bpf->rodata->scope, &rq->bpf->rodata->by);
	if (!err)
		err = waits__prepare(rq->bpf->obj, &run->host, source, &prev_state, &storage);
	rq->bpf->rodata->have_prev_state = prev_state;
	rq->bpf->rodata->have_task_storage = storage;
	return err;
}

static int load(void *context, struct run *run, enum wait_source source)
{
	struct runqlat *rq = context;
	int err;

	rq->bpf = runqlat_bpf__open();
	if (!rq->bpf)
		return -errno;
	err = configure(rq, run, source);
	if (!err && !run->cli->explain)
		err = runqlat_bpf__load(rq->bpf);
	if (err) {
		runqlat_bpf__destroy(rq->bpf);
		rq->bpf = NULL;
	}
	return err;
}

static int attach(struct runqlat *rq, struct run *run)
{
	int err;

	bpf_program__set_autoattach(rq->bpf->progs.seed_states, false);
	err = measure__begin(&rq->measure, run, "waits");
	if (!err)
		err = runqlat_bpf__attach(rq->bpf);
	if (err) {
		diag_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	if (tasks__visit(rq->bpf->progs.seed_states))
		diag_detail(
			"no task iterator: a task's first wait is counted from its last migration");
	rq->bpf->bss->armed = 1;
	return 0;
}

static int report(struct run *run, struct report *r)
{
	struct runqlat *rq = run->context;

	r->value = "wait for a CPU";
	r->unit = UNIT_NS;
	r->source = wait_sources[rq->source].text;
	r->caveat = wait_sources[rq->source].caveat;
	return measure__report(&rq->measure, run, r);
}

static int measure(struct runqlat *rq, struct run *run)
{
	int err;

	err = waits__load(run, &rq->source, load, rq);
	if (!err && run->cli->explain) {
		err = run__explain(run, rq->bpf->obj, wait_sources[rq->source].text);
	} else if (!err) {
		err = attach(rq, run);
		if (!err)
			err = run__loop(run);
	}
	measure__free(&rq->measure);
	runqlat_bpf__destroy(rq->bpf);
	return err;
}

static int runqlat(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "source", KEY_SOURCE, "NAME", 0,
		  "auto (default), accounting (cheapest) or wakeup (sees waits under 2 us)", 0 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct runqlat rq = { .source = WAIT_SOURCE_AUTO };
	const struct cli_spec spec = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long tasks wait for a CPU: from becoming runnable to being switched "
		       "in.",
		.own = &own,
		.own_input = &rq,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	err = run__init(&run, "runqlat", &cli);
	run.report = report;
	run.context = &rq;
	if (!err)
		err = measure(&rq, &run);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(runqlat, AREA_SCHEDULER, "how long tasks wait for a CPU");
