// SPDX-License-Identifier: BSD-2-Clause
/* runqlen: sampled run queue lengths. The measurement is bpf/sched/runqlen.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/hotplug.h"
#include "run/measurement.h"
#include "run/explain.h"
#include "run/measure.h"
#include "stack/sampler.h"
#include "tools.h"

#include "bpf/sched/runqlen.h"
#include "runqlen.skel.h"

SKELETON(runqlen);

#define DEFAULT_HZ 99           /* does not coincide with the scheduler's tick */

struct runqlen {
	bool by_cpu;
	int key;                /* the key of --by, which accepts only one */
	enum { CLASS_ALL, CLASS_FAIR } class;
	const char *cpus;       /* -C */
	char source[160], told[512];
	struct runqlen_bpf *bpf;
	struct sampler sampler;
	struct hotplug hotplug;
};

/* --- options ----------------------------------------------------------------------------------- */

/*
 * Reads the samples that the program has taken on each CPU. The caller frees the result, which is NULL if they could
 * not be read.
 */
static struct sampler_seen *read_seen(const struct runqlen *rl, const struct measurement *m)
{
	struct runqlen_samples *samples = calloc(m->run->host.cpus_possible, sizeof(*samples));
	struct sampler_seen *seen = calloc(m->run->host.cpus_possible, sizeof(*seen));
	int err = samples && seen ? 0 : -ENOMEM, cpu;
	u32 zero = 0;

	if (!err)
		err = bpf_map_lookup_elem(bpf_map__fd(rl->bpf->maps.samples), &zero, samples);
	for (cpu = 0; !err && cpu < m->run->host.cpus_possible; cpu++)
		seen[cpu] = (struct sampler_seen){ samples[cpu].taken, samples[cpu].idle };
	free(samples);
	if (err) {
		free(seen);
		seen = NULL;
	}
	return seen;
}

/* A CPU skips samples if it is stopped (by its hypervisor, with interrupts off) or throttled. */
static int count_missed(struct runqlen *rl, const struct measurement *m, u64 *missed)
{
	/* Reads the time first: all samples due by then have been taken when the map is read. */
	u64 due = sampler__due(&rl->sampler);
	struct sampler_seen *seen = read_seen(rl, m);
	int err = seen ? sampler__missed(&rl->sampler, due, seen, missed) : -ENOMEM;

	free(seen);
	return err;
}

static int change_cpu(void *context, int cpu, bool online)
{
	const struct measurement *m = context;
	struct runqlen *rl = m->own;
	struct sampler_seen *seen;
	int err;

	if (!online) {
		sampler__remove(&rl->sampler, cpu);
		return 0;
	}
	seen = read_seen(rl, m);
	err = seen ? sampler__add(&rl->sampler, bpf_program__fd(rl->bpf->progs.on_sample), cpu, &seen[cpu]) : -ENOMEM;
	free(seen);
	return err;
}

static int watch(struct measurement *m)
{
	struct runqlen *rl = m->own;

	return hotplug__follow(&rl->hotplug, change_cpu, m);
}

/* The timer need not wake an idle CPU. No task waits there, so a sample that was due in that time is a 0. */
static int add_idle(struct runqlen *rl, const struct measurement *m, struct hist_set *lengths, u64 *missed)
{
	struct task_key key = {};
	int err = 0;
	size_t i;

	for (i = 0; i < rl->sampler.n && !err; i++) {
		const struct sampler_cpu *c = &rl->sampler.cpu[i];

		key.cpu = m->cli->by ? c->cpu : 0;
		err = hist_set__add(lengths, &key, 0, c->gained_idle);
		*missed -= c->gained_idle;
	}
	return err;
}

/* --- the hooks --------------------------------------------------------------------------------- */

static int report(struct measurement *m, struct report *r)
{
	struct runqlen *rl = m->own;
	struct hist_set lengths;
	u64 missed;
	int err, n;

	r->value = "tasks waiting";
	r->metric = "tasks_waiting";
	r->unit = UNIT_COUNT;
	n = snprintf(rl->told, sizeof(rl->told), "%s", rl->source);
	hotplug__describe(&rl->hotplug, rl->told + n, sizeof(rl->told) - n);
	r->source = rl->told;
	r->caveat = "queued and not running; tasks throttled by their cgroup's CPU quota are not queued";
	r->is_sampled = true;
	err = count_missed(rl, m, &missed) ?: measure__difference(&m->measure, &lengths, &r->counters);
	if (err)
		return err;
	err = add_idle(rl, m, &lengths, &missed) ?: measure__report_set(&m->measure, m, &lengths, r);
	r->counters.lost[LOSS_MISSED] += missed;
	hist_set__free(&lengths);
	return err;
}

static int open_skeleton(struct measurement *m)
{
	struct runqlen *rl = m->own;
	struct runqlen_bpf *bpf = m->bpf;

	rl->bpf = bpf;
	snprintf(rl->source, sizeof(rl->source),
		 "%s, sampled %llu times a second on each CPU (perf event cpu-clock)",
		 rl->class == CLASS_FAIR ? "tasks of the fair class on the run queue (rq->cfs.h_nr_*)" :
				 "tasks of all classes on the run queue (rq->nr_running)", rl->sampler.hz);
	m->source = rl->source;
	m->cli->max_keys = m->run->host.cpus_possible;  /* keys are CPUs */
	bpf->rodata->fair_only = rl->class == CLASS_FAIR;
	return measure__prepare(&m->measure, m, bpf->obj, "lengths", sizeof(struct runqlen_key));
}

static int attach(struct measurement *m)
{
	struct runqlen *rl = m->own;
	int err = measure__begin(&m->measure, m, "lengths");

	if (!err)
		err = hotplug__begin(&rl->hotplug, &m->scope, "sampled");
	m->watch = watch;
	m->watch_fd = hotplug__fd(&rl->hotplug);
	if (!err)
		err = sampler__start(&rl->sampler, bpf_program__fd(rl->bpf->progs.on_sample), &m->scope);
	m->has_said = err;
	return err;
}

static int arm(struct measurement *m)
{
	struct runqlen *rl = m->own;

	*m->armed = 1;
	hotplug__arm(&rl->hotplug);
	return sampler__arm(&rl->sampler);
}

static void disarm(struct measurement *m)
{
	struct runqlen *rl = m->own;

	sampler__disarm(&rl->sampler);
	hotplug__disarm(&rl->hotplug);
}

static void init(void *own)
{
	struct runqlen *rl = own;

	rl->sampler.idle_counts = true;
}

/* Run queues do not belong to tasks. A command only sets the duration. */
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
	hotplug__end(&rl->hotplug);
}

static const char *const keys[] = { "cpu" };
static const char *const classes[] = { [CLASS_ALL] = "all", [CLASS_FAIR] = "fair" };

static const struct option_row rows[] = {
	HEADING("Sampling:", 1),
	{ "frequency", 'F', "HZ", ROW_COUNT,
	  "Samples a second on each CPU; 99 by default", 1,
	  FIELD(struct runqlen, sampler.hz), .least = 1, .most = UINT32_MAX,
	  .wanted = "a number of samples a second" },
	{ "class", 0, "NAME", ROW_WORD, "queue to sample: all (default) or fair (CFS, EEVDF)", 1,
	  FIELD(struct runqlen, class), WORDS(classes), .noun = "class" },
	{ "cpu", 'C', "CPUS", ROW_TEXT, "Only these CPUs, e.g. 0,2-5", 1, FIELD(struct runqlen, cpus) },
	{ NULL, 'A', NULL, ROW_FLAG, "One result per CPU", 1, FIELD(struct runqlen, by_cpu) },
	{ "by", 0, "cpu", ROW_WORD, "The same", 1,
	  FIELD(struct runqlen, key), ALSO(struct runqlen, by_cpu), WORDS(keys), .noun = "key" },
	{},
};

static const struct tool_spec spec = {
	.name = "runqlen",
	.cli = {
		.groups = CLI_TIME | CLI_TOP | CLI_GROUPS | CLI_FORM | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND,
		.doc = "How many tasks wait for each CPU: the length of the run queues, by sampling.",
		.rows = rows,
	},
	.own_size = sizeof(struct runqlen), .skeleton = &runqlen_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .arm = arm,
	.disarm = disarm,
	.report = report, .free = release,
};

TOOL_MEASURING(runqlen, spec, AREA_SCHEDULER, "how many tasks wait for each CPU");
