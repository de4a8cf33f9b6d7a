// SPDX-License-Identifier: BSD-2-Clause
/* runqlen: sampled run queue lengths. The measurement is bpf/sched/runqlen.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/explain.h"
#include "run/measure.h"
#include "stack/sampler.h"
#include "tools.h"

#include "bpf/sched/runqlen.h"
#include "runqlen.skel.h"

SKELETON(runqlen);

#define DEFAULT_HZ 99           /* does not coincide with the scheduler's tick */

/* Keys of our own options; those of user/cli are below. */
#define KEY_BY_CPU 0x1000
#define KEY_CLASS 0x1001

struct runqlen {
	bool fair_only, by_cpu;
	const char *cpus;       /* -C */
	char source[160];
	struct runqlen_bpf *bpf;
	struct sampler sampler;
};

/* --- options ----------------------------------------------------------------------------------- */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct runqlen *rl = state->input;

	switch (key) {
	case 'F':
		if (!parse_u64_between(arg, 1, UINT32_MAX, &rl->sampler.hz))
			return 0;
		diag_error("-F: '%s' is not a number of samples a second", arg);
		return EINVAL;
	case 'C':
		rl->cpus = arg;
		return 0;
	case 'A':
		rl->by_cpu = true;
		return 0;
	case KEY_BY_CPU:
		if (strcmp(arg, "cpu")) {
			diag_error("--by: no key '%s'; a run queue belongs to a CPU: cpu", arg);
			return EINVAL;
		}
		rl->by_cpu = true;
		return 0;
	case KEY_CLASS:
		if (strcmp(arg, "all") && strcmp(arg, "fair")) {
			diag_error("--class: no class '%s'; there are all, fair", arg);
			return EINVAL;
		}
		rl->fair_only = !strcmp(arg, "fair");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A CPU skips samples if it is stopped (by its hypervisor, with interrupts off) or throttled. */
static int count_missed(struct runqlen *rl, const struct measurement *m, u64 *missed)
{
	u64 *taken = calloc(m->run->host.cpus_possible, sizeof(*taken));
	struct sampler_seen *seen = calloc(m->run->host.cpus_possible, sizeof(*seen));
	/* Reads the time first: samples due by then have been taken when the map is read. */
	u64 due = sampler__due(&rl->sampler);
	int err = taken && seen ? 0 : -ENOMEM, cpu;
	u32 zero = 0;

	if (!err)
		err = bpf_map_lookup_elem(bpf_map__fd(rl->bpf->maps.samples), &zero, taken);
	for (cpu = 0; !err && cpu < m->run->host.cpus_possible; cpu++)
		seen[cpu].taken = taken[cpu];
	if (!err)
		err = sampler__missed(&rl->sampler, due, seen, missed);
	free(taken);
	free(seen);
	return err;
}

/* --- the hooks --------------------------------------------------------------------------------- */

static int report(struct measurement *m, struct report *r)
{
	struct runqlen *rl = m->own;
	u64 missed;
	int err;

	r->value = "tasks waiting";
	r->unit = UNIT_COUNT;
	r->source = rl->source;
	r->caveat = "queued and not running; what a cgroup's CPU quota holds back is not queued";
	err = count_missed(rl, m, &missed);
	if (!err)
		err = measure__report(&m->measure, m, r);
	if (!err)
		r->counters.lost[LOSS_MISSED] += missed;
	r->is_sampled = true;
	return err;
}

static int open_skeleton(struct measurement *m)
{
	struct runqlen *rl = m->own;
	struct runqlen_bpf *bpf = m->bpf;

	rl->bpf = bpf;
	snprintf(rl->source, sizeof(rl->source),
		 "%s, looked at %llu times a second on each CPU (perf event cpu-clock)",
		 rl->fair_only ? "tasks of the fair class on the run queue (rq->cfs.h_nr_*)" :
				 "tasks of all classes on the run queue (rq->nr_running)", rl->sampler.hz);
	m->source = rl->source;
	m->cli->max_keys = m->run->host.cpus_possible;  /* keys are CPUs */
	bpf->rodata->fair_only = rl->fair_only;
	return measure__prepare(&m->measure, m, bpf->obj, "lengths", sizeof(struct runqlen_key));
}

static int attach(struct measurement *m)
{
	struct runqlen *rl = m->own;
	int err = measure__begin(&m->measure, m, "lengths");

	if (!err)
		err = sampler__start(&rl->sampler, bpf_program__fd(rl->bpf->progs.on_sample), &m->scope);
	m->has_said = err;
	return err;
}

static int arm(struct measurement *m)
{
	struct runqlen *rl = m->own;

	*m->armed = 1;
	return sampler__arm(&rl->sampler);
}

static void disarm(struct measurement *m)
{
	struct runqlen *rl = m->own;

	sampler__disarm(&rl->sampler);
}

static void init(void *own)
{
	struct runqlen *rl = own;

	rl->sampler.idle_counts = true;
}

/* Run queues do not belong to tasks: a command only sets the duration. */
static int check(void *own, struct cli *cli)
{
	struct runqlen *rl = own;

	cli->scope.all = true;
	cli->scope.cpus = rl->cpus;
	cli->by = rl->by_cpu ? BY_CPU : 0;
	return sampler__choose_rate(&rl->sampler.hz, DEFAULT_HZ);
}

static void release(void *own)
{
	struct runqlen *rl = own;

	sampler__free(&rl->sampler);
}

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Sampling:", 1 },
	{ "frequency", 'F', "HZ", 0, "Samples a second on each CPU; 99 without this", 1 },
	{ "class", KEY_CLASS, "NAME", 0, "all (default) or fair (CFS, EEVDF): whose queue", 1 },
	{ "cpu", 'C', "CPUS", 0, "Only these CPUs, e.g. 0,2-5", 1 },
	{ NULL, 'A', NULL, 0, "One result per CPU", 1 },
	{ "by", KEY_BY_CPU, "cpu", 0, "The same", 1 },
	{},
};

static const char *const keys[] = { "cpu" };
static const char *const classes[] = { "all", "fair" };

OPTION_VALUES(by, .options = options, .key = KEY_BY_CPU, .word = keys, .n = ARRAY_SIZE(keys));
OPTION_VALUES(class, .options = options, .key = KEY_CLASS, .word = classes, .n = ARRAY_SIZE(classes));

static const struct argp own_argp = { .options = options, .parser = parse_own };

static const struct tool_spec spec = {
	.name = "runqlen",
	.cli = {
		.groups = CLI_TIME | CLI_TOP | CLI_GROUPS | CLI_FORM | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND,
		.doc = "How many tasks wait for each CPU: the length of the run queues, by sampling.",
		.own = &own_argp,
	},
	.own_size = sizeof(struct runqlen), .skeleton = &runqlen_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .arm = arm,
	.disarm = disarm,
	.report = report, .free = release,
};

TOOL_MEASURING(runqlen, spec, AREA_SCHEDULER, "how many tasks wait for each CPU");
