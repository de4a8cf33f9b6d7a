// SPDX-License-Identifier: BSD-2-Clause
/* profile: where CPU time goes, by stack. The measurement is bpf/profile.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "out/diag.h"
#include "run/explain.h"
#include "stack/options.h"
#include "stack/sampler.h"
#include "tools.h"

#include "bpf/profile.h"
#include "profile.skel.h"

#define DEFAULT_HZ 99           /* not in step with the scheduler's tick */

enum { KEY_IDLE = 0x1000 };

struct profile {
	struct sampler sampler;
	struct stack_options options;
	bool with_idle;
	char source[160];
	struct profile_bpf *bpf;
	struct stacks stacks;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct profile *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->options;
		return 0;
	case 'F':
		if (!parse_u64_between(arg, 1, UINT32_MAX, &p->sampler.hz))
			return 0;
		diag_error("-F: '%s' is not a number of samples a second", arg);
		return EINVAL;
	case KEY_IDLE:
		p->with_idle = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int check_options(struct profile *p, struct cli *cli)
{
	/* Whose time it is comes first, where nothing else is asked for. */
	int err = stack_options__check(&p->options, &p->stacks, cli, BY_COMM);

	return err ?: sampler__check_rate(p->sampler.hz);
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

/* A CPU that is held up (by its hypervisor, with interrupts off), or throttled, skips samples. */
static int count_missed(struct profile *p, const struct run *run, struct report *r)
{
	struct profile_samples *samples = calloc(run->host.cpus_possible, sizeof(*samples));
	struct sampler_seen *seen = calloc(run->host.cpus_possible, sizeof(*seen));
	/* The time first: what is due by then has been taken when the samples are read. */
	u64 due = sampler__due(&p->sampler), missed = 0;
	u32 zero = 0;
	int err = -ENOMEM, i;

	if (samples && seen)
		err = bpf_map_lookup_elem(bpf_map__fd(p->bpf->maps.samples), &zero, samples);
	for (i = 0; i < run->host.cpus_possible && !err; i++)
		seen[i] = (struct sampler_seen){ samples[i].taken, samples[i].idle };
	if (!err)
		err = sampler__missed(&p->sampler, due, seen, &missed);
	free(samples);
	free(seen);
	r->counters.lost[LOSS_MISSED] += missed;
	return err;
}

static int report(struct run *run, struct report *r)
{
	struct profile *p = run->context;
	int err;

	r->value = "CPU time";
	r->source = p->source;
	r->caveat =
		"the timer cannot interrupt code that has interrupts off: its time shows where it "
		"turns them on again";
	err = stacks__report(&p->stacks, run, r, p->options.table ? 0 : run->cli->top);
	if (!err)
		err = count_missed(p, run, r);
	if (err)
		return err;
	r->stacks->unit = "samples";
	return p->options.table ? stacks__tabulate(r, p->options.leaf, run->cli->top) : 0;
}

static int watch(struct run *run)
{
	struct profile *p = run->context;

	return stacks__watch(&p->stacks);
}

static int load(struct profile *p, struct run *run)
{
	const struct cli *cli = run->cli;
	struct stacks_constants constants;
	int err;

	p->bpf = profile_bpf__open();
	if (!p->bpf)
		return -errno;
	constants = (struct stacks_constants){
		&p->bpf->rodata->scope, &p->bpf->rodata->by, &p->bpf->rodata->stack_depth,
		&p->bpf->rodata->stack_walk, &p->bpf->rodata->stack_seed,
	};
	p->bpf->rodata->take = stack_options__take(&p->options, &p->stacks);
	p->bpf->rodata->with_idle = p->with_idle;
	err = stacks__prepare(&p->stacks, run, p->bpf->obj, "counts",
			      cli->max_keys == CLI_DEFAULT_MAX_KEYS ? 0 : cli->max_keys,
			      &constants);
	if (!err && !cli->explain)
		err = profile_bpf__load(p->bpf);
	if (!err)
		return 0;
	diag_error("this kernel cannot load the program: %s", strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return -EOPNOTSUPP;
}

static int attach(struct profile *p, struct run *run)
{
	int err = stacks__begin(&p->stacks, run);

	if (!err)
		err = profile_bpf__attach(p->bpf);
	if (err)
		diag_error("cannot attach: %s", strerror(-err));
	if (!err)
		err = sampler__start(&p->sampler, p->bpf->progs.on_sample, &run->scope);
	if (!err)
		err = sampler__arm(&p->sampler);
	if (!err)
		p->bpf->bss->armed = 1;
	return err;
}

static int measure(struct profile *p, struct run *run)
{
	int err;

	snprintf(
		p->source, sizeof(p->source),
		"cpu-clock, %llu times a second on each CPU (a timer; no hardware counter is used)",
		p->sampler.hz);
	err = load(p, run);
	if (!err && run->cli->explain) {
		err = run__explain(run, p->bpf->obj, p->source);
	} else if (!err) {
		err = attach(p, run);
		if (!err)
			err = run__loop(run);
	}
	sampler__free(&p->sampler);
	stacks__free(&p->stacks);
	profile_bpf__destroy(p->bpf);
	return err;
}

static int profile(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "Sampling:", 1 },
		{ "frequency", 'F', "HZ", 0, "Samples a second on each CPU; 99 without this", 1 },
		{ "idle", KEY_IDLE, NULL, 0, "Idle CPUs too", 1 },
		{},
	};
	static const struct argp_child children[] = { { &stack_options_argp, 0, NULL, 0 }, {} };
	static const struct argp own = {
		.options = options, .parser = parse_own, .children = children};
	struct profile p = { .options = STACK_OPTIONS, .sampler.hz = DEFAULT_HZ };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN |
			  CLI_COMMAND,
		.doc = "Where CPU time goes: samples of what runs on each CPU, by "
		       "stack.\n" STACK_FORMATS_DOC,
		.own = &own,
		.own_input = &p,
		.own_keys = true,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (check_options(&p, &cli)) {
		cli__free(&cli);
		return EXIT_USAGE;
	}
	cli.scope.command_joins_at_exec = true;
	err = run__init(&run, "profile", &cli);
	run.report = report;
	run.watch = watch;
	run.context = &p;
	if (!err)
		err = measure(&p, &run);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(profile, AREA_SCHEDULER, "where CPU time goes: stacks, flame graphs");
