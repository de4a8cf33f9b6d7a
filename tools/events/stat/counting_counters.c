// SPDX-License-Identifier: BSD-2-Clause
/* Counting by perf_event_open(2): for threads and CPUs, or charged to tasks at context switches. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numbers.h"
#include "events/stat/counting_parts.h"
#include "report/diag.h"

#include "bpf/events/counting.h"
#include "counting.skel.h"

/* --- the kernel's counters ------------------------------------------------------------------- */

static int add_threads(struct counting *c, u32 pid)
{
	struct dirent *entry;
	int err = 0;
	char path[64];
	DIR *dir;
	u64 tid;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;       /* the process has ended, so there is nothing to count */
	while (!err && (entry = readdir(dir))) {
		if (parse_u64_between(entry->d_name, 1, UINT32_MAX, &tid))
			continue;
		err = ARRAY_APPEND(c->tids, c->ntids, tid);
	}
	closedir(dir);
	return err;
}

/* Lists the current threads: -p selects all threads of a process, and new ones inherit counters. */
static int list_threads(struct counting *c)
{
	const struct scope_options *o = &c->m->cli->scope;
	int err = 0;
	size_t i;

	free(c->tids);
	c->tids = NULL;
	c->ntids = 0;
	for (i = 0; i < o->npids && !err; i++)
		err = add_threads(c, o->pids[i]);
	return err;
}

static int open_targets(struct counting *c, const struct counter_targets *targets)
{
	struct complaint complaint = {};
	size_t which = 0;
	int err;

	err = counters__open(&c->counters, c->plan->sites, targets, &complaint, &which);
	if (err)
		counting_complain(c, which, &complaint);
	return err;
}

/*
 * A thread that is created while its process is being opened may or may not inherit counters from its creator, which
 * cannot be detected. Therefore this is repeated until no thread was created or ended in between.
 */
static int open_processes(struct counting *c, struct counter_targets *targets)
{
	size_t n;
	int err, tries;
	u32 *tids;

	for (tries = 0; tries < 10; tries++) {
		err = list_threads(c);
		if (err)
			return err;
		targets->tids = c->tids;
		targets->ntids = c->ntids;
		if (!c->ntids) {
			diag_error("-p: the processes have ended");
			return -ESRCH;
		}
		err = open_targets(c, targets);
		if (err)
			return err;
		tids = c->tids;
		n = c->ntids;
		c->tids = NULL;
		err = list_threads(c);
		if (!err && n == c->ntids && !memcmp(tids, c->tids, n * sizeof(*tids))) {
			free(tids);
			return 0;
		}
		free(tids);
		counters__close(&c->counters);
		if (err)
			return err;
	}
	diag_error("-p: threads come and go too quickly to open their counters");
	diag_hint("--by pid charges per-CPU counters at context switches instead");
	return -EAGAIN;
}

/* The CPUs on which to open counters: all that are online, or those of -C. */
static int *cpu_list(const struct counting *c, bool all, size_t *n)
{
	int *cpus = calloc(c->topology.n ?: 1, sizeof(*cpus));
	const struct scope_config *scope = &c->m->scope;
	size_t i;

	*n = 0;
	for (i = 0; cpus && i < c->topology.n; i++) {
		int cpu = c->topology.cpu[i].cpu;

		if (all || !scope->has_cpus || scope->cpus[cpu / 64] & (1ULL << (cpu % 64)))
			cpus[(*n)++] = cpu;
	}
	return cpus;
}

int counting_open_natively(struct counting *c)
{
	const struct scope_options *o = &c->m->cli->scope;
	struct counter_targets targets = { .inherit = true };
	bool tasks = o->command_pid || o->npids || o->ntids;
	int *cpus = NULL, err;

	if (c->plan->per_cpu || o->cpus || !tasks) {
		cpus = cpu_list(c, false, &targets.ncpus);
		if (!cpus)
			return -ENOMEM;
		targets.cpus = cpus;
	}
	if (o->command_pid) {
		targets.tids = &o->command_pid;
		targets.ntids = 1;
		targets.on_exec = !c->m->cli->delay_ns;
		targets.inherit_thread = o->command_alone;
		err = open_targets(c, &targets);
	} else if (o->npids) {
		targets.inherit_thread = !o->follow;
		err = open_processes(c, &targets);
	} else {
		/* -t selects only this thread, not the threads that it creates. */
		targets.inherit = false;
		targets.tids = o->tids;
		targets.ntids = o->ntids;
		err = open_targets(c, &targets);
	}
	free(cpus);
	return err;
}

int counting_add_cpu(struct counting *c, int cpu)
{
	const struct counter_targets targets = { .cpus = &cpu, .ncpus = 1 };
	struct topology now;
	size_t which = 0;
	int err;

	/* The programs keep the values read from a counter that has ended. */
	if (c->charges)
		return -EOPNOTSUPP;
	err = topology__read(&now);
	if (err)
		return err;
	topology__free(&c->topology);
	c->topology = now;
	err = counters__add_cpu(&c->counters, c->plan->sites, &targets);
	if (!err && c->plan->filter)
		err = counters__filter(&c->counters, c->plan->filter, &which);
	return err ?: counters__enable(&c->counters);
}

int counting_set_filter(struct counting *c)
{
	size_t which = 0;
	int err;

	if (!c->plan->filter)
		return 0;
	err = counters__filter(&c->counters, c->plan->filter, &which);
	if (err)
		diag_error("--filter: the kernel rejects '%s' for %s: %s",
			   c->plan->filter[which], c->plan->sites->site[which].name,
			   strerror(-err));
	return err;
}

/* --- counters charged at switches ------------------------------------------------------------ */

bool counting_counts_switches(const struct event_site *s)
{
	/* Excludes cs:u: switches happen in the kernel, so the counter itself reads 0. */
	return s->attr.type == PERF_TYPE_SOFTWARE &&
	       s->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES && !s->attr.exclude_kernel;
}

static bool is_charged(const struct counting *c, size_t site)
{
	return c->ncharged && c->charged[c->ncharged - 1] == site;
}

/*
 * Context switches need no counters: the switch itself is the event. Events that cannot be counted
 * are left out.
 */
int counting_open_for_charging(struct counting *c)
{
	struct counter_targets targets = {};
	size_t i;
	int *cpus, err;

	cpus = cpu_list(c, true, &targets.ncpus);
	c->charged = calloc(c->plan->sites->n ?: 1, sizeof(*c->charged));
	if (!cpus || !c->charged) {
		free(cpus);
		return -ENOMEM;
	}
	targets.cpus = cpus;
	err = open_targets(c, &targets);
	free(cpus);
	/* The counters of a site are adjacent. */
	for (i = 0; i < c->counters.n; i++)
		if (c->counters.counter[i].fd >= 0 && !is_charged(c, c->counters.counter[i].site))
			c->charged[c->ncharged++] = c->counters.counter[i].site;
	if (!err && c->ncharged > COUNTING_COUNTERS) {
		diag_error("%zu counters; at most %d can be charged to tasks at once", c->ncharged,
			   COUNTING_COUNTERS);
		err = -E2BIG;
	}
	return err;
}

int counting_fill_counters(struct counting *c)
{
	int map = bpf_map__fd(c->bpf->maps.counters), err = 0;
	size_t i;
	u32 k, index;

	for (i = 0; i < c->counters.n && !err; i++) {
		const struct counter *each = &c->counters.counter[i];

		if (each->fd < 0 || counting_counts_switches(&c->plan->sites->site[each->site]))
			continue;
		for (k = 0; c->charged[k] != each->site; k++)
			;
		index = k * c->m->run->host.cpus_possible + each->cpu;
		err = bpf_map_update_elem(map, &index, &each->fd, BPF_ANY);
	}
	return err;
}

int counting_charge_now(const struct counting *c)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);
	int prog = bpf_program__fd(c->bpf->progs.charge_now), err = 0;
	size_t i;

	for (i = 0; i < c->topology.n && !err; i++) {
		opts.cpu = c->topology.cpu[i].cpu;
		err = bpf_prog_test_run_opts(prog, &opts);
		if (err == -ENXIO)      /* the CPU went offline */
			err = 0;
	}
	return err;
}
