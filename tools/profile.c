// SPDX-License-Identifier: BSD-2-Clause
/* profile: where CPU time goes, by stack. The measurement is bpf/profile.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "cli/task_key.h"
#include "out/diag.h"
#include "run/explain.h"
#include "stack/sampler.h"
#include "stack/stacks.h"
#include "tools.h"

#include "bpf/profile.h"
#include "profile.skel.h"

#define DEFAULT_HZ 99           /* not in step with the scheduler's tick */

/* As bpf/stack.bpf.h has them. */
#define TAKE_KERNEL 0x100
#define TAKE_USER 0x200

/* Of our own options; those of user/cli are below. */
enum {
	KEY_MAX_DEPTH = 0x1000,
	KEY_IDLE,
	KEY_FORMAT,
};

struct profile {
	struct sampler sampler;
	u64 max_depth;          /* 0: as usual */
	bool no_kernel, no_user, with_idle;
	bool table;             /* instead of stacks */
	u32 leaf;               /* enum leaf_part */
	int format;             /* -1: not said */
	char source[160];
	struct profile_bpf *bpf;
	struct stacks stacks;
};

/* --- options ----------------------------------------------------------------------------------- */

/* --by of all tools, with two keys more that are about the innermost frame: dso and sym. */
static int parse_by(struct profile *p, const char *arg, u32 *by)
{
	char *text = strdup(arg), *keys = calloc(1, strlen(arg) + 2), *end = keys, *part, *rest, bad[64];
	int err = text && keys ? 0 : -ENOMEM;

	for (rest = text; !err && (part = strsep(&rest, ","));) {
		if (!strcmp(part, "dso"))
			p->leaf |= LEAF_DSO;
		else if (!strcmp(part, "sym"))
			p->leaf |= LEAF_SYM;
		else
			end += sprintf(end, "%s%s", end == keys ? "" : ",", part);
	}
	if (!err && (end > keys || !p->leaf) && task_key__parse(keys, by, bad, sizeof(bad))) {
		diag_error("--by: no key '%s'; there are %s, dso, sym", bad, task_key_parts());
		err = -EINVAL;
	}
	free(text);
	free(keys);
	return err;
}

static error_t parse_format(struct profile *p, const char *arg)
{
	if (!strcmp(arg, "table")) {
		p->table = true;
		p->format = FORMAT_TEXT;
		return 0;
	}
	p->format = report_stack_format(arg);
	if (p->format >= 0)
		return 0;
	diag_error("--format: '%s' is not one of tree, table, folded, flame, json, csv", arg);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct profile *p = state->input;

	switch (key) {
	case 'F':
		if (!parse_u64_between(arg, 1, UINT32_MAX, &p->sampler.hz))
			return 0;
		diag_error("-F: '%s' is not a number of samples a second", arg);
		return EINVAL;
	case 'K':
		p->no_user = true;
		return 0;
	case 'U':
		p->no_kernel = true;
		return 0;
	case KEY_MAX_DEPTH:
		if (!parse_u64_between(arg, 1, UINT32_MAX, &p->max_depth))
			return 0;
		diag_error("--max-depth: '%s' is not a number of frames", arg);
		return EINVAL;
	case KEY_IDLE:
		p->with_idle = true;
		return 0;
	case KEY_FORMAT:
		return parse_format(p, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A picture is of the whole run: an interval alone says how long that is. */
static int check_picture(struct cli *cli)
{
	if (cli->format != FORMAT_FLAME)
		return 0;
	if (cli->interval_ns && (cli->count > 1 || cli->duration_ns)) {
		diag_error("--format flame: one picture of the whole run; give its time with -d");
		return -EINVAL;
	}
	if (cli->interval_ns) {
		cli->duration_ns = cli->interval_ns;
		cli->interval_ns = cli->count = 0;
	}
	if (!cli->explain && !cli->output && isatty(STDOUT_FILENO)) {
		diag_error("--format flame: a picture is not for a terminal; name a file: -o cpu.svg");
		return -EINVAL;
	}
	return 0;
}

static int check_options(struct profile *p, struct cli *cli)
{
	u32 by = 0;

	if (p->no_kernel && p->no_user) {
		diag_error("-K and -U leave nothing; give one of them");
		return -EINVAL;
	}
	if (cli->by_text && parse_by(p, cli->by_text, &by))
		return -EINVAL;
	p->table |= p->leaf;
	if (p->format >= 0)
		cli->format = p->format;
	if (p->table && cli->format > FORMAT_CSV) {
		diag_error("a table (--by dso and sym make one) has no stacks to draw");
		return -EINVAL;
	}
	/* Whose time it is comes first, where nothing else is asked for. */
	if (!cli->by && !cli->by_text)
		by = BY_COMM;
	cli->by |= by;
	if (sampler__check_rate(p->sampler.hz) || stacks__set_depth(&p->stacks, p->max_depth))
		return -EINVAL;
	return check_picture(cli);
}

/* --- the course -------------------------------------------------------------------------------- */

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
	r->caveat = "the timer cannot interrupt code that has interrupts off: its time shows where it "
		    "turns them on again";
	err = stacks__report(&p->stacks, run, r, p->table ? 0 : run->cli->top);
	if (!err)
		err = count_missed(p, run, r);
	if (err)
		return err;
	r->stacks->unit = "samples";
	return p->table ? stacks__tabulate(r, p->leaf, run->cli->top) : 0;
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
	p->stacks.kernel = !p->no_kernel;
	p->stacks.user = !p->no_user;
	p->bpf->rodata->take = (p->no_kernel ? 0 : TAKE_KERNEL) | (p->no_user ? 0 : TAKE_USER);
	p->bpf->rodata->with_idle = p->with_idle;
	err = stacks__prepare(&p->stacks, run, p->bpf->obj, "counts",
			      cli->max_keys == CLI_DEFAULT_MAX_KEYS ? 0 : cli->max_keys, &constants);
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

	snprintf(p->source, sizeof(p->source),
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
		{ NULL, 0, NULL, 0, "Stacks:", 2 },
		{ "kernel-stacks", 'K', NULL, 0, "Only the kernel's part", 2 },
		{ "user-stacks", 'U', NULL, 0, "Only the user's part", 2 },
		{ "max-depth", KEY_MAX_DEPTH, "N", 0, "At most N frames of either; 127 without this", 2 },
		/* Takes the place of the one that all tools have. */
		{ "format", KEY_FORMAT, "NAME", OPTION_HIDDEN, NULL, 0 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct profile p = { .sampler.hz = DEFAULT_HZ, .format = -1 };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND,
		.doc = "Where CPU time goes: samples of what runs on each CPU, by stack.\n"
		       "--format is tree (default), folded, flame (SVG), table, json or csv; --by also "
		       "takes dso and sym, of the innermost frame, for a table.",
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
