// SPDX-License-Identifier: BSD-2-Clause
/* runqlat: how long tasks wait for a CPU. The measurement is bpf/runqlat.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/measure.h"
#include "run/explain.h"
#include "run/run.h"
#include "host/task_state.h"
#include "out/diag.h"
#include "types/btf.h"
#include "tools.h"

#include "bpf/runqlat.h"
#include "runqlat.skel.h"

/* Where the timestamps come from; the first that loads is used. */
enum source {
	SOURCE_ACCOUNTING,
	SOURCE_WAKEUP,
	SOURCES,
};

static const struct {
	const char *name, *text, *caveat;
} sources[SOURCES] = {
	[SOURCE_ACCOUNTING] = {
		"accounting",
		"the kernel's run-queue accounting (sched_info), read at tp_btf/sched_switch",
		"short waits may read some us too short, down to 0 (docs/accuracy.md); "
		"--source wakeup measures them too",
	},
	[SOURCE_WAKEUP] = {
		"wakeup",
		"timestamps at tp_btf/sched_wakeup, sched_wakeup_new and sched_switch",
		NULL,
	},
};

/* Of our own options; those of user/cli are below. */
#define KEY_SOURCE 0x1000

struct runqlat {
	int source;             /* enum source; -1: the best there is */
	struct runqlat_bpf *bpf;
	struct measure measure;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct runqlat *rq = state->input;

	if (key != KEY_SOURCE)
		return ARGP_ERR_UNKNOWN;
	if (!strcmp(arg, "auto"))
		rq->source = -1;
	else if (!strcmp(arg, sources[SOURCE_ACCOUNTING].name))
		rq->source = SOURCE_ACCOUNTING;
	else if (!strcmp(arg, sources[SOURCE_WAKEUP].name))
		rq->source = SOURCE_WAKEUP;
	else {
		diag_error("--source: no source '%s'; there are auto, accounting, wakeup", arg);
		return EINVAL;
	}
	return 0;
}

static int configure(struct runqlat *rq, struct run *run, enum source source)
{
	struct bpf_program *wakeup[] = { rq->bpf->progs.on_switch_wakeup, rq->bpf->progs.on_wakeup,
					 rq->bpf->progs.on_wakeup_new };
	struct bpf_program *dozing[] = { rq->bpf->progs.on_migrate_dozing,
					 rq->bpf->progs.on_wakeup_dozing };
	bool storage = false;
	size_t i;
	int err;

	bpf_program__set_autoload(rq->bpf->progs.on_switch_accounting, source == SOURCE_ACCOUNTING);
	for (i = 0; i < ARRAY_SIZE(dozing); i++)
		bpf_program__set_autoload(dozing[i], source == SOURCE_ACCOUNTING &&
					  run->host.version >= KERNEL_VERSION(6, 12, 0));
	for (i = 0; i < ARRAY_SIZE(wakeup); i++)
		bpf_program__set_autoload(wakeup[i], source == SOURCE_WAKEUP);
	if (source == SOURCE_WAKEUP)
		rq->bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;

	err = measure__prepare(&rq->measure, run, rq->bpf->obj, "waits", sizeof(struct runqlat_key),
			       &rq->bpf->rodata->scope, &rq->bpf->rodata->by);
	if (!err)
		err = task_state__prepare(rq->bpf->obj, "wait_states", &run->host, &storage);
	rq->bpf->rodata->have_task_storage = storage;
	return err;
}

static int load(struct runqlat *rq, struct run *run, enum source source)
{
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

/* Does the scheduler keep its books? On 5.10 they can be off (boot option nodelayacct). */
static bool has_accounting(void)
{
	char line[128], *count;

	if (read_line("/proc/self/schedstat", line, sizeof(line)))
		return false;
	count = strrchr(line, ' ');
	return count && strtoull(count + 1, NULL, 10) > 0;
}

static int load_best(struct runqlat *rq, struct run *run)
{
	int first = rq->source >= 0 ? rq->source : SOURCE_ACCOUNTING;
	int last = rq->source >= 0 ? rq->source : SOURCES - 1, source, err = -EOPNOTSUPP;

	for (source = first; source <= last; source++) {
		if (source == SOURCE_ACCOUNTING && !has_accounting()) {
			diag_detail("this kernel keeps no run-queue accounting (CONFIG_SCHED_INFO)");
			continue;
		}
		err = load(rq, run, source);
		if (!err) {
			rq->source = source;
			return 0;
		}
		diag_detail("source %s cannot be loaded: %s", sources[source].name, strerror(-err));
	}
	/* A hash beyond the kernel's limits is refused with E2BIG, as is a program. */
	if (err == -ENOMEM || (err == -E2BIG && run->cli->max_keys > CLI_DEFAULT_MAX_KEYS)) {
		diag_error("not enough memory for the maps");
		diag_hint("ask for fewer keys with --max-keys");
		return err;
	}
	diag_error("this kernel cannot load the programs: %s", strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return -EOPNOTSUPP;
}

/* Lets the kernel tell what its books say of the tasks there are. Best effort: see seed_states. */
static void seed(struct runqlat *rq)
{
	struct bpf_link *link = bpf_program__attach_iter(rq->bpf->progs.seed_states, NULL);
	char byte;
	int fd;

	if (!link) {
		diag_detail("no task iterator: a task's first wait is counted from its last migration");
		return;
	}
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd >= 0) {
		while (read(fd, &byte, 1) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
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
	seed(rq);
	rq->bpf->bss->armed = 1;
	return 0;
}

static int report(struct run *run, struct report *r)
{
	struct runqlat *rq = run->context;

	r->value = "wait for a CPU";
	r->unit = UNIT_NS;
	r->source = sources[rq->source].text;
	r->caveat = sources[rq->source].caveat;
	return measure__report(&rq->measure, run, r);
}

static int measure(struct runqlat *rq, struct run *run)
{
	int err;

	err = load_best(rq, run);
	if (!err && run->cli->explain) {
		err = run__explain(run, rq->bpf->obj, sources[rq->source].text);
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
	struct runqlat rq = { .source = -1 };
	const struct cli_spec spec = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long tasks wait for a CPU: from becoming runnable to being switched in.",
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
